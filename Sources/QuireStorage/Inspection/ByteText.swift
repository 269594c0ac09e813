/// Bytes as text that a terminal can be trusted with.
package enum ByteText {
  /// Printable text in quotation marks, everything else escaped; bytes that are no UTF-8 as
  /// hexadecimal digits. At most `limit` characters, then an ellipsis.
  package static func readable(_ bytes: [UInt8], limit: Int) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), isMostlyText(text) else {
      let shown = bytes.prefix(max(1, limit / 2)).map { hex(UInt64($0), digits: 2) }.joined()
      return "x'\(shown)\(bytes.count > max(1, limit / 2) ? "…" : "")'"
    }
    return "“\(escaped(text, limit: limit))”"
  }

  /// The text with everything that is not plainly printable escaped.
  package static func escaped(_ text: String, limit: Int) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      guard count < limit else { return result + "…" }
      let isPlain = isPrintable(scalar)
      let piece = isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
      result += scalar == "\\" ? "\\\\" : piece
      count += 1
    }
    return result
  }

  private static func isMostlyText(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { isPrintable($0) }
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator:
      false
    default: true
    }
  }

  /// The number in upper-case hexadecimal digits.
  package static func hex(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
