import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A number or boolean of any type, read as other types.
struct PlainNumber {
  private let value: AttributeValue

  /// `nil` if the value is not a number.
  init?(_ plain: Any) {
    guard let plain = plain as? any PredicateConvertible,
      case .value(let value) = plain.predicateValue
    else { return nil }
    switch value {
    case .boolean, .integer, .double, .float, .decimal: self.value = value
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
  }

  /// The number without its fraction; `nil` if it does not fit in an `Int`.
  var integer: Int? {
    switch value {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let number): return Int(exactly: number)
    default:
      // From the decimal itself, as a double has fewer digits.
      if case .decimal(let decimal) = value { return Self.whole(decimal) }
      return Int(exactly: double.rounded(.towardZero))
    }
  }

  private static func whole(_ decimal: Decimal) -> Int? {
    let truncated = try? Computation(.truncated).value([.value(.decimal(decimal))])
    guard case .value(.decimal(let whole)) = truncated else { return nil }
    return Int(whole.description)
  }

  var double: Double {
    switch value {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    case .double(let number): number
    case .float(let number): Double(number)
    case .decimal(let number): Double(number.description) ?? .nan
    default: .nan
    }
  }

  /// `nil` if the number is not finite.
  var decimal: Decimal? {
    switch value {
    case .decimal(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Decimal(number)
    case .double(let number): DecimalParts(number)?.decimal
    case .float(let number): DecimalParts(number)?.decimal
    default: nil
    }
  }

  /// The number in Foundation's format: a boolean as 1 or 0, a whole double without a point.
  var text: String {
    switch value {
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): number.description
    case .double(let number): Self.withoutZero(number.description)
    case .float(let number): Self.withoutZero(number.description)
    case .decimal(let number): number.description
    default: ""
    }
  }

  private static func withoutZero(_ text: String) -> String {
    text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// The number at the beginning of a text, as Foundation reads it: leading spaces are skipped, the
/// rest after the number is ignored, and without a number it is 0.
enum LeadingNumber {
  /// The number; the nearest one of the type if it is out of range.
  static func integer<Number: FixedWidthInteger>(in text: String, as type: Number.Type) -> Number {
    let digits = prefix(of: text, fraction: false)
    return Number(digits) ?? (digits.count < 2 ? 0 : digits.hasPrefix("-") ? .min : .max)
  }

  static func double(in text: String) -> Double { Double(prefix(of: text, fraction: true)) ?? 0 }

  /// Whether the text begins with one of `YyTt` or, after a sign and zeros, with another digit.
  static func flag(in text: String) -> Bool {
    let text = text.drop { $0.isWhitespace }
    if let first = text.first, "YyTt".contains(first) { return true }
    let signless = text.first == "+" || text.first == "-" ? text.dropFirst() : text
    guard let digit = signless.drop(while: { $0 == "0" }).first else { return false }
    return ("1"..."9").contains(digit)
  }

  private static func prefix(of text: String, fraction: Bool) -> String {
    let bytes = Array(text.drop { $0.isWhitespace }.utf8)
    var end = 0
    func isNext(_ characters: String) -> Bool {
      end < bytes.count && characters.utf8.contains(bytes[end])
    }
    func skipDigits() -> Bool {
      let start = end
      while isNext("0123456789") { end += 1 }
      return end > start
    }
    if isNext("+-") { end += 1 }
    var hasDigits = skipDigits()
    if fraction {
      let beforePoint = end
      if isNext(".") {
        end += 1
        let hasFraction = skipDigits()
        if !hasFraction { end = beforePoint }
        hasDigits = hasDigits || hasFraction
      }
      let beforeExponent = end
      if hasDigits, isNext("eE") {
        end += 1
        if isNext("+-") { end += 1 }
        if !skipDigits() { end = beforeExponent }
      }
    }
    return hasDigits ? String(decoding: bytes[..<end], as: UTF8.self) : ""
  }
}
