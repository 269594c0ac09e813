extension DeclarationParser {
  func completeType(_ declaration: inout SwiftDeclaration) -> Int {
    let isExtension = source.isWord(declaration.keyword, "extension")
    guard let start = source.significant(from: declaration.keyword + 1),
      source.tokens[start].kind == .identifier
    else { return declaration.keyword + 1 }
    var words = ""
    var (angles, isInherited) = (0, false)
    var names: [String] = []
    var index = declaration.keyword + 1
    while let next = source.significant(from: index) {
      index = next
      if source.isPunctuation(index, "{") {
        declaration.kind = isExtension ? .extension : .type
        declaration.braces = (index, source.partners[index])
        break
      }
      if source.isPunctuation(index, "}") || source.isPunctuation(index, ";") { return index }
      if source.isPunctuation(index, "<") { angles += 1 }
      let isBreak =
        angles == 0
        && (source.isPunctuation(index, ":") || source.isPunctuation(index, ",")
          || source.isWord(index, "where"))
      let close = source.partners[index] > index ? source.partners[index] : index
      if isBreak {
        names.append(words)
        words = ""
        isInherited = !source.isWord(index, "where")
      } else if names.isEmpty || isInherited {
        words += source.compactText(index..<close + 1)
      }
      if source.isPunctuation(index, ">") { angles = max(0, angles - 1) }
      index = close + 1
    }
    guard let braces = declaration.braces, let first = names.first ?? (words.isEmpty ? nil : words)
    else { return declaration.keyword + 1 }
    if names.isEmpty { names = [first] } else if isInherited { names.append(words) }
    // Deep nests keep short names, as each level's is as long as those around it together.
    let parent =
      isExtension
      ? nil
      : declaration.parent.map { declarations[$0].name }
        .flatMap { $0.utf8.count < 1_000 ? $0 : nil }
    let name = String(first.prefix { $0 != "<" }).filter { $0 != "`" }
    declaration.name = parent.map { "\($0).\(name)" } ?? name
    declaration.inherited = Array(names.dropFirst())
    declaration.tokens = declaration.tokens.lowerBound..<braces.close + 1
    return braces.open + 1
  }

  func completeProperty(_ declaration: inout SwiftDeclaration) -> Int {
    guard let name = source.significant(from: declaration.keyword + 1),
      source.tokens[name].kind == .identifier
    else { return declaration.keyword + 1 }
    declaration.kind = .property
    declaration.name = source.name(name)
    declaration.tokens = declaration.tokens.lowerBound..<name + 1
    guard let colon = source.significant(from: name + 1), source.isPunctuation(colon, ":") else {
      return name + 1
    }
    guard let type = type(from: colon + 1) else { return colon + 1 }
    declaration.type = type
    declaration.tokens = declaration.tokens.lowerBound..<type.upperBound
    if let brace = source.significant(from: type.upperBound), source.isPunctuation(brace, "{") {
      declaration.braces = (brace, source.partners[brace])
      declaration.tokens = declaration.tokens.lowerBound..<source.partners[brace] + 1
      return source.partners[brace] + 1
    }
    return type.upperBound
  }

  /// The tokens of a type, which ends with its line unless brackets are open.
  private func type(from start: Int) -> Range<Int>? {
    guard let first = source.significant(from: start) else { return nil }
    var (index, end, angles) = (first, first, 0)
    while index < source.tokens.count {
      let token = source.tokens[index]
      if token.kind == .newline, angles == 0, end > first {
        break
      } else if token.isTrivia {
        index += 1
        continue
      }
      if ["=", "{", "}", ";"].contains(where: { source.isPunctuation(index, $0) }) { break }
      if angles == 0, source.isPunctuation(index, ",") || source.isPunctuation(index, ")") { break }
      if source.isPunctuation(index, "<") { angles += 1 }
      if source.isPunctuation(index, ">"), !source.isPunctuation(index - 1, "-") {
        angles = max(0, angles - 1)
      }
      index = max(index, source.partners[index]) + 1
      end = index
    }
    return end > first ? first..<end : nil
  }

  func completeFunction(_ declaration: inout SwiftDeclaration) -> Int {
    let isFunction = source.isWord(declaration.keyword, "func")
    declaration.kind =
      isFunction ? .function : source.isWord(declaration.keyword, "init") ? .initializer : .other
    var index = declaration.keyword + 1
    if isFunction, let name = source.significant(from: index) {
      declaration.name = source.name(name)
      index = name + 1
    } else {
      declaration.name = source.text(declaration.keyword)
    }
    var (end, isNewLine) = (index, false)
    while index < source.tokens.count {
      let token = source.tokens[index]
      if token.kind == .newline { isNewLine = true }
      if token.isTrivia {
        index += 1
        continue
      }
      if source.isPunctuation(index, "{") {
        declaration.braces = (index, source.partners[index])
        end = source.partners[index] + 1
        break
      }
      if source.isPunctuation(index, "}") || source.isPunctuation(index, ";") { break }
      if isNewLine, declaration.parameters != nil || source.isWord(declaration.keyword, "deinit"),
        !continues(at: index)
      {
        break
      }
      isNewLine = false
      if declaration.parameters == nil, source.isPunctuation(index, "(") {
        declaration.parameters = (index, source.partners[index])
      }
      index = max(index, source.partners[index]) + 1
      end = index
    }
    declaration.tokens = declaration.tokens.lowerBound..<end
    return end
  }

  /// Whether a token at the beginning of a line continues the head of a function.
  private func continues(at index: Int) -> Bool {
    if ["-", ">", ",", ":", "&", "."].contains(where: { source.isPunctuation(index, $0) }) {
      return true
    }
    if ["throws", "rethrows", "async", "where"].contains(where: { source.isWord(index, $0) }) {
      return true
    }
    guard let before = source.significant(before: index) else { return false }
    if source.isPunctuation(before, ">") { return source.isPunctuation(before - 1, "-") }
    return [",", ":", "&", "."].contains { source.isPunctuation(before, $0) }
      || source.isWord(before, "where")
  }

  func completeImport(_ declaration: inout SwiftDeclaration) -> Int {
    declaration.kind = .import
    guard var index = source.significant(from: declaration.keyword + 1) else {
      return declaration.keyword + 1
    }
    // `import class CoreData.NSManagedObject`
    if index + 1 < source.tokens.count, source.tokens[index + 1].kind == .whitespace,
      let next = source.significant(from: index + 1), source.tokens[next].kind == .identifier,
      ["class", "struct", "enum", "protocol", "typealias", "func", "var", "let"].contains(
        source.text(index))
    {
      index = next
    }
    var end = index + 1
    while source.isPunctuation(end, "."), end + 1 < source.tokens.count { end += 2 }
    declaration.name = source.compactText(index..<end)
    declaration.tokens = declaration.tokens.lowerBound..<end
    return end
  }
}
