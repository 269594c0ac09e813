import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct NumberConversionTests {
  private static let types: [AttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
  ]

  private static func decimal(_ text: String) -> AttributeValue {
    .decimal(Decimal(string: text) ?? .nan)
  }

  /// Numbers at the edges of each type.
  private static func values(of type: AttributeType) -> [AttributeValue] {
    switch type {
    case .boolean: [.boolean(false), .boolean(true)]
    case .integer16: [0, 1, -1, 2, Int16.min, Int16.max].map { .integer(Int64($0)) }
    case .integer32: [0, 1, Int32.min, Int32.max, 16_777_217, 70_000].map { .integer(Int64($0)) }
    case .integer64:
      [0, 1, Int64.min, Int64.max, 1 << 53, 1 << 53 + 1, 1 << 24 + 1].map { .integer($0) }
    case .float:
      [0, -0.0, 1, 0.5, 0.1, -7, .infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        .map { .float($0) }
    case .double:
      [
        0, -0.0, 1, 0.5, 0.1, 19.99, -7, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 1e300,
        0x1p63,
        -0x1p63, 0x1p53, 32768, -32768, 1e-130, Double.greatestFiniteMagnitude,
      ].map { .double($0) }
    default:
      [
        "0", "1", "-1", "0.1", "19.99", "32767", "32768", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "12345678901234567890123456789012345678",
        "0.00000000000000000001", "1e127", "1e-127", "0.333333333333333333333333333333", "1e18",
        "1152921504606846976",
      ].map(decimal) + [.decimal(.nan)]
    }
  }

  /// The number as text, for comparing what has different types; `-0.0` is 0.
  private static func name(_ value: AttributeValue) -> DecimalParts? {
    switch value {
    case .integer(let number): DecimalParts(text: "\(number)")
    case .boolean(let flag): DecimalParts(text: flag ? "1" : "0")
    case .double(let number):
      Int64(exactly: number).map { DecimalParts(text: "\($0)") } ?? DecimalParts(number)
    case .float(let number):
      Int64(exactly: number).map { DecimalParts(text: "\($0)") } ?? DecimalParts(number)
    case .decimal(let number): DecimalParts(number)
    default: nil
    }
  }

  @Test func `a number becomes the same number or none, and a wider type has them all`() throws {
    for source in Self.types {
      #expect(NumberConversion(from: source, to: source) == nil)
      #expect(NumberConversion(from: source, to: .string) == nil)
      #expect(NumberConversion(from: .date, to: source) == nil)
      for destination in Self.types where destination != source {
        let conversion = try #require(NumberConversion(from: source, to: destination))
        let back = try #require(NumberConversion(from: destination, to: source))
        for value in Self.values(of: source) {
          let place: Comment = "\(source) \(value) to \(destination)"
          guard let new = conversion.converted(value) else {
            #expect(conversion.direction == .narrowing, place)
            continue
          }
          #expect(new.isOf(destination), place)
          // There and back is where it was.
          let again = back.converted(new)
          #expect(again.map(Self.name) == Self.name(value), place)
          // Between binary types the bits are those of the same number, whatever its shortest name.
          if case .float(let number) = value, case .double(let double) = new {
            #expect(double == Double(number) || number.isNaN && double.isNaN, place)
          } else if case .double(let number) = value, case .float(let float) = new {
            #expect(Double(float) == number || number.isNaN && float.isNaN, place)
          } else {
            #expect(Self.name(new) == Self.name(value), place)
          }
        }
      }
    }
  }

  @Test func `only what is always exact is a widening`() {
    let widenings = Self.types.flatMap { source in
      Self.types.compactMap { NumberConversion(from: source, to: $0) }
        .filter { $0.direction == .widening }.map { "\($0.source) \($0.destination)" }
    }
    #expect(
      widenings.sorted() == [
        "boolean decimal", "boolean double", "boolean float", "boolean integer16",
        "boolean integer32", "boolean integer64", "float double", "integer16 decimal",
        "integer16 double", "integer16 float", "integer16 integer32", "integer16 integer64",
        "integer32 decimal", "integer32 double", "integer32 integer64", "integer64 decimal",
      ])
  }

  @Test func `a number that does not fit is refused with its value and the reason`() throws {
    let cases: [(AttributeType, AttributeType, AttributeValue, String)] = [
      (.integer32, .integer16, .integer(70_000), "is 70000, which is beyond integer16"),
      (.integer64, .boolean, .integer(2), "is 2, and only 0 and 1 are Booleans"),
      (.double, .boolean, .double(.nan), "is nan, and only 0 and 1 are Booleans"),
      (.double, .integer64, .double(0.5), "is 0.5, and integer64 has no fractions"),
      (.double, .integer64, .double(.nan), "is nan, which no integer64 is"),
      (.double, .integer64, .double(.infinity), "is inf, which no integer64 is"),
      (.double, .integer64, .double(0x1p63), "which is beyond integer64"),
      (.float, .integer16, .float(1e30), "which is beyond integer16"),
      (.decimal, .integer64, .decimal(.nan), "which no integer64 is"),
      (.decimal, .integer64, Self.decimal("9223372036854775808"), "which is beyond integer64"),
      (.decimal, .integer32, Self.decimal("0.1"), "is 0.1, and integer32 has no fractions"),
      (.double, .float, .double(0.1), "is 0.1, which has more digits than float keeps"),
      (.double, .float, .double(1e300), "is 1e+300, which is beyond float"),
      (.integer64, .double, .integer(1 << 53 + 1), "has more digits than double keeps"),
      (.integer32, .float, .integer(16_777_217), "has more digits than float keeps"),
      (.double, .decimal, .double(.infinity), "is inf, which no decimal is"),
      (.double, .decimal, .double(1e300), "is 1e+300, which is beyond decimal"),
      (.decimal, .double, Self.decimal("12345678901234567890"), "more digits than double keeps"),
      // 2 to the power of 60 is a Double, and what the shortest decimal makes of it is none.
      (.decimal, .double, Self.decimal("1152921504606847000"), "more digits than double keeps"),
      (.decimal, .float, Self.decimal("1e100"), "which is beyond float"),
    ]
    for (source, destination, value, words) in cases {
      let conversion = try #require(NumberConversion(from: source, to: destination))
      #expect(conversion.converted(value) == nil, "\(value) to \(destination)")
      let refusal = conversion.refusal(of: value)
      #expect(refusal.contains(words), "\(refusal)")
    }
  }
}
