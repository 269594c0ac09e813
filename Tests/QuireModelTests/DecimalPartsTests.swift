import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct DecimalPartsTests {
  @Test(arguments: [
    "0", "1", "-1", "0.1", "123.4500", "-99999999999999999999999999999999999999",
    "340282366920938463463374607431768211455", "1e127", "1e-128", "-12.5e-7", "1000000",
  ])
  func `a decimal taken apart and put together is the same decimal`(text: String) throws {
    let decimal = try #require(Decimal(string: text))
    let parts = try #require(DecimalParts(decimal))
    #expect(parts.decimal == decimal)
    #expect(DecimalParts(text: text) == parts)
  }

  @Test func `any decimal survives, and its parts have its order`() throws {
    var random = SeededGenerator(seed: 7)
    func decimal() -> (Decimal, DecimalParts)? {
      let mantissa =
        UInt128.random(in: 0...UInt128.max, using: &random)
        >> UInt128.random(in: 0...127, using: &random)
      let parts = DecimalParts(
        isNegative: .random(using: &random), mantissa: mantissa,
        exponent: .random(in: -128...127, using: &random))
      return parts.decimal.map { ($0, parts) }
    }
    for _ in 0..<Amount.of(debug: 700, release: 2000) {
      let (left, leftParts) = try #require(decimal())
      let (right, rightParts) = try #require(decimal())
      #expect(DecimalParts(left) == leftParts)
      #expect((left < right) == (leftParts < rightParts), "\(left) \(right)")
      #expect((left == right) == (leftParts == rightParts), "\(left) \(right)")
    }
  }

  @Test func `equal numbers have equal parts`() {
    #expect(DecimalParts(text: "1.50") == DecimalParts(text: "15e-1"))
    #expect(DecimalParts(text: "-0.00") == DecimalParts(text: "0"))
    #expect(DecimalParts(1e22 as Double) == DecimalParts(text: "10000000000000000000000"))
  }

  @Test(arguments: ["", "-", ".", "e5", "1e", "1.2.3", "1x", "1e99999", "٣"])
  func `other text has no parts`(text: String) { #expect(DecimalParts(text: text) == nil) }

  @Test func `NaN and infinity have no parts, and a huge exponent no decimal`() {
    #expect(DecimalParts(Decimal.nan) == nil)
    #expect(DecimalParts(Double.infinity) == nil)
    #expect(DecimalParts(isNegative: false, mantissa: 1, exponent: 400).decimal == nil)
  }
}
