import Foundation
import Quire
import QuireModel

/// How two values of attributes compare by `docs/predicates.md`, in plain Swift: nothing of the
/// engine's is asked for it.
enum PlainComparison {
  /// Whether a predicate takes the two for one value.
  static func areEqual(
    _ left: AttributeValue?, _ right: AttributeValue?, ignoringCase: Bool
  ) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?):
      isNaN(left) && isNaN(right) && isDate(left) == isDate(right)
        || order(left, right, ignoringCase: ignoringCase) == 0
    default: false
    }
  }

  /// -1, 0 or 1; `nil` where no order holds.
  static func order(
    _ left: AttributeValue?, _ right: AttributeValue?, ignoringCase: Bool
  ) -> Int? {
    switch (left, right) {
    case (.string(let left)?, .string(let right)?):
      let (left, right) = ignoringCase ? (folded(left), folded(right)) : (left, right)
      return textOrder(left, right)
    case (.date(let left)?, .date(let right)?):
      return order(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.uuid(let left)?, .uuid(let right)?): return sign(left.uuidString, right.uuidString)
    case (.uri(let left)?, .uri(let right)?):
      return sign(left.absoluteString, right.absoluteString)
    case (let left?, let right?): return numericOrder(left, right)
    default: return nil
    }
  }

  /// The order of a sort, in which absent values come before what is not a number, and that before
  /// all others.
  static func sortingOrder(
    _ left: AttributeValue?, _ right: AttributeValue?, ignoringCase: Bool
  ) -> Int {
    if let order = order(left, right, ignoringCase: ignoringCase) { return order }
    func rank(_ value: AttributeValue?) -> Int { value.map { isNaN($0) ? 1 : 2 } ?? 0 }
    return sign(rank(left), rank(right))
  }

  /// Texts without their case. Enough for the letters of the tests.
  static func folded(_ text: String) -> String { text.uppercased().lowercased() }

  private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Composed by Foundation, which does it with code of its own. Swift's `<` will not do: it puts
  /// the sign for kelvin, which is equal to `K`, behind `"K\n"`, and `K` before it.
  private static func textOrder(_ left: String, _ right: String) -> Int {
    let (left, right) = (
      left.precomposedStringWithCanonicalMapping.unicodeScalars,
      right.precomposedStringWithCanonicalMapping.unicodeScalars
    )
    return left.lexicographicallyPrecedes(right)
      ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
  }

  private static func isDate(_ value: AttributeValue) -> Bool {
    if case .date = value { true } else { false }
  }

  private static func isNaN(_ value: AttributeValue) -> Bool {
    switch value {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }

  // MARK: Numbers

  private static func order<Number: BinaryFloatingPoint>(_ left: Number, _ right: Number) -> Int? {
    left.isNaN || right.isNaN ? nil : sign(left, right)
  }

  private static func integer(_ value: AttributeValue) -> Int64? {
    switch value {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): number
    default: nil
    }
  }

  private static func numericOrder(_ left: AttributeValue, _ right: AttributeValue) -> Int? {
    switch (left, right) {
    case (.double(let left), .double(let right)): return order(left, right)
    case (.float(let left), .float(let right)): return order(left, right)
    case (.float(let left), .double(let right)): return order(left, Float(right))
    case (.double(let left), .float(let right)): return order(Float(left), right)
    case (.decimal(let left), _) where left.isNaN: return nil
    case (.decimal(let left), .decimal(let right)): return right.isNaN ? nil : sign(left, right)
    case (.decimal(let left), .double(let right)):
      return order(left, Double(right), "\(right)")
    case (.decimal(let left), .float(let right)):
      return order(left, Double(right), "\(right)")
    default: break
    }
    switch (integer(left), integer(right)) {
    case (let left?, let right?): return sign(left, right)
    case (let left?, nil):
      switch right {
      case .double(let right): return order(left, right)
      case .float(let right): return order(left, Double(right))
      case .decimal(let right): return right.isNaN ? nil : sign(Decimal(left), right)
      default: return nil
      }
    case (nil, let right?):
      if case .decimal(let left) = left { return sign(left, Decimal(right)) }
      return numericOrder(.integer(right), left).map { -$0 }
    default:
      // The pairs above the other way round.
      guard case .decimal = right else { return nil }
      if case .decimal = left { return nil }
      return numericOrder(right, left).map { -$0 }
    }
  }

  /// Without rounding either.
  private static func order(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 9_223_372_036_854_775_808 { return -1 }
    if right < -9_223_372_036_854_775_808 { return 1 }
    let whole = right.rounded(.down)
    return left != Int64(whole) ? sign(left, Int64(whole)) : whole < right ? -1 : 0
  }

  /// - Parameter digits: the shortest decimal that names the binary number.
  private static func order(_ left: Decimal, _ right: Double, _ digits: String) -> Int? {
    if right.isNaN { return nil }
    // Beyond what a decimal can be.
    if abs(right) > 1e120 { return right > 0 ? -1 : 1 }
    if right != 0, abs(right) < 1e-120 {
      return left > 0 ? 1 : left < 0 ? -1 : right > 0 ? -1 : 1
    }
    return Decimal(string: digits).map { sign(left, $0) }
  }
}
