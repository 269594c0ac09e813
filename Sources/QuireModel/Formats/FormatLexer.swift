/// Cuts a format into tokens, one ahead of the parser.
struct FormatLexer {
  private let format: String
  private let bytes: [UInt8]
  /// Where the next token begins, and where it ends.
  private var start = 0
  private var end = 0
  private(set) var next = FormatToken.end
  /// The next token as a word of the language; `nil` if it is no such word.
  private(set) var word: FormatWord?
  /// The next token as a sign; `nil` if it is no sign.
  private(set) var sign: FormatSign?
  /// The text of the next token without quotation marks, for a name, a string or a variable.
  private(set) var content = ""

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
    (word, sign) = (nil, nil)
    next = try token()
  }

  /// The next token as it is written.
  var text: String { text(start..<end) }

  /// The letters after the percent sign of the next token.
  var conversion: String { text(start + 1..<end) }

  /// Whether the next token is `%@`, or `%K`, as this byte says.
  func isArgument(_ byte: UInt8) -> Bool {
    next == .argument && end - start == 2 && bytes[start + 1] == byte
  }

  /// The first byte of the token after the next one.
  var byteAfterNext: UInt8? {
    var offset = end
    while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    return byte(at: offset)
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
      content = try string()
      return .string
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      try skipNumber()
      return .number
    case UInt8(ascii: "#"):
      content = try name(expected: "a name after #")
      return .name
    case UInt8(ascii: "@"):
      end += 1
      _ = skipWord()
      sign = .at
      return .sign
    case UInt8(ascii: "$"):
      content = try name(expected: "a name after $")
      return .variable
    case UInt8(ascii: "%"):
      return argument()
    default:
      if skipWord() {
        word = FormatWord(bytes[start..<end])
        return .word
      }
      let (found, isPair) = FormatSign.sign(first, byte(at: start + 1))
      end += isPair ? 2 : 1
      sign = found
      return .sign
    }
  }

  /// - Returns: whether there is one.
  private mutating func skipWord() -> Bool {
    let wordStart = end
    while let byte = byte(at: end), FormatLanguage.isNameByte(byte, first: end == wordStart) {
      end += 1
    }
    return end > wordStart
  }

  /// A name after a sign, which may be in quotation marks.
  private mutating func name(expected: String) throws(PredicateFormatError) -> String {
    end += 1
    let quote = byte(at: end)
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { return try string() }
    guard skipWord() else { throw error(expected: expected) }
    return text(start + 1..<end)
  }

  private mutating func argument() -> FormatToken {
    end += 1
    if byte(at: end) == UInt8(ascii: "@") {
      end += 1
    } else if byte(at: end) == UInt8(ascii: "%") {
      end += 1
      sign = .other
      return .sign
    } else {
      _ = skipWord()
    }
    return .argument
  }

  // MARK: Literals

  private mutating func skipNumber() throws(PredicateFormatError) {
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
      _ = skipWord()
      throw error(expected: "a number")
    }
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
