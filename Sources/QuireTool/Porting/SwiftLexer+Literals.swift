extension SwiftLexer {
  /// Reads a literal of text from its first byte up to its end or its first interpolation.
  mutating func readLiteral(hashCount: Int) {
    let quote = position + hashCount
    let isMultiline =
      byte(at: quote + 1) == .init(ascii: "\"") && byte(at: quote + 2) == .init(ascii: "\"")
      && !(hashCount > 0 && endsOnLine(from: quote + 2, hashCount))
    literals.append(
      OpenLiteral(hashCount: hashCount, isMultiline: isMultiline, start: position))
    readText(from: quote + (isMultiline ? 3 : 1))
  }

  /// Whether `#"""#` and its like end on their line: they are not the beginning of many lines.
  private func endsOnLine(from start: Int, _ hashCount: Int) -> Bool {
    (start..<max(start, endOfLine(from: start))).contains {
      bytes[$0] == .init(ascii: "\"") && hasHashes(hashCount, at: $0 + 1)
    }
  }

  private func hasHashes(_ count: Int, at offset: Int) -> Bool {
    (0..<count).allSatisfy { byte(at: offset + $0) == .init(ascii: "#") }
  }

  /// Reads on in the innermost literal, which has no interpolation open: up to its end, or up to
  /// the parenthesis of the next interpolation.
  mutating func readText(from start: Int? = nil) {
    let last = literals.count - 1
    let literal = literals[last]
    var end = start ?? position
    while end < bytes.count {
      switch bytes[end] {
      case .init(ascii: "\\") where hasHashes(literal.hashCount, at: end + 1):
        let escaped = end + 1 + literal.hashCount
        if byte(at: escaped) == .init(ascii: "("), escaped < bytes.count {
          add(.text, upTo: escaped)
          add(.punctuation, upTo: escaped + 1)
          literals[last].depth = 1
          return
        }
        // An escaped newline is left to the next step: one line does not take it.
        let isNewline = escaped < bytes.count && Self.isNewline(bytes[escaped])
        end = min(bytes.count, isNewline ? escaped : escaped + 1)
      case .init(ascii: "\""):
        let length = literal.isMultiline ? 3 : 1
        let isEnd = (0..<length).allSatisfy { byte(at: end + $0) == .init(ascii: "\"") }
        if isEnd, hasHashes(literal.hashCount, at: end + length) {
          add(.text, upTo: end + length + literal.hashCount)
          literals.removeLast()
          return
        }
        end += 1
      case let byte where Self.isNewline(byte) && !literal.isMultiline:
        fail(at: literal.start, "a text has no end on its line")
        literals.removeAll()
        add(.text, upTo: bytes.count)
        return
      default: end += 1
      }
    }
    fail(at: literal.start, "a text has no end")
    literals.removeAll()
    if end > position { add(.text, upTo: bytes.count) }
  }

  // MARK: Regular expressions

  /// The end of `/…/`, when the slash at the position begins a regular expression: where an
  /// expression may stand, with no space after the slash, and with another slash on the line.
  func endOfPlainRegex() -> Int? {
    guard expectsExpression else { return nil }
    var (end, depth, isInClass) = (position + 1, 0, false)
    if byte(at: end) == 0x20 || byte(at: end) == 0x09 { return nil }
    while end < bytes.count, !Self.isNewline(bytes[end]) {
      switch bytes[end] {
      case .init(ascii: "\\"):
        end += 1
        if end < bytes.count, Self.isNewline(bytes[end]) { return nil }
      case .init(ascii: "["): isInClass = true
      case .init(ascii: "]"): isInClass = false
      case .init(ascii: "(") where !isInClass: depth += 1
      case .init(ascii: ")") where !isInClass:
        depth -= 1
        if depth < 0 { return nil }
      case .init(ascii: "/") where end > position + 1:
        let before = bytes[end - 1]
        return before == 0x20 || before == 0x09 ? nil : end + 1
      default: break
      }
      end += 1
    }
    return nil
  }

  /// Reads `#/…/#`, which spans lines when nothing follows its first slash on the line.
  mutating func readExtendedRegex(hashCount: Int) {
    let start = position
    var end = position + hashCount + 1
    let rest = bytes[min(end, bytes.count)..<endOfLine(from: min(end, bytes.count))]
    let isMultiline = rest.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    while end < bytes.count, isMultiline || !Self.isNewline(bytes[end]) {
      if bytes[end] == .init(ascii: "\\") {
        end += 2
      } else if bytes[end] == .init(ascii: "/"), hasHashes(hashCount, at: end + 1) {
        return add(.text, upTo: end + 1 + hashCount)
      } else {
        end += 1
      }
    }
    fail(at: start, "a regular expression has no end")
    add(.text, upTo: bytes.count)
  }
}
