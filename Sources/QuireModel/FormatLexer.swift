/// A word, sign or literal of a format of predicates and expressions.
enum FormatToken: Hashable {
  /// A name or a word of the language, as it is written.
  case word(String)
  /// A name behind a `#`, which is never a word of the language.
  case name(String)
  case string(String)
  case number(String)
  /// The name behind a dollar sign.
  case variable(String)
  /// A percent sign and the letters of its conversion.
  case argument(String)
  /// Anything else, such as `>=`.
  case sign(String)
  case end
}

/// Cuts a format into tokens, one ahead of the parser.
struct FormatLexer {
  private let format: String
  private let bytes: [UInt8]
  /// Where the next token begins, and where it ends.
  private var start = 0
  private var end = 0
  private(set) var next = FormatToken.end

  init(_ format: String) throws(PredicateFormatError) {
    self.format = format
    bytes = Array(format.utf8)
    try advance()
  }

  /// An error at the next token.
  func error(expected: String, found: String? = nil) -> PredicateFormatError {
    error(at: start, expected: expected, found: found)
  }

  private func error(at position: Int, expected: String, found: String?) -> PredicateFormatError {
    PredicateFormatError(
      format: format, offset: String(decoding: bytes[..<position], as: UTF8.self).count,
      expected: expected, found: found ?? description(of: position))
  }

  private func description(of position: Int) -> String {
    if position >= bytes.count { return "the end" }
    let text = String(decoding: bytes[position..<max(end, position + 1)], as: UTF8.self)
    return FormatLanguage.quoted(String(text.prefix(40)))
  }

  mutating func advance() throws(PredicateFormatError) {
    start = end
    while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
    end = start
    next = try token()
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private func byte(at position: Int) -> UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private mutating func token() throws(PredicateFormatError) -> FormatToken {
    guard let first = byte(at: start) else { return .end }
    switch first {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return .string(try string())
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number()
    case UInt8(ascii: "#"):
      end += 1
      let quote = byte(at: end)
      if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { return .name(try string()) }
      guard let word = word() else { throw error(expected: "a name after #") }
      return .name(word)
    case UInt8(ascii: "@"):
      end += 1
      _ = word()
      return .sign(text(start..<end))
    case UInt8(ascii: "$"):
      end += 1
      let quote = byte(at: end)
      if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        return .variable(try string())
      }
      guard let word = word() else { throw error(expected: "a name after $") }
      return .variable(word)
    case UInt8(ascii: "%"):
      return argument()
    default:
      if let word = word() { return .word(word) }
      return sign()
    }
  }

  private mutating func word() -> String? {
    let wordStart = end
    while let byte = byte(at: end), FormatLanguage.isNameByte(byte, first: end == wordStart) {
      end += 1
    }
    return end == wordStart ? nil : text(wordStart..<end)
  }

  private mutating func argument() -> FormatToken {
    end += 1
    if byte(at: end) == UInt8(ascii: "@") {
      end += 1
    } else if byte(at: end) == UInt8(ascii: "%") {
      end += 1
      return .sign("%%")
    } else {
      _ = word()
    }
    return .argument(text(start + 1..<end))
  }

  private mutating func sign() -> FormatToken {
    end += 1
    let pairs: Set<String> = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**"]
    if end < bytes.count, pairs.contains(text(start..<end + 1)) { end += 1 }
    return .sign(text(start..<end))
  }

  // MARK: Literals

  private mutating func number() throws(PredicateFormatError) -> FormatToken {
    func skipDigits(_ lexer: inout FormatLexer) -> Bool {
      let before = lexer.end
      while (lexer.byte(at: lexer.end) ?? 0) &- 0x30 < 10 { lexer.end += 1 }
      return lexer.end > before
    }
    _ = skipDigits(&self)
    if byte(at: end) == UInt8(ascii: ".") {
      end += 1
      if !skipDigits(&self) { throw error(expected: "digits after the point of a number") }
    }
    if let byte = byte(at: end), byte | 0x20 == UInt8(ascii: "e") {
      end += 1
      if let sign = self.byte(at: end), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        end += 1
      }
      if !skipDigits(&self) { throw error(expected: "digits in the exponent of a number") }
    }
    if let byte = byte(at: end), FormatLanguage.isNameByte(byte, first: true) {
      _ = word()
      throw error(expected: "a number")
    }
    return .number(text(start..<end))
  }

  private mutating func string() throws(PredicateFormatError) -> String {
    let quote = bytes[end]
    var content: [UInt8] = []
    end += 1
    while let byte = byte(at: end) {
      end += 1
      if byte == quote { return String(decoding: content, as: UTF8.self) }
      if byte != UInt8(ascii: "\\") {
        content.append(byte)
        continue
      }
      try appendEscape(to: &content)
    }
    throw error(
      at: bytes.count, expected: "the quotation mark that ends a text", found: nil)
  }

  /// Reads what follows a backslash.
  private mutating func appendEscape(to content: inout [UInt8]) throws(PredicateFormatError) {
    guard let byte = byte(at: end) else { return }
    end += 1
    switch byte {
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let digits = text(end..<min(end + 4, bytes.count))
      guard digits.utf8.count == 4, digits.utf8.allSatisfy(Self.isHexDigit),
        let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code)
      else {
        throw error(
          at: end - 2, expected: "four hexadecimal digits of a character after \\u", found: nil)
      }
      end += 4
      content.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
    default: content.append(byte)
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
  }
}
