extension PortedFile {
  private static let pointerType = "AutoreleasingUnsafeMutablePointer<AnyObject?>"

  /// Gives validation methods the form that they have without Objective-C: the pointer becomes an
  /// `inout` argument. Methods for single keys are listed, as nothing calls them.
  mutating func portValidation(_ classes: ManagedClasses) {
    if usesCoreData { portCheckedVariables() }
    for declaration in declarations
    where declaration.kind == .function && declaration.name.hasPrefix("validate") {
      guard let parent = declaration.parent, classes.isManaged(declarations[parent], in: self),
        let parameter = pointerParameter(declaration)
      else { continue }
      guard declaration.name == "validateValue" else {
        record(
          "\(declaration.name)(_:)", atToken: declaration.keyword,
          "it is not found by its name: override validateValue(_:forKey:), and look at the key")
        continue
      }
      edits.replace(bytes(of: parameter.type), with: "inout Any?")
      if let braces = declaration.braces { portPointees(parameter.name, in: braces) }
    }
  }

  /// Makes a variable that is checked by `validateValue(&value, forKey:)` one of any value.
  private mutating func portCheckedVariables() {
    for index in source.tokens.indices
    where source.isWord(index, "validateValue") && source.isPunctuation(index + 1, "(")
      && source.isPunctuation(index + 2, "&")
    {
      let name = source.name(index + 3)
      let start = (0..<index).last { token in
        source.isWord(token, "var")
          && source.significant(from: token + 1).map { source.name($0) == name } ?? false
      }
      guard let start else { continue }
      for token in start..<index {
        if source.tokens[token].kind == .newline { break }
        if source.isWord(token, "AnyObject"), source.isPunctuation(token + 1, "?") {
          edits.replace(source.tokens[token].range, with: "Any")
        }
      }
    }
  }

  /// The name and the type of the parameter that is a pointer to a value.
  private func pointerParameter(
    _ declaration: SwiftDeclaration
  ) -> (name: String, type: Range<Int>)? {
    guard let (open, close) = declaration.parameters,
      let start = (open..<close).first(where: {
        source.isWord($0, "AutoreleasingUnsafeMutablePointer")
      }),
      let colon = source.significant(before: start), source.isPunctuation(colon, ":"),
      let name = source.significant(before: colon),
      let end = (start...close).first(where: { $0 == close || source.isPunctuation($0, ",") }),
      let last = source.significant(before: end),
      source.compactText(start..<last + 1) == Self.pointerType
    else { return nil }
    return (source.name(name), start..<last + 1)
  }

  /// Writes `value` for `value.pointee`, and `&value` where the method of the superclass gets it.
  private mutating func portPointees(_ name: String, in braces: (open: Int, close: Int)) {
    for index in braces.open..<braces.close where source.isWord(index, name) {
      let next = source.significant(from: index + 1)
      if source.isPunctuation(next, "."),
        let member = next.flatMap({ source.significant(from: $0 + 1) }),
        source.isWord(member, "pointee")
      {
        edits.replace(
          source.tokens[index].range.upperBound..<source.tokens[member].range.upperBound, with: "")
      } else if let open = source.significant(before: index), source.isPunctuation(open, "("),
        source.isWord(source.significant(before: open), "validateValue")
      {
        edits.insert("&", at: source.tokens[index].range.lowerBound)
      }
    }
  }
}
