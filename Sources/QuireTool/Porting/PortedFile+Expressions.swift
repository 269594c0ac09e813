extension PortedFile {
  /// Names that Foundation has as well, so that a module has to say which it means.
  static let ambiguousNames: Set<String> = [
    "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSPredicate",
    "NSSortDescriptor",
  ]

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
      case .identifier where source.isWord(index, "withExtension") && usesCoreData:
        portModelExtension(index)
      case .identifier where source.isPunctuation(index + 1, "(") && usesCoreData:
        if ["NSExpression", "NSPredicate"].contains(source.text(index)) { portArguments(index) }
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

  /// Writes the text that `#keyPath` stands for, where it begins at a managed object.
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
    // A class that another module declares, or that Xcode writes; not one of Apple's.
    let isApples = ["NS", "UI", "CA", "AV", "WK", "CL", "MK"].contains { type.hasPrefix($0) }
    return usesCoreData && !isApples && !classes.names.contains(type)
  }

  private mutating func listKeyPath(_ index: Int, _ close: Int) {
    guard usesCoreData else { return }
    record(
      source.compactText(index..<close + 1), atToken: index,
      "left as it is; it compiles on Apple's platforms alone, so write the path as text for others")
  }

  // MARK: Models

  /// Asks a bundle for the model as Xcode keeps it: nothing compiles it here.
  private mutating func portModelExtension(_ index: Int) {
    guard let colon = source.significant(from: index + 1), source.isPunctuation(colon, ":"),
      let text = source.significant(from: colon + 1),
      let name = ["\"momd\"": "\"xcdatamodeld\"", "\"mom\"": "\"xcdatamodel\""][source.text(text)]
    else { return }
    edits.replace(source.tokens[text].range, with: name)
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

  // MARK: Names

  /// The tokens of names that a module with both Foundation and `QuireCoreData` has to choose.
  var ambiguousTokens: [Int] {
    source.tokens.indices.filter { index in
      source.tokens[index].kind == .identifier
        && Self.ambiguousNames.contains(source.text(index))
        && !source.isPunctuation(source.significant(before: index), ".")
    }
  }

  /// Those of the names that a public declaration has in its head, where an alias must be public.
  var ambiguousPublicNames: Set<String> {
    var names: Set<String> = []
    for token in ambiguousTokens {
      let isShown = declarations.contains { declaration in
        guard declaration.tokens.contains(token), declaration.kind != .extension else {
          return false
        }
        if declaration.kind != .type, let braces = declaration.braces,
          braces.open < token, token < braces.close
        {
          return false
        }
        let parent = declaration.parent.map { declarations[$0] }
        let access =
          access(of: declaration)
          ?? parent.flatMap { parent in
            let isContainer = parent.kind == .extension || source.isWord(parent.keyword, "protocol")
            return isContainer ? self.access(of: parent) : nil
          }
        return (access == "public" || access == "open") && declaration.kind != .type
      }
      if isShown { names.insert(source.text(token)) }
    }
    return names
  }

  /// The names for which a file has a type alias.
  var aliases: Set<String> {
    Set(
      declarations.compactMap { declaration in
        guard source.isWord(declaration.keyword, "typealias"),
          let name = source.significant(from: declaration.keyword + 1)
        else { return nil }
        return source.name(name)
      })
  }
}
