/// The words of predicate format strings: what the printer writes and the parser reads.
enum FormatLanguage {
  /// Whether the word cannot be the name of a property unless a `#` precedes it.
  static func isReserved(_ word: String) -> Bool {
    FormatWord(Array(word.utf8)[...])?.isReserved ?? false
  }

  /// Whether a name can begin with, or go on with, this byte of UTF-8.
  static func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), 0x80...:
      true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
    default: false
    }
  }

  /// `text` between quotation marks.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..<" ", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// One name of a key path, escaped where the parser would read it as something else.
  static func name(_ name: String) -> String {
    if CollectionOperator(rawValue: name) != nil { return name }
    if !isPlainName(name) { return "#" + quoted(name) }
    return isReserved(name) ? "#" + name : name
  }

  static func isPlainName(_ name: String) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.enumerated().allSatisfy { isNameByte($1, first: $0 == 0) }
  }
}
