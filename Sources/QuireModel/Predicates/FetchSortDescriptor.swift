#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One key of the order in which a fetch returns its objects.
///
/// Absent values come first when ascending, unless ``absentValues`` says otherwise. Where values of
/// several kinds meet, they are ordered by kind: numbers, with NaN before all others; strings, in
/// Unicode order unless ``options`` have ``FetchComparisonOptions/natural``; dates; UUIDs; URIs;
/// data byte by byte. `false` is before `true`. Descending is the exact reverse.
///
/// ```swift
/// FetchSortDescriptor(key: "title", options: [.natural, .caseInsensitive])
/// FetchSortDescriptor(key: "artist.born", ascending: false, absentValues: .last)
/// ```
///
/// Arrays of objects are sorted with the same descriptors, by `sorted(using:)`.
///
/// ## Example
///
/// Titles in the order of their characters, and as people order them:
///
/// ```swift
/// let titles = ["View 10", "View 9", "view 2"]
/// let model = try ManagedObjectModel { Entity("Artwork") { Attribute("title", .string) } }
/// let context = try ManagedObjectContext.stubbed(model)
/// for title in titles {
///   let artwork = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
///   try artwork.setValue(title, forKey: "title")
/// }
/// var request = FetchRequest<ManagedObject>(entityName: "Artwork")
/// for options in [[], .natural] as [FetchComparisonOptions] {
///   request.sortDescriptors = [FetchSortDescriptor(key: "title", options: options)]
///   let all = try context.fetch(request)
///   let found = try all.map { try $0.value(forKey: "title") as? String ?? "" }
///   print(found.joined(separator: ", "))
/// }
/// ```
///
/// prints
///
/// ```
/// View 10, View 9, view 2
/// view 2, View 9, View 10
/// ```
public struct FetchSortDescriptor: Hashable, Sendable {
  /// The position of objects whose value is absent.
  public enum AbsentValues: UInt8, Hashable, Sendable, CaseIterable {
    /// Before all values when ascending, after them when descending, as in Core Data.
    case smallest
    /// Before all values in either direction.
    case first
    /// After all values in either direction.
    case last
  }

  /// The names from the fetched entity to the value, through to-one relationships.
  public var keyPath: [String]
  /// Whether smaller values come first.
  public var ascending: Bool
  /// The differences between strings that sorting ignores, and the order of strings.
  public var options: FetchComparisonOptions
  /// Where objects without a value come.
  public var absentValues: AbsentValues

  /// - Parameter keyPath: the names from the fetched entity to the value.
  public init(
    keyPath: [String], ascending: Bool = true, options: FetchComparisonOptions = [],
    absentValues: AbsentValues = .smallest
  ) {
    self.keyPath = keyPath
    self.ascending = ascending
    self.options = options
    self.absentValues = absentValues
  }

  /// - Parameter key: names separated by dots.
  public init(
    key: String, ascending: Bool = true, options: FetchComparisonOptions = [],
    absentValues: AbsentValues = .smallest
  ) {
    self.init(
      keyPath: FetchExpression.names(in: key), ascending: ascending, options: options,
      absentValues: absentValues)
  }

  /// The key path as one text.
  public var key: String { keyPath.joined(separator: ".") }

  /// The exact reverse, absent values included.
  public var reversedSortDescriptor: FetchSortDescriptor {
    var reversed = self
    reversed.ascending.toggle()
    switch absentValues {
    case .smallest: break
    case .first: reversed.absentValues = .last
    case .last: reversed.absentValues = .first
    }
    return reversed
  }
}

extension FetchSortDescriptor: CustomStringConvertible {
  public var description: String {
    "\(key)\(options.isEmpty ? "" : " \(options)") \(ascending ? "ascending" : "descending")"
      + (absentValues == .smallest ? "" : ", absent values \(absentValues)")
  }
}

extension FetchSortDescriptor {
  /// The order of `left` relative to `right` in this descriptor's direction: -1, 0 or 1.
  package func compare(_ left: PredicateValue?, _ right: PredicateValue?) -> Int {
    let order = compareForSorting(left, right, options)
    return ascending != (movesAbsentValues && (left == nil) != (right == nil)) ? order : -order
  }

  /// Whether absent values are at the other end than the smallest ones.
  package var movesAbsentValues: Bool { absentValues == (ascending ? .last : .first) }
}

/// The order of `left` relative to `right` when sorting: -1, 0 or 1.
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

/// The ranks of values whose order can be encoded in a few bytes.
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
