/// Cuts Swift source into tokens.
///
/// Comments, literals of text and brackets are recognised as the compiler does; operators are cut
/// into bytes, and numbers are taken loosely, as nothing here depends on either. Code in an
/// interpolation is code: `"\(#keyPath(Trip.name))"` is a text, brackets, a directive and a text.
///
/// Every byte is in one token, whatever the bytes are. Where a literal or a comment has no end, the
/// last token takes the rest, and ``failure`` says so.
package struct SwiftLexer {
  /// A literal of text whose interpolation is being read.
  struct OpenLiteral {
    var hashCount: Int
    var isMultiline: Bool
    /// Parentheses of the interpolation that are open.
    var depth = 0
    /// The offset of the literal's beginning.
    var start: Int
  }

  let bytes: [UInt8]
  var position = 0
  package private(set) var tokens: [SwiftToken] = []
  /// The offset and the reason of the first failure.
  package internal(set) var failure: (offset: Int, reason: String)?
  var literals: [OpenLiteral] = []
  /// The last token that is not trivia: decides whether a slash begins a regular expression.
  private var lastSignificant: SwiftToken?

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { add(.whitespace, upTo: 3) }
    if byte(at: position) == .init(ascii: "#"), byte(at: position + 1) == .init(ascii: "!") {
      add(.lineComment, upTo: endOfLine(from: position))
    }
    while position < bytes.count { readCode() }
    if failure == nil, let literal = literals.last {
      failure = (literal.start, "a text has no end")
    }
  }

  /// The byte at an offset; 0 beyond the end.
  func byte(at offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  func endOfLine(from offset: Int) -> Int {
    var end = offset
    while end < bytes.count, !Self.isNewline(bytes[end]) { end += 1 }
    return end
  }

  mutating func add(_ kind: SwiftToken.Kind, upTo end: Int) {
    let token = SwiftToken(kind: kind, range: position..<end)
    tokens.append(token)
    if !token.isTrivia { lastSignificant = token }
    position = end
  }

  mutating func fail(at offset: Int, _ reason: String) {
    if failure == nil { failure = (offset, reason) }
  }

  // MARK: Code

  private mutating func readCode() {
    let first = bytes[position]
    let second = byte(at: position + 1)
    switch first {
    case .init(ascii: " "), .init(ascii: "\t"), 0x0B, 0x0C:
      add(.whitespace, upTo: end(while: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0B || $0 == 0x0C }))
    case .init(ascii: "\n"): add(.newline, upTo: position + 1)
    case .init(ascii: "\r"):
      add(.newline, upTo: position + (second == .init(ascii: "\n") ? 2 : 1))
    case .init(ascii: "/") where second == .init(ascii: "/"):
      add(.lineComment, upTo: endOfLine(from: position))
    case .init(ascii: "/") where second == .init(ascii: "*"): readBlockComment()
    case .init(ascii: "/"):
      if let end = endOfPlainRegex() { add(.text, upTo: end) } else { readPunctuation(first) }
    case .init(ascii: "\""): readLiteral(hashCount: 0)
    case .init(ascii: "#"): readNumberSign()
    case .init(ascii: "`"): readQuotedName()
    case .init(ascii: "0")...(.init(ascii: "9")): readNumber()
    default:
      if Self.isNameStart(first) {
        add(.identifier, upTo: end(while: Self.isNamePart))
      } else {
        readPunctuation(first)
      }
    }
  }

  private mutating func readPunctuation(_ byte: UInt8) {
    add(.punctuation, upTo: position + 1)
    guard let last = literals.indices.last else { return }
    if byte == .init(ascii: "(") {
      literals[last].depth += 1
    } else if byte == .init(ascii: ")") {
      literals[last].depth -= 1
      if literals[last].depth == 0 { readText() }
    }
  }

  private func end(while belongs: (UInt8) -> Bool) -> Int {
    var end = position + 1
    while end < bytes.count, belongs(bytes[end]) { end += 1 }
    return end
  }

  private mutating func readBlockComment() {
    var (end, depth) = (position + 2, 1)
    while end < bytes.count, depth > 0 {
      let (first, second) = (bytes[end], byte(at: end + 1))
      if first == .init(ascii: "/"), second == .init(ascii: "*") {
        (end, depth) = (end + 2, depth + 1)
      } else if first == .init(ascii: "*"), second == .init(ascii: "/") {
        (end, depth) = (end + 2, depth - 1)
      } else {
        end += 1
      }
    }
    if depth > 0 { fail(at: position, "a comment has no end") }
    add(.blockComment, upTo: end)
  }

  private mutating func readNumberSign() {
    let end = end(while: { $0 == .init(ascii: "#") })
    switch byte(at: end) {
    case .init(ascii: "\""): readLiteral(hashCount: end - position)
    case .init(ascii: "/"): readExtendedRegex(hashCount: end - position)
    case let next where end == position + 1 && Self.isNameStart(next):
      add(.directive, upTo: self.end(while: Self.isNamePart))
    default: add(.punctuation, upTo: position + 1)
    }
  }

  private mutating func readQuotedName() {
    var end = position + 1
    while end < bytes.count, bytes[end] != .init(ascii: "`"), !Self.isNewline(bytes[end]) {
      end += 1
    }
    if byte(at: end) == .init(ascii: "`") {
      add(.identifier, upTo: end + 1)
    } else {
      fail(at: position, "a grave accent has no other on its line")
      add(.text, upTo: bytes.count)
    }
  }

  private mutating func readNumber() {
    var end = end(while: Self.isNamePart)
    if byte(at: end) == .init(ascii: "."), Self.isDigit(byte(at: end + 1)) {
      end += 1
      while end < bytes.count, Self.isNamePart(bytes[end]) { end += 1 }
    }
    add(.number, upTo: end)
  }

  // MARK: Bytes

  static func isNewline(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  static func isDigit(_ byte: UInt8) -> Bool {
    byte >= .init(ascii: "0") && byte <= .init(ascii: "9")
  }

  /// All of Unicode beyond ASCII counts as letters.
  static func isNameStart(_ byte: UInt8) -> Bool {
    let letter = byte | 0x20
    return (letter >= .init(ascii: "a") && letter <= .init(ascii: "z"))
      || byte == .init(ascii: "_") || byte == .init(ascii: "$") || byte >= 0x80
  }

  static func isNamePart(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }

  /// Whether an expression may begin after the last token, rather than an operator follow it.
  var expectsExpression: Bool {
    guard let last = lastSignificant else { return true }
    switch last.kind {
    case .identifier:
      let word = String(decoding: bytes[last.range], as: UTF8.self)
      return Self.wordsBeforeExpressions.contains(word)
    case .number, .text: return false
    case .punctuation:
      let byte = bytes[last.range.lowerBound]
      return !")]}?!".utf8.contains(byte)
    default: return true
    }
  }

  private static let wordsBeforeExpressions: Set<String> = [
    "await", "case", "consume", "copy", "else", "guard", "if", "in", "is", "return", "switch",
    "throw", "try", "where", "while", "yield",
  ]
}
