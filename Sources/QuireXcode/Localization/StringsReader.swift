/// Reads translations in the form that people write; see ``StringsFile``.
struct StringsReader {
  struct Failure: Error {
    var line: Int
    var column: Int
    var words: String
  }

  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func translations() throws(Failure) -> [String: String] {
    var translations: [String: String] = [:]
    try skipSpace()
    let start = position
    let isBraced = take("{")
    if isBraced { try skipSpace() }
    while let scalar = next, !(isBraced && scalar == "}") {
      let key = try token("a key")
      try skipSpace()
      var value = key
      if take("=") {
        try skipSpace()
        value = try token("a text for “\(key)”")
        try skipSpace()
      }
      guard take(";") else {
        throw failure("there is no “;” after the text for “\(key)”", at: position)
      }
      translations[key] = value
      try skipSpace()
    }
    guard isBraced else { return translations }
    guard take("}") else { throw failure("the “{” is not closed", at: start) }
    try skipSpace()
    if next != nil { throw failure("something follows the last “}”", at: position) }
    return translations
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private func failure(_ words: String, at position: Int) -> Failure {
    var (line, column) = (1, 1)
    for (index, scalar) in scalars[..<position].enumerated() {
      // A carriage return ends a line unless a line feed follows it.
      let isEnd =
        scalar == "\n" || scalar == "\u{2028}"
        || scalar == "\r" && (index + 1 == scalars.count || scalars[index + 1] != "\n")
      (line, column) = isEnd ? (line + 1, 1) : (line, column + 1)
    }
    return Failure(line: line, column: column, words: words)
  }

  /// Skips white space and comments.
  private mutating func skipSpace() throws(Failure) {
    while let scalar = next {
      if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
        position += 1
      } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "/" {
        while let scalar = next, scalar != "\n", scalar != "\r" { position += 1 }
      } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "*" {
        try skipComment()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() throws(Failure) {
    let start = position
    position += 2
    while position + 1 < scalars.count {
      if scalars[position] == "*", scalars[position + 1] == "/" {
        position += 2
        return
      }
      position += 1
    }
    throw failure("the comment that begins here is not closed", at: start)
  }

  // MARK: Tokens

  /// Text between quotes, or a word.
  private mutating func token(_ what: String) throws(Failure) -> String {
    if let quote = next, quote == "\"" || quote == "'" { return try quoted(quote) }
    var word = String.UnicodeScalarView()
    while let scalar = next, isPartOfWord(scalar) {
      word.append(scalar)
      position += 1
    }
    if word.isEmpty {
      let found = next.map { "“\(Character($0))”" } ?? "the end"
      let hint =
        next == "(" || next == "{" || next == "<"
        ? ": translations are texts, and neither lists nor dictionaries" : ""
      throw failure("here should be \(what), not \(found)\(hint)", at: position)
    }
    return String(word)
  }

  private func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$", ":", ".", "-": true
    case "/":
      // Unless a comment begins here.
      position + 1 == scalars.count || scalars[position + 1] != "/" && scalars[position + 1] != "*"
    default: false
    }
  }

  private mutating func quoted(_ quote: Unicode.Scalar) throws(Failure) -> String {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = next {
      position += 1
      if scalar == quote { return String(text) }
      if scalar == "\\" {
        text.append(try escaped())
      } else {
        text.append(scalar)
      }
    }
    throw failure("the text that begins here is not closed", at: start)
  }

  /// The character of the escape after a backslash.
  private mutating func escaped() throws(Failure) -> Unicode.Scalar {
    let start = position - 1
    guard let scalar = next else { throw failure("nothing follows the “\\”", at: start) }
    position += 1
    switch scalar {
    case "a": return "\u{07}"
    case "b": return "\u{08}"
    case "f": return "\u{0C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "v": return "\u{0B}"
    case "U": return try character(start)
    case "0"..."7":
      position -= 1
      guard let value = digits(1...3, radix: 8), value < 128 else {
        throw failure("octal numbers here go up to 177: write \\U and four digits", at: start)
      }
      return Unicode.Scalar(UInt8(value))
    default: return scalar
    }
  }

  /// A character by its number in UTF-16, after `\U`; two of them where it takes two.
  private mutating func character(_ start: Int) throws(Failure) -> Unicode.Scalar {
    guard let unit = digits(4...4, radix: 16) else {
      throw failure("“\\U” takes four hexadecimal digits", at: start)
    }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    if unit < 0xDC00, take("\\"), take("U"),
      let low = digits(4...4, radix: 16), (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    {
      return scalar
    }
    throw failure("this is half a character: another “\\U” belongs to it", at: start)
  }

  private mutating func digits(_ count: ClosedRange<Int>, radix: UInt32) -> UInt32? {
    var value: UInt32 = 0
    var found = 0
    while found < count.upperBound, let scalar = next,
      let digit = Character(scalar).hexDigitValue, scalar.isASCII, digit < radix
    {
      value = value * radix + UInt32(digit)
      found += 1
      position += 1
    }
    return found >= count.lowerBound ? value : nil
  }
}
