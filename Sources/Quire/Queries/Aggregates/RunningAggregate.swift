import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One aggregate of one group, updated value by value.
///
/// The result is what ``Computation`` makes of a list of the values, except that absent ones are
/// skipped, also in an average, as in SQL.
struct RunningAggregate {
  /// The number of values taken.
  private(set) var count = 0
  // The result so far; `form` says which of the three holds it.
  private var integer: Int64 = 0
  /// What a sum of integers has beyond 64 bits, in units of 2^64.
  private var carry: Int64 = 0
  private var double = 0.0
  private var form = Form.none
  /// A result that is neither a plain integer nor a plain double: a decimal, a text, a date.
  private var value: PredicateValue?
  private var distinct: Set<GroupKey>?
  /// All numbers, for what has to see them together.
  private var numbers: [Double]?

  private enum Form: UInt8 {
    case none, integer, double, value
  }

  /// Counts an object, with or without values.
  @inline(__always)
  mutating func countObject() { count += 1 }

  mutating func countObjects(_ number: Int) { count += number }

  // MARK: Numbers

  @inline(__always)
  mutating func take(_ number: Int64, _ function: AggregateFunction) throws {
    guard form == .integer || form == .none else {
      return try takeValue(.value(.integer(number)), function)
    }
    switch function {
    case .count: break
    case .distinctCount: return try takeValue(.value(.integer(number)), function)
    case .sum, .average:
      let (sum, isTooLarge) = integer.addingReportingOverflow(number)
      // The number of values has 64 bits, so that the carry does, too.
      if isTooLarge { carry += number > 0 ? 1 : -1 }
      integer = sum
    case .minimum: if count == 0 || number < integer { integer = number }
    case .maximum: if count == 0 || number > integer { integer = number }
    case .median, .standardDeviation: collect(Double(number))
    }
    if form == .none { form = .integer }
    count += 1
  }

  @inline(__always)
  mutating func take(_ number: Double, _ function: AggregateFunction) throws {
    guard form == .double || form == .none, !number.isNaN else {
      return try takeValue(.value(.double(number)), function)
    }
    switch function {
    case .count: break
    case .distinctCount: return try takeValue(.value(.double(number)), function)
    case .sum, .average: double += number
    // NaN yields to every number, and replaces none.
    case .minimum: if count == 0 || double.isNaN || number < double { double = number }
    case .maximum: if count == 0 || double.isNaN || number > double { double = number }
    case .median, .standardDeviation: collect(number)
    }
    form = .double
    count += 1
  }

  @inline(never)
  private mutating func collect(_ number: Double) {
    numbers?.append(number) ?? (numbers = [number])
  }

  // MARK: Values

  mutating func take(_ value: PredicateValue?, _ function: AggregateFunction) throws {
    switch value {
    case nil: return
    case .value(.integer(let number))?: try take(number, function)
    case .value(.double(let number))?: try take(number, function)
    case .value(.float(let number))? where function.isOfNumbers: try take(Double(number), function)
    case .value(.boolean(let flag))? where function.isOfNumbers:
      try take(Int64(flag ? 1 : 0), function)
    case .collection(let members)?: for member in members { try take(member, function) }
    case let value?: try takeValue(value, function)
    }
  }

  @inline(never)
  private mutating func takeValue(
    _ next: PredicateValue, _ function: AggregateFunction
  ) throws {
    count += 1
    switch function {
    case .count: return
    case .distinctCount:
      distinct = distinct ?? []
      distinct?.insert(GroupKey(next))
    case .sum, .average: try combine(next, .sum)
    case .minimum: try combine(next, .minimum)
    case .maximum: try combine(next, .maximum)
    case .median, .standardDeviation:
      if case .value(.double(let number))? = try spread(.median, [next]) { collect(number) }
    }
  }

  private mutating func combine(
    _ next: PredicateValue, _ function: FetchExpression.Function
  ) throws {
    do {
      value = try Computation(function).aggregate([current, next])
      form = .value
      carry = 0
    } catch {
      throw PersistenceError(error)
    }
  }

  private func spread(
    _ function: FetchExpression.Function, _ values: [PredicateValue?]
  ) throws -> PredicateValue? {
    do {
      return try Computation(function).aggregate(values)
    } catch {
      throw PersistenceError(error)
    }
  }

  /// The result so far; `nil` before the first value.
  private var current: PredicateValue? {
    switch form {
    case .none: nil
    case .integer: carry == 0 ? .value(.integer(integer)) : .value(.decimal(decimalSum))
    case .double: .value(.double(double))
    case .value: value
    }
  }

  /// The sum of integers, whatever its size.
  private var wholeSum: Int128 { Int128(carry) << 64 + Int128(integer) }

  private var decimalSum: Decimal {
    let sum = wholeSum
    let parts = DecimalParts(isNegative: sum < 0, mantissa: sum.magnitude, exponent: 0)
    // A decimal has 128 bits of digits.
    return parts.decimal ?? .nan
  }

  // MARK: The end

  func result(_ function: AggregateFunction) throws -> PredicateValue? {
    if form == .integer, carry != 0, function == .sum {
      throw PersistenceError(
        .invalidExpression,
        "the sum is too large for 64 bits: sum doubles or decimals, or smaller groups")
    }
    switch function {
    case .count: return .value(.integer(Int64(count)))
    case .distinctCount: return .value(.integer(Int64(distinct?.count ?? 0)))
    case .sum: return count == 0 ? .value(.integer(0)) : current
    case .minimum, .maximum: return current
    case .median, .standardDeviation:
      return try spread(
        function == .median ? .median : .standardDeviation,
        (numbers ?? []).map { .value(.double($0)) })
    case .average:
      guard count > 0, let sum = current else { return nil }
      if form == .integer { return .value(.double(Double(wholeSum) / Double(count))) }
      switch sum {
      case .value(.double(let sum)): return .value(.double(sum / Double(count)))
      default:
        do {
          return try Computation(.divide).value([sum, .value(.integer(Int64(count)))])
        } catch {
          throw PersistenceError(error)
        }
      }
    }
  }
}

/// The function that an aggregate applies to the values of a group.
package enum AggregateFunction {
  case count, distinctCount, sum, average, minimum, maximum
  /// As the functions of the same names, of all the values: O(*n*) memory.
  case median, standardDeviation

  /// Whether numbers and Booleans of all types are taken by their numeric value.
  fileprivate var isOfNumbers: Bool {
    switch self {
    case .count, .sum, .average, .median, .standardDeviation: true
    case .distinctCount, .minimum, .maximum: false
    }
  }
}
