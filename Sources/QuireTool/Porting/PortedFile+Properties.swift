extension PortedFile {
  /// What becomes of a property by its type.
  private enum Form {
    /// `@Managed`, in the body of the class.
    case managed
    /// Reads and writes by key.
    case computed(reading: String, writing: String)
    /// `@Managed`, and what is left to do.
    case listed(String)
  }

  /// Ports `@NSManaged` properties, all but for moving them.
  mutating func portProperties(_ classes: ManagedClasses) {
    for declaration in declarations where declaration.kind == .property {
      guard let attribute = declaration.attribute("NSManaged") else {
        listType(of: declaration, classes)
        continue
      }
      let what = "@NSManaged var \(declaration.name)"
      guard let type = declaration.type, declaration.braces == nil,
        !source.isPunctuation(source.significant(from: declaration.tokens.upperBound), ",")
      else {
        record(what, atToken: declaration.keyword, "declare one property in a line, with its type")
        continue
      }
      switch form(of: source.compactText(type), key: declaration.name, classes) {
      case .computed(let reading, let writing):
        writeAccessors(of: declaration, attribute, reading, writing)
      case .listed(let remedy):
        record(
          "@Managed var \(declaration.name): \(source.compactText(type))",
          atToken: declaration.keyword, remedy)
        fallthrough
      case .managed:
        if reasonNotToMove(declaration, classes) == nil {
          edits.replace(
            bytes(of: attribute.tokens.lowerBound + 1..<attribute.tokens.upperBound),
            with: classes.hasTypeManaged ? "QuireCoreData.Managed" : "Managed")
        }
      }
    }
  }

  /// Lists a property that was ported before, if it is still one to look at.
  private mutating func listType(of declaration: SwiftDeclaration, _ classes: ManagedClasses) {
    guard declaration.attribute("Managed") != nil, usesCoreData, let range = declaration.type else {
      return
    }
    let type = source.compactText(range)
    if case .listed(let remedy) = form(of: type, key: declaration.name, classes) {
      record("@Managed var \(declaration.name): \(type)", atToken: declaration.keyword, remedy)
    }
  }

  /// Whether a property reads and writes by key after the port, so that an extension may have it.
  func isComputed(_ declaration: SwiftDeclaration, _ classes: ManagedClasses) -> Bool {
    guard let type = declaration.type else { return false }
    if case .computed = form(of: source.compactText(type), key: declaration.name, classes) {
      return true
    }
    return false
  }

  private static let values: Set<String> = [
    "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64",
    "String", "TimeInterval", "URL", "UUID",
  ]

  private func form(of type: String, key: String, _ classes: ManagedClasses) -> Form {
    let isOptional = type.hasSuffix("?") || type.hasSuffix("!")
    let plain = String(isOptional ? type.dropLast() : type[...])
    if let form = primitiveForm(of: type, key) { return form }
    let value = "value(forKey: \"\(key)\")"
    func computed(_ reading: String) -> Form {
      .computed(reading: reading, writing: "setValue(newValue, forKey: \"\(key)\")")
    }
    if plain.hasPrefix("Set<"), plain.hasSuffix(">") {
      let element = String(plain.dropFirst(4).dropLast())
      let isTyped = classes.isManaged(word: element)
      if isTyped, !isOptional { return .managed }
      if isTyped || element == "AnyHashable" || element == "NSManagedObject" {
        return computed("\(value) as? \(spaced(plain))" + (isOptional ? "" : " ?? []"))
      }
    }
    if isOptional, plain == "NSNumber" || plain == "NSDecimalNumber" { return .managed }
    if plain.hasPrefix("NS"), plain.allSatisfy({ $0.isLetter || $0.isNumber }),
      !classes.isManaged(word: plain), plain != "NSManagedObject"
    {
      if isOptional { return computed("\(value) as? \(plain)") }
      let isSet = plain == "NSSet" || plain == "NSOrderedSet"
      return computed(isSet ? "\(value) as? \(plain) ?? \(plain)()" : "\(value) as! \(plain)")
    }
    if Self.values.contains(plain) || classes.isManaged(word: plain) || plain == "NSManagedObject"
      || classes.valueTypes.contains(plain)
    {
      return .managed
    }
    if isOptional, plain.hasPrefix("[") || plain.hasPrefix("Set<"), !plain.contains("Any") {
      return .managed
    }
    if isOptional, plain.contains("Any") {
      return computed("\(value) as? \(spaced(plain))")
    }
    return .listed(
      "@Managed takes types of attributes, managed objects, and optional TransformableValues, "
        + "arrays, sets and dictionaries of Codable values: conform the type, or read by key")
  }

  /// The form of a property such as `primitiveName`, which is the primitive value of another.
  private func primitiveForm(of type: String, _ name: String) -> Form? {
    let rest = name.dropFirst("primitive".count)
    guard name.hasPrefix("primitive"), rest.first?.isUppercase ?? false else { return nil }
    // The name of a property, if there is one; else `Name` becomes `name`, and `URL` stays.
    let known = declarations.first {
      $0.kind == .property && $0.name.prefix(1).uppercased() + $0.name.dropFirst() == rest
    }?.name
    let isAbbreviation = rest.prefix { $0.isUppercase }.count > 1
    let key =
      known ?? (isAbbreviation ? String(rest) : rest.prefix(1).lowercased() + rest.dropFirst())
    let isOptional = type.hasSuffix("?") || type.hasSuffix("!")
    let cast = isOptional ? "as? \(spaced(String(type.dropLast())))" : "as! \(spaced(type))"
    return .computed(
      reading: "primitiveValue(forKey: \"\(key)\") \(cast)",
      writing: "setPrimitiveValue(newValue, forKey: \"\(key)\")")
  }

  /// A type without spaces, with those that are usual.
  private func spaced(_ type: String) -> String {
    type.replacing(",", with: ", ").replacing(":", with: ": ")
  }

  private mutating func writeAccessors(
    of declaration: SwiftDeclaration, _ attribute: SwiftDeclaration.Attribute, _ reading: String,
    _ writing: String
  ) {
    remove(words: [attribute.tokens])
    let outer = source.indentation(ofLine: source.line(ofToken: declaration.keyword))
    let inner = outer + indentationUnit(in: declaration.parent)
    let lines = [
      " {", "\(inner)get { \(reading) }",
      "\(inner)set { \(writing) }", "\(outer)}",
    ]
    edits.insert(
      lines.joined(separator: source.newline), at: bytes(of: declaration.tokens).upperBound)
  }

  // MARK: Moving

  /// Why a member of an extension cannot be moved into the class; `nil` when it can, or need not.
  func reasonNotToMove(_ declaration: SwiftDeclaration, _ classes: ManagedClasses) -> String? {
    guard let parent = declaration.parent, declarations[parent].kind == .extension else {
      return nil
    }
    let name = declarations[parent].name
    let found = classes.declarations(of: name, near: path)
    if found.isEmpty {
      return "move it into the class \(name), which none of these files declares"
    }
    if found.count > 1 {
      return "move it into the class \(name), which is declared more than once"
    }
    if declaration.conditions != found[0].conditions {
      return "move it into the class \(name), with the #if around it"
    }
    return nil
  }
}
