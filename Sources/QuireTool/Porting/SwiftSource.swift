/// A Swift file in tokens, with its brackets paired.
package struct SwiftSource {
  package let bytes: [UInt8]
  package let tokens: [SwiftToken]
  /// From each bracket to the one that belongs to it; the token's own index for all others.
  let partners: [Int]
  /// The offset of the first byte of each line.
  let lineStarts: [Int]

  /// - Throws: when a literal or a comment has no end, and when brackets do not fit each other.
  package init(_ bytes: [UInt8]) throws(SourceFailure) {
    self.bytes = bytes
    let lexer = SwiftLexer(bytes)
    tokens = lexer.tokens
    var starts = [0]
    for (offset, byte) in bytes.enumerated() {
      let isEnd =
        byte == 0x0A || (byte == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A))
      if isEnd { starts.append(offset + 1) }
    }
    lineStarts = starts
    if let failure = lexer.failure {
      throw SourceFailure(
        line: Self.line(of: failure.offset, starts), reason: failure.reason)
    }
    partners = try Self.pairs(lexer.tokens, bytes, starts)
  }

  private static func pairs(
    _ tokens: [SwiftToken], _ bytes: [UInt8], _ starts: [Int]
  ) throws(SourceFailure) -> [Int] {
    var partners = Array(tokens.indices)
    var open: [Int] = []
    for (index, token) in tokens.enumerated() where token.kind == .punctuation {
      let opening: UInt8
      switch bytes[token.range.lowerBound] {
      case .init(ascii: "("), .init(ascii: "["), .init(ascii: "{"):
        open.append(index)
        continue
      case .init(ascii: ")"): opening = .init(ascii: "(")
      case .init(ascii: "]"): opening = .init(ascii: "[")
      case .init(ascii: "}"): opening = .init(ascii: "{")
      default: continue
      }
      guard let last = open.popLast(), bytes[tokens[last].range.lowerBound] == opening else {
        throw SourceFailure(
          line: line(of: token.range.lowerBound, starts), reason: "a bracket closes none")
      }
      (partners[index], partners[last]) = (last, index)
    }
    if let last = open.last {
      throw SourceFailure(
        line: line(of: tokens[last].range.lowerBound, starts), reason: "a bracket is not closed")
    }
    return partners
  }

  // MARK: Lines

  private static func line(of offset: Int, _ starts: [Int]) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The number of the line of a byte, from 1.
  func line(of offset: Int) -> Int { Self.line(of: offset, lineStarts) }

  func line(ofToken index: Int) -> Int { line(of: tokens[index].range.lowerBound) }

  /// The bytes of a line with its newline, by its number from 1.
  func range(ofLine line: Int) -> Range<Int> {
    lineStarts[line - 1]..<(line < lineStarts.count ? lineStarts[line] : bytes.count)
  }

  func isBlank(line: Int) -> Bool {
    bytes[range(ofLine: line)].allSatisfy { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }
  }

  /// The spaces and tabs that a line begins with.
  func indentation(ofLine line: Int) -> String {
    String(
      decoding: bytes[range(ofLine: line)].prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
  }

  /// What the file's first line ends with.
  var newline: String {
    tokens.first { $0.kind == .newline }.map { text(of: $0.range) } ?? "\n"
  }

  // MARK: Tokens

  func text(of range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func text(_ index: Int) -> String { text(of: tokens[index].range) }

  /// A name without the grave accents it may be written with.
  func name(_ index: Int) -> String {
    let text = text(index)
    return text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text
  }

  func isPunctuation(_ index: Int?, _ character: Unicode.Scalar) -> Bool {
    guard let index, index < tokens.count, tokens[index].kind == .punctuation else { return false }
    return bytes[tokens[index].range.lowerBound] == UInt8(ascii: character)
  }

  func isWord(_ index: Int?, _ word: String) -> Bool {
    guard let index, index < tokens.count, tokens[index].kind == .identifier else { return false }
    return bytes[tokens[index].range].elementsEqual(word.utf8)
  }

  /// The next token from an index on that is not trivia.
  func significant(from index: Int) -> Int? {
    var index = index
    while index < tokens.count, tokens[index].isTrivia { index += 1 }
    return index < tokens.count ? index : nil
  }

  func significant(before index: Int) -> Int? {
    var index = index - 1
    while index >= 0, tokens[index].isTrivia { index -= 1 }
    return index >= 0 ? index : nil
  }

  /// The text of tokens without what has no meaning.
  func compactText(_ range: Range<Int>) -> String {
    range.filter { !tokens[$0].isTrivia }.map(text).joined()
  }
}
