#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A number as arithmetic sees it.
enum ComputedNumber {
  case integer(Int64)
  case double(Double)
  /// Kept with its type, because it counts as another decimal than the double of its value.
  case float(Float)
  /// `nil` is not a number.
  case decimal(DecimalParts?)

  var double: Double {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    case .float(let number): Double(number)
    case .decimal(let parts): parts.flatMap { Double($0.text) } ?? .nan
    }
  }

  /// The value as a decimal; `nil` if it is not finite.
  fileprivate var decimal: DecimalParts? {
    switch self {
    case .integer(let number):
      DecimalParts(
        isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
    case .double(let number): DecimalParts(number)
    case .float(let number): DecimalParts(number)
    case .decimal(let parts): parts
    }
  }

  /// - Throws: when a decimal cannot hold the number.
  func value(or computation: Computation) throws(FetchPredicateError) -> AttributeValue {
    switch self {
    case .integer(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .float(let number): return .float(number)
    case .decimal(nil): return .decimal(.nan)
    case .decimal(let parts?):
      guard let decimal = parts.roundedDecimal?.decimal else { throw computation.overflow }
      return .decimal(decimal)
    }
  }
}

extension DecimalParts {
  /// As numbers are written in text.
  var text: String { "\(isNegative ? "-" : "")\(mantissa)e\(exponent)" }
}

extension Computation {
  var overflow: FetchPredicateError {
    error("the result is too large for the type of its numbers")
  }

  var divisionByZero: FetchPredicateError {
    error("a division by zero; TERNARY(x == 0, nil, y / x) would avoid it")
  }

  func number(_ value: PredicateValue) throws(FetchPredicateError) -> ComputedNumber {
    switch value {
    case .value(.integer(let number)): return .integer(number)
    case .value(.boolean(let flag)): return .integer(flag ? 1 : 0)
    case .value(.double(let number)): return .double(number)
    case .value(.float(let number)): return .float(number)
    case .value(.decimal(let number)): return .decimal(DecimalParts(number))
    default: throw error("\(value) is not a number")
    }
  }

  // MARK: One operand

  func unary(_ number: ComputedNumber) throws(FetchPredicateError) -> ComputedNumber {
    if function == .squareRoot { return .double(number.double.squareRoot()) }
    switch number {
    case .integer(let number): return .integer(try unary(number))
    case .double(let number): return .double(try unary(number))
    case .float(let number): return .double(try unary(Double(number)))
    case .decimal(let parts):
      guard let parts else { return .decimal(nil) }
      switch function {
      case .negate: return .decimal(-parts)
      case .absolute: return .decimal(parts.isNegative ? -parts : parts)
      case .ceiling: return .decimal(parts.rounded(.up))
      case .floor: return .decimal(parts.rounded(.down))
      case .truncated: return .decimal(parts.rounded(.towardZero))
      default: throw error("it needs an integer")
      }
    }
  }

  private func unary(_ number: Int64) throws(FetchPredicateError) -> Int64 {
    switch function {
    case .negate: return try checked(Int64(0).subtractingReportingOverflow(number))
    case .absolute:
      return number < 0 ? try checked(Int64(0).subtractingReportingOverflow(number)) : number
    case .onesComplement: return ~number
    case .ceiling, .floor, .truncated: return number
    default: throw error("it is no function of one integer")
    }
  }

  private func unary(_ number: Double) throws(FetchPredicateError) -> Double {
    switch function {
    case .negate: return -number
    case .absolute: return number.magnitude
    case .ceiling: return number.rounded(.up)
    case .floor: return number.rounded(.down)
    case .truncated: return number.rounded(.towardZero)
    default: throw error("it needs an integer")
    }
  }

  func checked(
    _ result: (partialValue: Int64, overflow: Bool)
  ) throws(FetchPredicateError) -> Int64 {
    if result.overflow { throw overflow }
    return result.partialValue
  }

  // MARK: Two operands

  func binary(
    _ left: PredicateValue, _ right: PredicateValue
  ) throws(FetchPredicateError) -> AttributeValue {
    switch (function, left, right) {
    case (.subtract, .value(.date(let left)), .value(.date(let right))):
      return .double(left.timeIntervalSince(right))
    case (.add, .value(.date(let date)), _): return .date(date + (try number(right).double))
    case (.add, _, .value(.date(let date))): return .date(date + (try number(left).double))
    case (.subtract, .value(.date(let date)), _): return .date(date - (try number(right).double))
    default: return try binary(try number(left), try number(right)).value(or: self)
    }
  }

  func binary(
    _ left: ComputedNumber, _ right: ComputedNumber
  ) throws(FetchPredicateError) -> ComputedNumber {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return try binary(left, right)
    case (.decimal, _), (_, .decimal):
      guard let left = left.decimal, let right = right.decimal else { return .decimal(nil) }
      return .decimal(try binary(left, right))
    default: return .double(try binary(left.double, right.double))
    }
  }

  private func binary(
    _ left: Int64, _ right: Int64
  ) throws(FetchPredicateError) -> ComputedNumber {
    switch function {
    case .add: return .integer(try checked(left.addingReportingOverflow(right)))
    case .subtract: return .integer(try checked(left.subtractingReportingOverflow(right)))
    case .multiply: return .integer(try checked(left.multipliedReportingOverflow(by: right)))
    case .divide:
      if right == 0 { throw divisionByZero }
      return .integer(try checked(left.dividedReportingOverflow(by: right)))
    case .modulus:
      if right == 0 { throw divisionByZero }
      // The only overflow has no remainder.
      return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
    case .power: return try power(left, right)
    case .bitwiseAnd: return .integer(left & right)
    case .bitwiseOr: return .integer(left | right)
    case .bitwiseXor: return .integer(left ^ right)
    case .leftShift: return .integer(left << right)
    case .rightShift: return .integer(left >> right)
    default: throw error("it is no arithmetic")
    }
  }

  private func binary(_ left: Double, _ right: Double) throws(FetchPredicateError) -> Double {
    switch function {
    case .add: return left + right
    case .subtract: return left - right
    case .multiply: return left * right
    case .divide: return left / right
    case .modulus: return left.truncatingRemainder(dividingBy: right)
    case .power:
      if right == 0.5 { return left.squareRoot() }
      guard let exponent = Int64(exactly: right) else {
        throw error("the exponent \(right) is neither whole nor a half")
      }
      return power(left, exponent)
    default: throw error("it needs integers")
    }
  }

  private func binary(
    _ left: DecimalParts, _ right: DecimalParts
  ) throws(FetchPredicateError) -> DecimalParts {
    let result: DecimalParts?
    switch function {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide, .modulus:
      if right.mantissa == 0 { throw divisionByZero }
      result = function == .divide ? left / right : left % right
    case .power: result = try power(left, right)
    default: throw error("it needs integers")
    }
    guard let result = result?.roundedDecimal else { throw overflow }
    return result
  }
}
