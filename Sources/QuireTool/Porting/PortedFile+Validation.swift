extension PortedFile {
  private static let pointerType = "AutoreleasingUnsafeMutablePointer<AnyObject?>"

  /// Gives validation methods the form that they have without Objective-C: the pointer becomes an
  /// `inout` argument. Methods for single keys are listed, as nothing calls them.
  mutating func portValidation(_ classes: ManagedClasses) {
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
