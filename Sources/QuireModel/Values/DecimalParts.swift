#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A decimal number taken apart: `mantissa` × 10 to the power of `exponent`, and a sign.
///
/// Foundation keeps the parts of a `Decimal` to itself; they are needed to write one exactly and to
/// compare it with binary numbers. Equal numbers have equal parts: the mantissa has no factor of
/// ten, and zero is positive with exponent 0. What is not a number has no parts.
package struct DecimalParts: Hashable, Sendable {
  package let isNegative: Bool
  package let mantissa: UInt128
  package let exponent: Int

  package init(isNegative: Bool, mantissa: UInt128, exponent: Int) {
    var mantissa = mantissa
    var exponent = exponent
    while mantissa != 0 {
      let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 { break }
      mantissa = quotient
      exponent += 1
    }
    self.isNegative = isNegative && mantissa != 0
    self.mantissa = mantissa
    self.exponent = mantissa == 0 ? 0 : exponent
  }

  /// The parts of `decimal`, or `nil` when it is not a number.
  package init?(_ decimal: Decimal) {
    if decimal.isNaN { return nil }
    self.init(text: decimal.description)
  }

  /// The parts of the shortest decimal that names `number`; `nil` unless it is finite.
  package init?(_ number: Double) {
    guard number.isFinite else { return nil }
    self.init(text: number.description)
  }

  /// The parts of the shortest decimal that names `number`; `nil` unless it is finite.
  package init?(_ number: Float) {
    guard number.isFinite else { return nil }
    self.init(text: number.description)
  }

  /// Reads a number such as `-12.5e-7`; `nil` for other text and for more than 128 bits of digits.
  package init?(text: some StringProtocol) {
    var isNegative = false
    var mantissa: UInt128 = 0
    var exponent = 0
    var digitCount = 0
    var zeroCount = 0
    var hasPoint = false
    var rest = text.utf8[...]
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      rest.removeFirst()
    }
    while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      rest.removeFirst()
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
        continue
      }
      guard byte &- 0x30 < 10 else { return nil }
      digitCount += 1
      if hasPoint { exponent -= 1 }
      // Zeros wait until another digit follows: a number may end in a hundred of them.
      zeroCount += 1
      if byte == 0x30 { continue }
      for _ in 0..<(mantissa == 0 ? 0 : zeroCount) {
        let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
        if overflow { return nil }
        mantissa = product
      }
      let (sum, overflow) = mantissa.addingReportingOverflow(UInt128(byte - 0x30))
      if overflow { return nil }
      mantissa = sum
      zeroCount = 0
    }
    exponent += zeroCount
    if digitCount == 0 { return nil }
    if !rest.isEmpty {
      guard let written = Int16(String(decoding: rest.dropFirst(), as: UTF8.self)) else {
        return nil
      }
      exponent += Int(written)
    }
    self.init(isNegative: isNegative, mantissa: mantissa, exponent: exponent)
  }

  /// The number these parts make, or `nil` when a `Decimal` cannot hold it exactly.
  package var decimal: Decimal? {
    // A Decimal has an exponent of one byte; digits may make up for what lies outside.
    var mantissa = mantissa
    var exponent = exponent
    while exponent > 127 {
      let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      mantissa = product
      exponent -= 1
    }
    if exponent < -128 { return nil }
    let high = Decimal(UInt64(truncatingIfNeeded: mantissa >> 64))
    let low = Decimal(UInt64(truncatingIfNeeded: mantissa))
    let magnitude = high.isZero ? low : high * Self.twoToThe64th + low
    let decimal = Decimal(
      sign: isNegative ? .minus : .plus, exponent: exponent, significand: magnitude)
    if !decimal.isNaN { return decimal }
    // Arithmetic drops trailing zeros, and the exponent that makes up for them may be one too many.
    return Decimal(string: "\(isNegative ? "-" : "")\(mantissa)e\(exponent)")
  }

  private static let twoToThe64th = Decimal(UInt64.max) + 1
}

extension DecimalParts: Comparable {
  package static func < (left: DecimalParts, right: DecimalParts) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    return left.isNegative
      ? right.isMagnitudeLess(than: left) : left.isMagnitudeLess(than: right)
  }

  private func isMagnitudeLess(than other: DecimalParts) -> Bool {
    if mantissa == 0 || other.mantissa == 0 { return mantissa == 0 && other.mantissa != 0 }
    let (own, others) = (leadingDigit, other.leadingDigit)
    if own != others { return own < others }
    // The first digits have the same power of ten, so the exponents differ by the digits of one
    // mantissa: at most 38, and scaling the shorter mantissa gives it no more digits than the
    // longer one.
    let (difference, otherDifference) = (exponent - other.exponent, other.exponent - exponent)
    let (scaled, overflow) = mantissa.multipliedReportingOverflow(by: Self.powerOfTen(difference))
    let (otherScaled, otherOverflow) = other.mantissa.multipliedReportingOverflow(
      by: Self.powerOfTen(otherDifference))
    if overflow || otherOverflow { return otherOverflow && !overflow }
    return scaled < otherScaled
  }

  /// The power of ten of the first digit.
  var leadingDigit: Int {
    var count = 0
    var rest = mantissa
    while rest != 0 {
      rest /= 10
      count += 1
    }
    return exponent + count
  }

  static func powerOfTen(_ exponent: Int) -> UInt128 {
    exponent <= 0 ? 1 : (0..<exponent).reduce(1) { power, _ in power * 10 }
  }
}

extension Decimal {
  /// The shortest decimal that names `number`, as it is written: 19.99, where Foundation's own
  /// conversion makes 19.98999999999999488. `nil` when no `Decimal` holds it, such as infinity, at
  /// which that conversion stops the process.
  package init?(shortest number: Double) {
    self.init(DecimalParts(number), isNaN: number.isNaN)
  }

  /// The shortest decimal that names a `Float`, which has fewer digits.
  package init?(shortest number: Float) {
    self.init(DecimalParts(number), isNaN: number.isNaN)
  }

  private init?(_ parts: DecimalParts?, isNaN: Bool) {
    guard let decimal = isNaN ? .nan : parts?.decimal else { return nil }
    self = decimal
  }
}
