/// Finds the declarations of a file, of its types and its extensions.
///
/// The parser goes over tokens and skips what is between brackets, so that words of expressions
/// are never taken for declarations. It keeps its own stack: nesting does not cost the program's.
struct DeclarationParser {
  let source: SwiftSource
  private(set) var declarations: [SwiftDeclaration] = []
  /// Types and extensions that are open, with their closing braces.
  private var open: [(declaration: Int, close: Int)] = []
  private var conditions: [String] = []

  static func declarations(of source: SwiftSource) -> [SwiftDeclaration] {
    var parser = DeclarationParser(source: source)
    parser.parse()
    return parser.declarations
  }

  private init(source: SwiftSource) { self.source = source }

  private mutating func parse() {
    var index = 0
    while index < source.tokens.count {
      if let last = open.last, index >= last.close {
        open.removeLast()
        index = last.close + 1
      } else if source.tokens[index].isTrivia {
        index += 1
      } else if source.tokens[index].kind == .directive {
        index = parseDirective(index)
      } else {
        index = parseDeclaration(index)
      }
    }
  }

  private mutating func parseDirective(_ index: Int) -> Int {
    let word = source.text(index)
    guard ["#if", "#elseif", "#else", "#endif"].contains(word) else { return index + 1 }
    var end = index + 1
    while end < source.tokens.count, source.tokens[end].kind != .newline { end += 1 }
    let condition = source.compactText(index + 1..<end)
    switch word {
    case "#if": conditions.append(condition)
    case "#endif": _ = conditions.popLast()
    default: if let last = conditions.popLast() { conditions.append("\(last) \(word)\(condition)") }
    }
    return end
  }

  // MARK: Declarations

  private static let modifiers: Set<String> = [
    "async", "borrowing", "consuming", "convenience", "distributed", "dynamic", "fileprivate",
    "final", "indirect", "infix", "internal", "isolated", "lazy", "mutating", "nonisolated",
    "nonmutating", "open", "optional", "override", "package", "postfix", "prefix", "private",
    "public", "required", "sending", "static", "unowned", "weak",
  ]
  private static let keywords: Set<String> = [
    "actor", "associatedtype", "case", "class", "deinit", "enum", "extension", "func", "import",
    "init", "let", "macro", "operator", "precedencegroup", "protocol", "struct", "subscript",
    "typealias", "var",
  ]

  /// Parses the declaration that begins at a token, if one does.
  ///
  /// - Returns: where to go on.
  private mutating func parseDeclaration(_ start: Int) -> Int {
    let afterStart = source.partners[start] > start ? source.partners[start] + 1 : start + 1
    if source.isPunctuation(source.significant(before: start), ".") { return afterStart }
    var (attributes, modifiers): ([SwiftDeclaration.Attribute], [Int]) = ([], [])
    var index = start
    while true {
      if source.isPunctuation(index, "@"), let attribute = attribute(at: index) {
        attributes.append(attribute)
        guard let next = source.significant(from: attribute.tokens.upperBound) else {
          return afterStart
        }
        index = next
      } else if let next = indexAfterModifier(index) {
        modifiers.append(index)
        index = next
      } else {
        break
      }
    }
    guard source.tokens[index].kind == .identifier, Self.keywords.contains(source.text(index))
    else { return index > start ? index : afterStart }
    var declaration = SwiftDeclaration(
      kind: .other, keyword: index, name: "", attributes: attributes, modifiers: modifiers,
      tokens: start..<index + 1, parent: open.last?.declaration, conditions: conditions)
    let next = complete(&declaration)
    declarations.append(declaration)
    if declaration.kind == .type || declaration.kind == .extension, let braces = declaration.braces
    {
      open.append((declarations.count - 1, braces.close))
    }
    return next
  }

  private func attribute(at index: Int) -> SwiftDeclaration.Attribute? {
    guard index + 1 < source.tokens.count, source.tokens[index + 1].kind == .identifier else {
      return nil
    }
    // `@CoreData.NSManaged` has the name after its last dot.
    var end = index + 2
    while source.isPunctuation(end, "."), end + 1 < source.tokens.count,
      source.tokens[end + 1].kind == .identifier
    {
      end += 2
    }
    guard source.isPunctuation(end, "(") else {
      return .init(name: source.text(end - 1), tokens: index..<end)
    }
    let close = source.partners[end]
    return .init(
      name: source.text(end - 1), tokens: index..<close + 1,
      argument: source.compactText(end + 1..<close))
  }

  private func indexAfterModifier(_ index: Int) -> Int? {
    guard source.tokens[index].kind == .identifier else { return nil }
    let word = source.text(index)
    guard Self.modifiers.contains(word) || word == "class" else { return nil }
    var end = index + 1
    if word != "class", source.isPunctuation(end, "(") { end = source.partners[end] + 1 }
    guard let next = source.significant(from: end) else { return nil }
    if source.isPunctuation(next, "@") { return word == "class" ? nil : next }
    guard source.tokens[next].kind == .identifier else { return nil }
    let follower = source.text(next)
    return Self.modifiers.contains(follower) || Self.keywords.contains(follower) ? next : nil
  }

  /// Fills in what follows the keyword.
  ///
  /// - Returns: where to go on: within a type, after a function.
  private func complete(_ declaration: inout SwiftDeclaration) -> Int {
    switch source.text(declaration.keyword) {
    case "class", "struct", "enum", "actor", "protocol", "extension":
      return completeType(&declaration)
    case "var", "let": return completeProperty(&declaration)
    case "func", "init", "subscript", "deinit": return completeFunction(&declaration)
    case "import": return completeImport(&declaration)
    default: return declaration.keyword + 1
    }
  }
}
