import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The closed range of a field's numbers that satisfy a comparison with a constant, as a test of
/// rows.
///
/// The rules are those of ``AttributeValue/order(comparedTo:_:)``. Where they do not result in one
/// closed range, as for decimals, there is no interval.
struct NumberInterval {
  let form: RowTest.Form
  private(set) var low: UInt64 = 0
  private(set) var high: UInt64 = 0

  init?(_ orders: RowTest.Orders, _ value: AttributeValue, _ kind: FieldKind) {
    switch kind {
    case .boolean, .integer16, .integer32, .integer64:
      guard let (low, high) = Self.integers(orders, value) else { return nil }
      guard low <= high else {
        form = .never
        return
      }
      form =
        switch kind {
        case .boolean: .boolean
        case .integer16: .integer16
        case .integer32: .integer32
        case .integer64, .double, .float, .date, .uuid, .reference, .string, .binary, .decimal,
          .uri, .transformed, .objectID, .composite:
          .integer64
        }
      (self.low, self.high) = (UInt64(bitPattern: low), UInt64(bitPattern: high))
    case .double, .float, .date:
      guard let number = Self.double(value, kind) else { return nil }
      if number.isNaN {
        // NaN has no order, and equals only NaN.
        form = orders == [.same] ? kind == .float ? .floatNotANumber : .notANumber : .never
        return
      }
      let low = orders.contains(.ascending) ? -.infinity : Self.lowest(orders, number)
      let high = orders.contains(.descending) ? .infinity : Self.highest(orders, number)
      guard let low, let high else {
        form = .never
        return
      }
      form = kind == .float ? .float : .double
      (self.low, self.high) = (low.bitPattern, high.bitPattern)
    case .uuid, .reference, .string, .binary, .decimal, .uri, .transformed, .objectID, .composite:
      return nil
    }
  }

  // MARK: Fractions

  /// The constant as the number with which a field of this kind is compared; `nil` if it has no
  /// exact one.
  private static func double(_ value: AttributeValue, _ kind: FieldKind) -> Double? {
    switch (kind, value) {
    case (.date, .date(let date)): return date.timeIntervalSinceReferenceDate
    case (.double, .double(let number)): return number
    case (.float, .float(let number)): return Double(number)
    // A float and a double are compared as floats.
    case (.float, .double(let number)): return Double(Float(number))
    case (.double, .integer(let number)), (.float, .integer(let number)):
      let near = Double(number)
      return Int64(exactly: near) == number ? near : nil
    case (.double, .boolean(let flag)), (.float, .boolean(let flag)): return flag ? 1 : 0
    default: return nil
    }
  }

  /// The number itself if equality satisfies the comparison, otherwise the next greater one; `nil`
  /// if there is none.
  private static func lowest(_ orders: RowTest.Orders, _ number: Double) -> Double? {
    if orders.contains(.same) { return number }
    return number == .infinity ? nil : number.nextUp
  }

  private static func highest(_ orders: RowTest.Orders, _ number: Double) -> Double? {
    if orders.contains(.same) { return number }
    return number == -.infinity ? nil : number.nextDown
  }

  // MARK: Integers

  private typealias Range = (low: Int64, high: Int64)

  /// The empty range: no integer satisfies the comparison.
  private static let nowhere: Range = (1, 0)

  /// - Returns: `nil` if integers are not compared exactly with such a value.
  private static func integers(_ orders: RowTest.Orders, _ value: AttributeValue) -> Range? {
    let number: Double
    switch value {
    case .integer(let integer): return range(orders, integer)
    case .boolean(let flag): return range(orders, flag ? 1 : 0)
    case .double(let double): number = double
    case .float(let float): number = Double(float)
    default: return nil
    }
    if number.isNaN { return nowhere }
    // Beyond all integers.
    if number >= 0x1p63 { return orders.contains(.ascending) ? (.min, .max) : nowhere }
    if number < -0x1p63 { return orders.contains(.descending) ? (.min, .max) : nowhere }
    let (below, above) = (Int64(number.rounded(.down)), Int64(number.rounded(.up)))
    if below == above { return range(orders, below) }
    if orders.contains(.ascending) { return (.min, below) }
    return orders.contains(.descending) ? (above, .max) : nowhere
  }

  /// The integers that satisfy a comparison with an integer.
  private static func range(_ orders: RowTest.Orders, _ number: Int64) -> Range {
    let distance: Int64 = orders.contains(.same) ? 0 : 1
    if orders.contains(.ascending) {
      let (high, isNone) = number.subtractingReportingOverflow(distance)
      return isNone ? nowhere : (.min, high)
    }
    if orders.contains(.descending) {
      let (low, isNone) = number.addingReportingOverflow(distance)
      return isNone ? nowhere : (low, .max)
    }
    return (number, number)
  }
}
