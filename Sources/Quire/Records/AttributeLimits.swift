import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The smallest and the largest value of an attribute.
struct ValueLimits<Value: Comparable & Sendable>: Sendable {
  var smallest: Value?
  var largest: Value?

  var isEmpty: Bool { smallest == nil && largest == nil }

  /// NaN is outside of every limit.
  func isBelow(_ value: Value) -> Bool { smallest.map { !(value >= $0) } ?? false }
  func isAbove(_ value: Value) -> Bool { largest.map { !(value <= $0) } ?? false }
}

/// The limits of an attribute as values of its type, so that no check has to parse them. A limit of
/// floats is the nearest float: 0.1 is within `0.1...`.
enum AttributeLimitsByType: Sendable {
  case none
  case integers(ValueLimits<Int64>)
  case doubles(ValueLimits<Double>)
  case floats(ValueLimits<Float>)
  case decimals(ValueLimits<Decimal>)
  case dates(ValueLimits<Date>)
  case texts(length: ValueLimits<Int64>, pattern: TextPattern?)

  init(_ validation: AttributeValidation, of type: AttributeType) {
    let smallest = validation.minimumNumber
    let largest = validation.maximumNumber
    switch type {
    case .integer16, .integer32, .integer64:
      let limits = ValueLimits(whole: smallest, largest)
      self = limits.isEmpty ? .none : .integers(limits)
    case .double:
      // Parsed as a double, as a limit such as "above zero" fits no decimal.
      let limits = ValueLimits(
        smallest: validation.minimum.flatMap { Double($0) },
        largest: validation.maximum.flatMap { Double($0) })
      self = limits.isEmpty ? .none : .doubles(limits)
    case .float:
      let limits = ValueLimits(
        smallest: validation.minimum.flatMap { Float($0) },
        largest: validation.maximum.flatMap { Float($0) })
      self = limits.isEmpty ? .none : .floats(limits)
    case .decimal:
      let limits = ValueLimits(smallest: smallest, largest: largest)
      self = limits.isEmpty ? .none : .decimals(limits)
    case .date:
      let limits = ValueLimits(smallest: validation.earliestDate, largest: validation.latestDate)
      self = limits.isEmpty ? .none : .dates(limits)
    case .string:
      let limits = ValueLimits(whole: smallest, largest)
      let pattern = validation.regularExpression.map { TextPattern($0) }
      self = limits.isEmpty && pattern == nil ? .none : .texts(length: limits, pattern: pattern)
    case .undefined, .boolean, .binaryData, .uuid, .uri, .transformable, .objectID, .composite:
      self = .none
    }
  }
}

extension ValueLimits where Value == Int64 {
  /// The whole numbers between two limits.
  fileprivate init(whole smallest: Decimal?, _ largest: Decimal?) {
    self.init(
      smallest: smallest.map { Self.whole($0, isRoundedUp: true) },
      largest: largest.map { Self.whole($0, isRoundedUp: false) })
  }

  private static func whole(_ number: Decimal, isRoundedUp: Bool) -> Int64 {
    let text = number.description
    let parts = text.split(separator: ".", maxSplits: 1)
    let isNegative = text.hasPrefix("-")
    guard let first = parts.first, let whole = Int64(first) else {
      return isNegative ? Int64.min : Int64.max
    }
    guard parts.count == 2, parts[1].contains(where: { $0 != "0" }) else { return whole }
    // Cutting the digits off has rounded towards zero.
    if isRoundedUp { return isNegative || whole == Int64.max ? whole : whole + 1 }
    return isNegative && whole > Int64.min ? whole - 1 : whole
  }
}
