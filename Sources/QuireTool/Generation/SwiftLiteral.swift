import Foundation

/// Texts and numbers as Swift code.
enum SwiftLiteral {
  /// A text with its quotation marks, raw where it would have escapes otherwise:
  /// `#"name == "x""#`.
  static func string(_ text: String) -> String {
    let isPrintable = text.unicodeScalars.allSatisfy { isVisible($0) }
    if isPrintable {
      if !text.contains("\\"), !text.contains("\"") { return "\"\(text)\"" }
      let isRaw = ["\"#", "\\#"].allSatisfy { !text.contains($0) } && !text.hasPrefix("\"\"")
      if isRaw { return "#\"\(text)\"#" }
    }
    return "\"\(text.unicodeScalars.map(escaped).joined())\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\\\"
    case "\"": "\\\""
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\0": "\\0"
    case _ where isVisible(scalar): String(scalar)
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }

  /// Whether a reader of the code sees the scalar. What turns the direction of text is not seen.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
      .unassigned:
      false
    default: true
    }
  }

  /// A finite number in the fewest digits that read back as the same, whole ones without fraction.
  static func number(_ value: Double) -> String { withoutFraction("\(value)") }
  static func number(_ value: Float) -> String { withoutFraction("\(value)") }

  private static func withoutFraction(_ text: String) -> String {
    text.hasSuffix(".0") && text != "-0.0" ? String(text.dropLast(2)) : text
  }

  static func date(_ date: Date) -> String {
    let interval = date.timeIntervalSinceReferenceDate
    let number = interval.isFinite ? number(interval) : special(interval)
    return "Date(timeIntervalSinceReferenceDate: \(number))"
  }

  /// A number that is no digits: `.infinity`.
  static func special(_ value: Double) -> String {
    value.isNaN ? ".nan" : value > 0 ? ".infinity" : "-.infinity"
  }

  static func data(_ data: Data) -> String {
    if data.isEmpty { return "Data()" }
    if data.count <= 16 { return "Data([\(data.map { "\($0)" }.joined(separator: ", "))])" }
    return "Data(base64Encoded: \(string(data.base64EncodedString())))!"
  }

  /// Whether the code reads a decimal number through the nearest `Double` and gets it whole.
  static func isExact(_ value: Decimal) -> Bool {
    guard value.isFinite, let number = Double("\(value)"), number.isFinite else { return false }
    return Decimal(string: "\(number)") == value
  }
}
