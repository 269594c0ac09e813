extension FolderPort {
  /// Lets classes answer for their `@objc` properties by key, where the sources name them in a
  /// text or a `#keyPath`: sections of a controller, say. Core Data finds such a property by the
  /// Objective-C runtime; here `value(forUndefinedKey:)` is asked.
  mutating func answerKeys(_ classes: ManagedClasses) {
    let names = files.reduce(into: Set<String>()) { $0.formUnion($1.namesInTexts) }
    var answered: [ManagedClasses.Location: Set<String>] = [:]
    for (index, file) in files.enumerated() {
      for declaration in file.declarations where file.isFoundByKey(declaration, classes) {
        guard names.contains(declaration.name), let parent = declaration.parent else { continue }
        guard
          let found = classes.declarations(of: file.declarations[parent].name, near: file.path)
            .first, !hasAnswer(file.declarations[parent].name)
        else {
          files[index].record(
            "@objc var \(declaration.name)", atToken: declaration.keyword,
            "it is not found by its name: let value(forUndefinedKey:) of the class answer it")
          continue
        }
        answered[found.location, default: []].insert(declaration.name)
      }
    }
    for (location, names) in answered { write(names.sorted(), at: location) }
  }

  private func hasAnswer(_ name: String) -> Bool {
    files.contains { file in
      file.declarations.contains { declaration in
        guard let parent = declaration.parent, declaration.kind == .function,
          declaration.name == "value", file.declarations[parent].name == name,
          let open = declaration.parameters?.open
        else { return false }
        return file.source.isWord(open + 1, "forUndefinedKey")
      }
    }
  }

  private mutating func write(_ names: [String], at location: ManagedClasses.Location) {
    let file = files[location.file]
    let declaration = file.declarations[location.declaration]
    guard let (open, close) = declaration.braces else { return }
    let access = file.access(of: declaration).map { "\($0) " } ?? ""
    let outer = file.source.indentation(ofLine: file.source.line(ofToken: declaration.keyword))
    let unit = file.indentationUnit(in: location.declaration)
    var lines = [
      "\(access)override func value(forUndefinedKey key: String) -> Any? {", "\(unit)switch key {",
    ]
    for name in names { lines.append("\(unit)case \"\(name)\": return \(name)") }
    lines += ["\(unit)default: return super.value(forUndefinedKey: key)", "\(unit)}", "}"]
    let newline = file.source.newline
    let text = lines.map { outer + unit + $0 + newline }.joined()
    let line = file.source.line(ofToken: close)
    if line == file.source.line(ofToken: open) {
      files[location.file].edits.insert(
        newline + text + outer, at: file.source.tokens[close].range.lowerBound)
    } else {
      files[location.file].edits.insert(
        newline + text, at: file.source.range(ofLine: line).lowerBound)
    }
  }
}

extension PortedFile {
  /// All names in texts of names and dots, and in `#keyPath(…)`.
  fileprivate var namesInTexts: Set<String> {
    var names: Set<String> = []
    for index in source.tokens.indices {
      if let text = plainText(index) {
        for part in text.split(separator: ".") { names.insert(String(part)) }
      } else if source.tokens[index].kind == .directive, source.text(index) == "#keyPath",
        source.isPunctuation(index + 1, "(")
      {
        for token in index + 2..<source.partners[index + 1]
        where source.tokens[token].kind == .identifier { names.insert(source.name(token)) }
      }
    }
    return names
  }

  /// Whether a declaration is a property of a managed object that the Objective-C runtime finds by
  /// its name, other than those of the model.
  fileprivate func isFoundByKey(
    _ declaration: SwiftDeclaration, _ classes: ManagedClasses
  ) -> Bool {
    guard declaration.kind == .property, declaration.attribute("NSManaged") == nil,
      declaration.attribute("objc") != nil, let parent = declaration.parent,
      classes.isManaged(declarations[parent], in: self)
    else { return false }
    // One that is written over its own primitive value is a property of the model.
    let primitive =
      "primitive" + declaration.name.prefix(1).uppercased() + declaration.name.dropFirst()
    let isOfModel =
      declarations.contains { $0.name == primitive }
      || declaration.braces.map { braces in
        (braces.open..<braces.close).contains { plainText($0) == declaration.name }
      } ?? false
    return !isOfModel
      && !declaration.modifiers.contains {
        source.isWord($0, "static") || source.isWord($0, "class") || source.isWord($0, "override")
      }
  }
}
