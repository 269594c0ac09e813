import Quire
import QuireSimulation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values that are easily confused: at the ends of their types, nearly equal, equal in another
/// spelling, too long for a key.
enum IndexValues {
  static let types: [AttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .double, .float, .decimal, .string, .date, .uuid,
    .uri,
  ]

  private static let long = String(repeating: "a long text ", count: 30)

  static let texts = [
    "", "a", "A", "b", "ab", "abc", "a\u{0}", "a\u{0}b", "a\u{1}", "é", "e\u{301}", "e", "ez", "f",
    "ß", "日本", "e\u{301}a", "\u{212B}", "Å", "\r\n", "\r", "한", "\u{1112}\u{1161}\u{11AB}", long,
    long + "x", long + "y", String(long.dropLast(150)), long + "\u{0}",
    String(repeating: "\u{0}", count: 300), String(repeating: "é", count: 200),
  ]

  static let doubles: [Double] = [
    0, -0.0, 1, -1, 1.5, 1.33, 1e300, -1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
    0x1p53, 0x1p63, -0x1p63, 16_777_217, 0.1, 2, 3,
  ]

  static let integers: [Int64] = [
    0, 1, -1, 2, 3, 300, -300, 32_767, -32_768, 70_000, 1 << 53 + 1, .max, .min, 16_777_217,
  ]

  static let decimals = [
    "0", "1", "-1", "1.33", "0.1", "0.01", "123456789012345678901234567890.5", "-0.001", "1e100",
    "1e-100", "-1e100", "16777217", "9223372036854775807", "1.5", "99", "100", "101", "-99", "-100",
    "10", "3",
  ].compactMap { Decimal(string: $0) }

  /// A value of the type, now and then absent.
  static func random(
    _ type: AttributeType, using generator: inout SeededGenerator
  ) -> AttributeValue? {
    if generator.below(8) == 0 { return nil }
    func pick<Value>(_ values: [Value]) -> Value { values[generator.below(values.count)] }
    switch type {
    case .boolean: return .boolean(generator.below(2) == 0)
    case .integer16, .integer32, .integer64:
      guard let range = type.integerRange else { return nil }
      return .integer(pick(integers.filter(range.contains)))
    case .double: return .double(pick(doubles))
    case .float: return .float(Float(pick(doubles)))
    case .decimal: return .decimal(generator.below(12) == 0 ? .nan : pick(decimals))
    case .string: return .string(pick(texts))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: pick(doubles)))
    case .uuid:
      var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      bytes.0 = UInt8(generator.below(3)) &* 120
      bytes.15 = UInt8(generator.below(3)) &* 120
      return .uuid(UUID(uuid: bytes))
    case .uri:
      return URL(string: "https://example.org/\(pick(["", "a", "b", "ab", "%20", "z"]))").map {
        .uri($0)
      }
    default: return nil
    }
  }

  /// A value that predicates compare with one of the type, not always of the type itself.
  static func constant(
    for type: AttributeType, using generator: inout SeededGenerator
  ) -> AttributeValue? {
    let numbers: [AttributeType] = [.boolean, .integer64, .double, .float, .decimal]
    let isNumber = numbers.contains(type) || type.integerRange != nil
    let other = isNumber ? numbers[generator.below(numbers.count)] : type
    return random(generator.below(3) == 0 ? other : type, using: &generator)
  }
}
