#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The order of one value relative to another.
package enum ValueOrder: Int, Sendable {
  case ascending = -1
  case same = 0
  case descending = 1

  init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .ascending : right < left ? .descending : .same
  }

  var reversed: ValueOrder { ValueOrder(rawValue: -rawValue).unsafelyUnwrapped }
}

extension AttributeValue {
  /// The order of this value relative to `other`; `nil` when there is none, because they are of
  /// different kinds or one is NaN.
  ///
  /// Numbers of all types and booleans are of one kind:
  /// - Integers, booleans and doubles compare exactly, without rounding one to the other.
  /// - A float and a double compare as floats, so that a stored 1.33 is found by the literal 1.33.
  /// - A decimal and a binary number compare as decimals, where the binary number counts as the
  ///   shortest decimal that names it, for the same reason.
  package func order(
    comparedTo other: AttributeValue, _ options: FetchComparisonOptions = []
  ) -> ValueOrder? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)):
      ValueOrder(left, right)
    case (.string(let left), .string(let right)) where options.contains(.natural):
      NaturalOrder.order(CanonicalText.folded(left, options), CanonicalText.folded(right, options))
    case (.string(let left), .string(let right)):
      CanonicalText.order(
        CanonicalText.folded(left, options), CanonicalText.folded(right, options))
    case (.double(let left), .double(let right)):
      Self.order(left, right)
    case (.date(let left), .date(let right)):
      Self.order(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.uuid(let left), .uuid(let right)):
      withUnsafeBytes(of: left.uuid) { left in
        withUnsafeBytes(of: right.uuid) { Self.order(left, $0) }
      }
    case (.uri(let left), .uri(let right)), (.objectID(let left), .objectID(let right)):
      ValueOrder(left.absoluteString, right.absoluteString)
    case (.binary(let left), .binary(let right)), (.transformed(let left), .transformed(let right)):
      left.withUnsafeBytes { left in right.withUnsafeBytes { Self.order(left, $0) } }
    default:
      numericOrder(comparedTo: other)
    }
  }

  /// Whether a predicate treats the two values as equal; NaN equals NaN.
  package func isAlike(_ other: AttributeValue, _ options: FetchComparisonOptions = []) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left == right
    case (.string(let left), .string(let right)) where options.isEmpty: left == right
    case (.composite(let left), .composite(let right)):
      left.count == right.count
        && left.allSatisfy { name, value in right[name].map { value.isAlike($0, options) } ?? false
        }
    default:
      order(comparedTo: other, options) == .same
        || (isNotANumber && other.isNotANumber && isDate == other.isDate)
    }
  }

  var isNotANumber: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .boolean, .integer, .string, .binary, .uuid, .uri, .transformed, .objectID, .composite:
      false
    }
  }

  private var isDate: Bool { if case .date = self { true } else { false } }

  private static func order<Number: BinaryFloatingPoint>(
    _ left: Number, _ right: Number
  ) -> ValueOrder? {
    left < right ? .ascending : left > right ? .descending : left == right ? .same : nil
  }

  private static func order(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ValueOrder {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      return left[index] < right[index] ? .ascending : .descending
    }
    return ValueOrder(left.count, right.count)
  }
}

// MARK: Numbers of different types

extension AttributeValue {
  private var asInteger: Int64? {
    switch self {
    case .integer(let integer): integer
    case .boolean(let flag): flag ? 1 : 0
    case .double, .float, .decimal, .string, .date, .binary, .uuid, .uri, .transformed, .objectID,
      .composite:
      nil
    }
  }

  private func numericOrder(comparedTo other: AttributeValue) -> ValueOrder? {
    switch (self, other) {
    case (.float(let left), .float(let right)): return Self.order(left, right)
    case (.float(let left), .double(let right)): return Self.order(left, Float(right))
    case (.double(let left), .float(let right)): return Self.order(Float(left), right)
    case (.decimal(let left), .decimal(let right)):
      return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    default: break
    }
    if let left = asInteger {
      if let right = other.asInteger { return ValueOrder(left, right) }
      return Self.order(left, comparedTo: other)
    }
    if let right = other.asInteger {
      return Self.order(right, comparedTo: self)?.reversed
    }
    if case .decimal(let left) = self { return Self.order(left, comparedTo: other) }
    if case .decimal(let right) = other { return Self.order(right, comparedTo: self)?.reversed }
    return nil
  }

  private static func order(_ left: Int64, comparedTo right: AttributeValue) -> ValueOrder? {
    switch right {
    case .double(let right): order(left, right)
    case .float(let right): order(left, Double(right))
    case .decimal(let right): right.isNaN ? nil : ValueOrder(Decimal(left), right)
    case .boolean, .integer, .string, .date, .binary, .uuid, .uri, .transformed, .objectID,
      .composite:
      nil
    }
  }

  /// Exact: neither side is rounded.
  private static func order(_ left: Int64, _ right: Double) -> ValueOrder? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return .ascending }
    if right < -0x1p63 { return .descending }
    let whole = Int64(right.rounded(.towardZero))
    if left != whole { return ValueOrder(left, whole) }
    return order(Double(0), right - right.rounded(.towardZero))
  }

  private static func order(_ left: Decimal, comparedTo right: AttributeValue) -> ValueOrder? {
    let infinity: Double
    let parts: DecimalParts?
    switch right {
    case .double(let number): (infinity, parts) = (number, DecimalParts(number))
    case .float(let number): (infinity, parts) = (Double(number), DecimalParts(number))
    case .boolean, .integer, .decimal, .string, .date, .binary, .uuid, .uri, .transformed,
      .objectID, .composite:
      return nil
    }
    guard let left = DecimalParts(left) else { return nil }
    if let parts { return ValueOrder(left, parts) }
    return infinity.isNaN ? nil : infinity > 0 ? .ascending : .descending
  }
}
