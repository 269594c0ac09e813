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

/// The ranks of values whose order a few bytes can tell.
package enum SortingRank {
  package static let notANumber = 1
  package static let number = 2
  package static let text = 3
  package static let notADate = 4
  package static let date = 5
}

extension PredicateValue? {
  /// Orders values between which no other order holds.
  package var sortingRank: Int {
    guard let self else { return 0 }
    guard case .value(let value) = self else { return 20 }
    switch value {
    case .double, .float, .decimal:
      return value.isNotANumber ? SortingRank.notANumber : SortingRank.number
    case .boolean, .integer: return SortingRank.number
    case .string: return SortingRank.text
    case .date: return value.isNotANumber ? SortingRank.notADate : SortingRank.date
    case .uuid: return 6
    case .uri: return 7
    case .objectID: return 8
    case .binary: return 9
    case .transformed: return 10
    case .composite: return 11
    }
  }
}
