extension PortedFile {
  /// Ports what may stand in any expression: key paths, conditions, names with their module.
  mutating func portExpressions(_ classes: ManagedClasses) {
    let namesModule = !classes.names.contains("CoreData")
    for index in source.tokens.indices {
      switch source.tokens[index].kind {
      case .directive where source.isPunctuation(index + 1, "("):
        switch source.text(index) {
        case "#keyPath": portKeyPath(index, classes)
        case "#selector" where usesCoreData: portSelector(index)
        default: break
        }
      case .identifier where source.isPunctuation(index + 1, "(") && usesCoreData:
        if ["NSExpression", "NSPredicate"].contains(source.text(index)) { portArguments(index) }
        if source.text(index) == "NSPredicate" { portArgumentList(index) }
      case .identifier where source.isWord(index, "Foundation") && usesCoreData:
        portTransformerName(index)
      case .identifier where source.isWord(index, "CoreData"):
        let before = source.significant(before: index)
        let isCondition =
          source.isPunctuation(before, "(") && source.isWord(before! - 1, "canImport")
        let isQualifier =
          namesModule && usesCoreData && source.isPunctuation(index + 1, ".")
          && !source.isPunctuation(before, ".") && !isInImport(index)
        if isCondition || isQualifier {
          edits.replace(source.tokens[index].range, with: "QuireCoreData")
        }
      default: break
      }
    }
  }

  private func isInImport(_ index: Int) -> Bool {
    declarations.contains { $0.kind == .import && $0.tokens.contains(index) }
  }

  // MARK: Key paths

  /// Writes the text that `#keyPath` represents, where it begins at a managed object.
  private mutating func portKeyPath(_ index: Int, _ classes: ManagedClasses) {
    let (open, close) = (index + 1, source.partners[index + 1])
    var names: [String] = []
    var isPath = true
    for token in open + 1..<close {
      let kind = source.tokens[token].kind
      if kind == .identifier, isPath {
        names.append(source.name(token))
        isPath = false
      } else if source.isPunctuation(token, "."), !isPath {
        isPath = true
      } else if kind != .whitespace, kind != .newline {
        return listKeyPath(index, close)
      }
    }
    // Names of types come first: `Outer.Trip.year`.
    var types = names.prefix { $0.first?.isUppercase ?? false }
    if types.count == names.count { types = types.dropLast() }
    let path = names.dropFirst(types.count)
    guard !path.isEmpty, begins(at: types.last, index, classes) else {
      return listKeyPath(index, close)
    }
    edits.replace(
      bytes(of: index..<close + 1), with: "\"\(path.joined(separator: "."))\"")
  }

  private func begins(at type: String?, _ index: Int, _ classes: ManagedClasses) -> Bool {
    guard let type else {
      return declaration(around: index).map { classes.isManaged($0, in: self) } ?? false
    }
    if type == "Self" || type == "self" {
      return declaration(around: index).map { classes.isManaged($0, in: self) } ?? false
    }
    if classes.isManaged(word: type) { return true }
    // Core Data's own classes are asked by text, here as there.
    if Self.askedByText.contains(type) { return usesCoreData }
    // A class that another module declares, or that Xcode writes; not one of Apple's.
    let isApples = ["NS", "UI", "CA", "AV", "WK", "CL", "MK"].contains { type.hasPrefix($0) }
    return usesCoreData && !isApples && !classes.names.contains(type)
  }

  private static let askedByText: Set<String> = [
    "NSManagedObject", "NSPersistentHistoryChange", "NSPersistentHistoryTransaction",
  ]

  private mutating func listKeyPath(_ index: Int, _ close: Int) {
    guard usesCoreData else { return }
    record(
      source.compactText(index..<close + 1), atToken: index,
      "left as it is; it compiles on Apple's platforms alone, so write the path as text for others")
  }

  // MARK: Arguments of formats

