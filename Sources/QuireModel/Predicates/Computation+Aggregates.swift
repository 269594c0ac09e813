// Functions of many values.
extension Computation {
  /// The sum, average, extreme… of values.
  package func aggregate(
    _ values: [PredicateValue?]
  ) throws(FetchPredicateError) -> PredicateValue? {
    switch function {
    case .minimum, .maximum: return try extreme(values).flatMap { values[$0] }
    case .sum: return .value(try sum(values).value(or: self))
    case .average:
      if values.isEmpty { return .value(.double(0)) }
      if let whole = Self.wholeSum(values) {
        return .value(.double(Double(whole) / Double(values.count)))
      }
      let (sum, count) = (try sum(values), Int64(values.count))
      if case .decimal = sum {
        return .value(
          try Computation(.divide).binary(sum, .integer(count)).value(or: self))
      }
      return .value(.double(sum.double / Double(count)))
    case .median, .standardDeviation: return try spread(values).map { .value(.double($0)) }
    default: throw error("it is no aggregate")
    }
  }

  /// The index of the smallest or largest value. Absent values are skipped; NaN is chosen only if
  /// there is nothing else.
  package func extreme(_ values: [PredicateValue?]) throws(FetchPredicateError) -> Int? {
    var best: (index: Int, value: AttributeValue)?
    for (index, value) in values.enumerated() {
      guard let value else { continue }
      guard case .value(let value) = value else { throw error("\(value) has no order") }
      guard let found = best, !found.value.isNotANumber else {
        best = (index, value)
        continue
      }
      if value.isNotANumber { continue }
      guard let order = value.order(comparedTo: found.value) else {
        throw error("no order holds between two of its values")
      }
      if order == (function == .minimum ? .ascending : .descending) { best = (index, value) }
    }
    return best?.index
  }

  /// The sum of integers, which may have more than 64 bits; `nil` if there is another number.
  private static func wholeSum(_ values: [PredicateValue?]) -> Int128? {
    var sum: Int128 = 0
    for value in values {
      switch value {
      case nil: continue
      case .value(.integer(let number))?: sum += Int128(number)
      case .value(.boolean(let flag))?: sum += flag ? 1 : 0
      default: return nil
      }
    }
    return sum
  }

  private func sum(_ values: [PredicateValue?]) throws(FetchPredicateError) -> ComputedNumber {
    let addition = Computation(.add)
    var sum = ComputedNumber.integer(0)
    for value in values {
      if let value { sum = try addition.binary(sum, try number(value)) }
    }
    return sum
  }

  /// The median or the standard deviation; of nothing there is none.
  private func spread(_ values: [PredicateValue?]) throws(FetchPredicateError) -> Double? {
    var numbers: [Double] = []
    for value in values {
      if let value { numbers.append(try number(value).double) }
    }
    if numbers.isEmpty { return nil }
    if function == .median {
      numbers.sort()
      let middle = numbers.count / 2
      return numbers.count % 2 == 1
        ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2
    }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (squares / Double(numbers.count)).squareRoot()
  }
}
