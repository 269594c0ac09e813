// Powers, by squaring.
extension Computation {
  func power(
    _ base: Int64, _ exponent: Int64
  ) throws(FetchPredicateError) -> ComputedNumber {
    if exponent < 0 {
      if base == 0 { throw divisionByZero }
      return .double(power(Double(base), exponent))
    }
    var (result, square, rest) = (Int64(1), base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result = try checked(result.multipliedReportingOverflow(by: square)) }
      rest >>= 1
      if rest > 0 { square = try checked(square.multipliedReportingOverflow(by: square)) }
    }
    return .integer(result)
  }

  func power(_ base: Double, _ exponent: Int64) -> Double {
    var (result, square, rest) = (1.0, base, exponent.magnitude)
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      rest >>= 1
      square *= square
    }
    return exponent < 0 ? 1 / result : result
  }

  func power(
    _ base: DecimalParts, _ exponent: DecimalParts
  ) throws(FetchPredicateError) -> DecimalParts? {
    guard let exponent = Double(exponent.text).flatMap({ Int64(exactly: $0) }) else {
      throw error("the exponent of a decimal is not a whole number")
    }
    let one = DecimalParts(isNegative: false, mantissa: 1, exponent: 0)
    var (result, square, rest): (DecimalParts?, DecimalParts?, UInt64) = (
      one, base, exponent.magnitude
    )
    while rest > 0 {
      // Rounded to what a decimal can hold, so that exponents stay small.
      if rest & 1 == 1 { result = try product(result, square) }
      rest >>= 1
      if rest > 0 { square = try product(square, square) }
    }
    guard exponent < 0, let divisor = result else { return result }
    if divisor.mantissa == 0 { throw divisionByZero }
    return one / divisor
  }

  private func product(
    _ left: DecimalParts?, _ right: DecimalParts?
  ) throws(FetchPredicateError) -> DecimalParts? {
    guard let left, let right, let product = (left * right)?.roundedDecimal else { throw overflow }
    return product
  }
}
