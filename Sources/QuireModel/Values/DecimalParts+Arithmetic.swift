// Foundation's own arithmetic of decimals stops the process where a result is too large. This does
// not: it says `nil`. Results that need more digits than 38 are rounded to that many, halves away
// from zero, as in Foundation.
extension DecimalParts {
  static func + (left: DecimalParts, right: DecimalParts) -> DecimalParts? {
    if left.mantissa == 0 { return right }
    if right.mantissa == 0 { return left }
    let high = left.exponent > right.exponent ? left : right
    var low = left.exponent > right.exponent ? right : left
    var exponent = high.exponent
    var highMantissa = high.mantissa
    // The larger exponent comes down as far as its digits allow, the smaller one up to meet it.
    while exponent > low.exponent, highMantissa <= largest / 10 {
      highMantissa *= 10
      exponent -= 1
    }
    low = low.rounded(toExponent: exponent)
    guard low.mantissa != 0 else { return high }
    let lowMantissa = low.mantissa(atExponent: exponent)
    if high.isNegative != low.isNegative {
      let isHighLarger = highMantissa >= lowMantissa
      return DecimalParts(
        isNegative: isHighLarger ? high.isNegative : low.isNegative,
        mantissa: isHighLarger ? highMantissa - lowMantissa : lowMantissa - highMantissa,
        exponent: exponent)
    }
    let (sum, overflow) = highMantissa.addingReportingOverflow(lowMantissa)
    return DecimalParts(
      isNegative: high.isNegative, high: overflow ? 1 : 0, low: sum, exponent: exponent)
  }

  static func - (left: DecimalParts, right: DecimalParts) -> DecimalParts? { left + -right }

  static prefix func - (parts: DecimalParts) -> DecimalParts {
    DecimalParts(
      isNegative: !parts.isNegative, mantissa: parts.mantissa, exponent: parts.exponent)
  }

  static func * (left: DecimalParts, right: DecimalParts) -> DecimalParts? {
    let (high, low) = left.mantissa.multipliedFullWidth(by: right.mantissa)
    return DecimalParts(
      isNegative: left.isNegative != right.isNegative, high: high, low: low,
      exponent: left.exponent + right.exponent)
  }

  /// `nil` also for a division by zero.
  static func / (left: DecimalParts, right: DecimalParts) -> DecimalParts? {
    if right.mantissa == 0 { return nil }
    var (quotient, remainder) = left.mantissa.quotientAndRemainder(dividingBy: right.mantissa)
    var exponent = left.exponent - right.exponent
    while remainder != 0, quotient < largest / 10 {
      let (digit, rest) = right.mantissa.dividingFullWidth(
        remainder.multipliedFullWidth(by: 10))
      quotient = quotient * 10 + digit
      remainder = rest
      exponent -= 1
    }
    if remainder >= right.mantissa - remainder, remainder != 0 { quotient += 1 }
    return DecimalParts(
      isNegative: left.isNegative != right.isNegative, mantissa: quotient, exponent: exponent)
  }

  /// The remainder of a division towards zero; `nil` also when the quotient has too many digits.
  static func % (left: DecimalParts, right: DecimalParts) -> DecimalParts? {
    guard let quotient = left / right, quotient.leadingDigit < 38,
      let product = quotient.rounded(.towardZero) * right, let rest = left - product
    else { return nil }
    // A quotient that was rounded up to the next whole number took one too many.
    if rest.mantissa != 0, rest.isNegative != left.isNegative {
      return left.isNegative == right.isNegative ? rest + right : rest - right
    }
    return rest
  }

  /// A whole number: the next one towards zero, up or down.
  func rounded(_ rule: FloatingPointRoundingRule) -> DecimalParts {
    if exponent >= 0 { return self }
    let whole = leadingDigit <= 0 ? 0 : mantissa / Self.powerOfTen(-exponent)
    let isAway = rule == .up ? !isNegative : rule == .down ? isNegative : false
    // Equal numbers have equal parts: with a negative exponent there is a fraction.
    return DecimalParts(
      isNegative: isNegative, mantissa: isAway ? whole + 1 : whole, exponent: 0)
  }

  /// `nil` where a `Decimal` cannot hold the number; too small a number becomes zero.
  var roundedDecimal: DecimalParts? {
    let rounded = exponent < -128 ? self.rounded(toExponent: -128) : self
    return rounded.decimal == nil ? nil : rounded
  }

  // MARK: Digits

  private static let largest: UInt128 = 99_999_999_999_999_999_999_999_999_999_999_999_999

  private func rounded(toExponent wanted: Int) -> DecimalParts {
    if exponent >= wanted { return self }
    let surplus = wanted - exponent
    // More digits than a mantissa can have.
    if surplus > 39 { return DecimalParts(isNegative: false, mantissa: 0, exponent: 0) }
    let tenth = mantissa / Self.powerOfTen(surplus - 1)
    return DecimalParts(
      isNegative: isNegative, mantissa: tenth / 10 + (tenth % 10 >= 5 ? 1 : 0), exponent: wanted)
  }

  /// The digits counted in a unit that is not larger than the last one's.
  private func mantissa(atExponent wanted: Int) -> UInt128 {
    mantissa * Self.powerOfTen(exponent - wanted)
  }

  /// The digits of 256 bits, rounded to as many as a decimal has.
  private init(isNegative: Bool, high: UInt128, low: UInt128, exponent: Int) {
    var (high, low, exponent) = (high, low, exponent)
    var lastDigit: UInt128 = 0
    while high != 0 || low > Self.largest {
      let rest: UInt128
      (high, rest) = high.quotientAndRemainder(dividingBy: 10)
      (low, lastDigit) = UInt128(10).dividingFullWidth((rest, low))
      exponent += 1
    }
    self.init(
      isNegative: isNegative, mantissa: lastDigit >= 5 ? low + 1 : low, exponent: exponent)
  }
}