  /// Removes `as CVarArg`: Foundation's values are no such arguments on every platform, and formats
  /// take any value.
  private mutating func portArguments(_ index: Int) {
    var token = index + 2
    while token < source.partners[index + 1] {
      if source.isWord(token, "as"), let type = source.significant(from: token + 1),
        source.isWord(type, "CVarArg"), let before = source.significant(before: token)
      {
        edits.remove(
          source.tokens[before].range.upperBound..<source.tokens[type].range.upperBound)
        token = type
      }
      token += 1
    }
  }

  /// Lets functions that make conditions of their arguments take any value: `_ arguments: Any...`.
  mutating func portArgumentParameters() {
    guard usesCoreData else { return }
    for declaration in declarations where [.function, .initializer].contains(declaration.kind) {
      guard let (open, close) = declaration.parameters, let braces = declaration.braces,
        (braces.open..<braces.close).contains(where: {
          source.isWord($0, "NSPredicate") || source.isWord($0, "NSExpression")
        })
      else { continue }
      for index in open..<close where source.isWord(index, "CVarArg") {
        let isVariadic = (1...3).allSatisfy { source.isPunctuation(index + $0, ".") }
        let isArray = source.isPunctuation(index + 1, "]")
        if isVariadic || isArray { edits.replace(source.tokens[index].range, with: "Any") }
      }
    }
  }

  /// Writes `NSPredicate(format: f, argumentArray: all)` for
  /// `withVaList(all) { NSPredicate(format: f, arguments: $0) }`, as objects cannot be read of a
  /// list of C's.
  private mutating func portArgumentList(_ index: Int) {
    guard
      let label = (index + 2..<source.partners[index + 1]).first(where: {
        source.isWord($0, "arguments") && source.isPunctuation($0 + 1, ":")
      })
    else { return }
    let close = source.partners[index + 1]
    guard let value = source.significant(from: label + 2),
      source.text(of: bytes(of: value..<close)) == "$0",
      let brace = source.significant(before: index), source.isPunctuation(brace, "{"),
      source.significant(from: close + 1) == source.partners[brace],
      let end = source.significant(before: brace), source.isPunctuation(end, ")"),
      let name = source.significant(before: source.partners[end]),
      source.isWord(name, "withVaList")
    else {
      return record(
        "NSPredicate(format:arguments:)", atToken: index,
        "of a list of C arguments only numbers are read: write NSPredicate(format:argumentArray:)")
    }
    let list = source.text(of: bytes(of: source.partners[end] + 1..<end))
    edits.remove(bytes(of: name..<index))
    edits.replace(bytes(of: label..<close), with: "argumentArray: \(list)")
    edits.remove(bytes(of: close + 1..<source.partners[brace] + 1))
  }

  /// Foundation has `ValueTransformer` on Apple's platforms alone: the name without its module is
  /// found everywhere.
  private mutating func portTransformerName(_ index: Int) {
    guard source.isPunctuation(index + 1, "."), index + 2 < source.tokens.count,
      ["NSValueTransformerName", "ValueTransformer"].contains(source.text(index + 2))
    else { return }
    edits.remove(bytes(of: index..<index + 2))
  }

  // MARK: Selectors

  /// Comparisons of texts, which `NSSortDescriptor` of `QuireCoreData` has under the same names.
  private static let comparisons: Set<String> = [
    "caseInsensitiveCompare", "compare", "localizedCaseInsensitiveCompare", "localizedCompare",
    "localizedStandardCompare",
  ]

  /// Names the comparison of a sort descriptor: `.localizedStandardCompare`.
  private mutating func portSelector(_ index: Int) {
    let close = source.partners[index + 1]
    let text = source.compactText(index..<close + 1)
    let name = text.dropFirst("#selector(NSString.".count).prefix { $0 != "(" && $0 != ")" }
    if text.hasPrefix("#selector(NSString."), Self.comparisons.contains(String(name)),
      let colon = source.significant(before: index), source.isPunctuation(colon, ":"),
      source.isWord(source.significant(before: colon), "selector")
    {
      edits.replace(bytes(of: index..<close + 1), with: ".\(name)")
    } else {
      record(text, atToken: index, "left as it is; it compiles on Apple's platforms alone")
    }
  }
}
