#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One key of the order in which a fetch returns its objects.
///
/// Absent values come first when ascending. Then, where values of several kinds meet: numbers, with
/// what is not a number before all others; strings in Unicode order; dates; UUIDs; URIs; data byte
/// by byte. `false` is before `true`. Descending is the exact reverse.
public struct FetchSortDescriptor: Hashable, Sendable {
  /// The names from the fetched entity to the value, through to-one relationships.
  public var keyPath: [String]
  public var ascending: Bool
  /// What is ignored when strings are compared.
  public var options: FetchComparisonOptions

  public init(
    keyPath: [String], ascending: Bool = true, options: FetchComparisonOptions = []
  ) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.options = options
  }

  /// - Parameter key: names separated by dots.
  public init(key: String, ascending: Bool = true, options: FetchComparisonOptions = []) {
    let names = FetchExpression.names(in: key)
    self.init(keyPath: names, ascending: ascending, options: options)
  }

  /// The key path as one text.
  public var key: String { keyPath.joined(separator: ".") }

  /// The same key in the other direction.
  public var reversedSortDescriptor: FetchSortDescriptor {
    FetchSortDescriptor(keyPath: keyPath, ascending: !ascending, options: options)
  }
}

extension FetchSortDescriptor: CustomStringConvertible {
  public var description: String {
    "\(key)\(options.isEmpty ? "" : " \(options)") \(ascending ? "ascending" : "descending")"
  }
}

extension FetchSortDescriptor {
  /// How `left` stands to `right` in this descriptor's direction: -1, 0 or 1.
  package func compare(_ left: PredicateValue?, _ right: PredicateValue?) -> Int {
    let order = compareForSorting(left, right, options)
    return ascending ? order : -order
  }
}

/// How `left` stands to `right` when sorting: -1, 0 or 1.
///
/// A total order over the values of any one attribute type. Objects, collections and composites
/// have no order among themselves: 0.
///
/// - Complexity: O(*n*) for strings and data, without an allocation unless `options` fold text.
package func compareForSorting(
  _ left: PredicateValue?, _ right: PredicateValue?, _ options: FetchComparisonOptions = []
) -> Int {
  if case .value(let left)? = left, case .value(let right)? = right {
    if let order = left.order(comparedTo: right, options) { return order.rawValue }
  }
  return ValueOrder(left.sortingRank, right.sortingRank).rawValue
}

/// The place of a value in the order of a sort, as far as 72 bits can say it: what compares as less
/// comes first, and of equal prefixes the values decide.
package struct SortPrefix: Comparable, Sendable {
  private var rank: UInt8
  private var bits: UInt64

  package init(_ value: PredicateValue?, ascending: Bool) {
    rank = UInt8(value.sortingRank)
    bits = SortPrefix.bits(value)
    if !ascending { (rank, bits) = (~rank, ~bits) }
  }

  @inline(__always)
  package static func < (left: SortPrefix, right: SortPrefix) -> Bool {
    left.rank != right.rank ? left.rank < right.rank : left.bits < right.bits
  }

  /// The order of numbers and dates, as a double tells it. Rounding an integer to one makes some
  /// equal, and puts none before a smaller one. Decimals are left to themselves.
  private static func bits(_ value: PredicateValue?) -> UInt64 {
    guard case .value(let value)? = value else { return 0 }
    switch value {
    case .double(let number): return bits(number)
    case .float(let number): return bits(Double(number))
    case .integer(let number): return bits(Double(number))
    case .boolean(let flag): return bits(flag ? 1 : 0)
    case .date(let date): return bits(date.timeIntervalSinceReferenceDate)
    default: return 0
    }
  }

  private static func bits(_ number: Double) -> UInt64 {
    // What is not a number has a rank of its own, and both zeros are one.
    if number.isNaN { return 0 }
    let bits = number == 0 ? 0 : number.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }
}

extension PredicateValue? {
  /// Orders values between which no other order holds.
  fileprivate var sortingRank: Int {
    guard let self else { return 0 }
    guard case .value(let value) = self else { return 20 }
    switch value {
    case .double, .float, .decimal: return value.isNotANumber ? 1 : 2
    case .boolean, .integer: return 2
    case .string: return 3
    case .date: return value.isNotANumber ? 4 : 5
    case .uuid: return 6
    case .uri: return 7
    case .objectID: return 8
    case .binary: return 9
    case .transformed: return 10
    case .composite: return 11
    }
  }
}
