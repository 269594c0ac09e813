import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A description of how a fetch finds its objects, and of how many rows it reads; the result of
/// ``FetchRequest/explain(in:)``.
///
/// Printed, it is a text of some lines:
///
/// ```
/// Work where title == "Iris" OR price < 20, by title ascending, at most 5
///   union: 38 rows, about 40 expected
///     index Work.byTitle where title == "Iris": 6 rows, about 6 expected
///     index Work.byPrice where price < 20: 32 rows, about 34 expected
///   filter on rows: title == "Iris" OR price < 20
///   sort: title ascending
///   38 rows read, about 40 expected; 38 match, about 40 expected
/// 5 objects
/// ```
///
/// Expected numbers are estimates. They come from the store's trees, which know how many entries
/// they have and, roughly, how many lie between two keys; no statistics are kept. A condition
/// without an index is taken to be true of every row, and conditions to be independent.
public struct FetchExplanation: Hashable, Sendable {
  /// The entity whose objects are found.
  public let entityName: String
  /// The predicate of the request; `nil` for all objects.
  public let predicate: FetchPredicate?
  /// The order that the request asks for.
  public let sortDescriptors: [FetchSortDescriptor]
  /// The largest number of objects that the request wants; 0 is no limit.
  public let fetchLimit: Int
  /// How many objects the request leaves out at the beginning.
  public let fetchOffset: Int
  /// The searches of the stores, in the order of the stores. No further store is searched once
  /// enough objects are found.
  public let searches: [Search]
  /// The number of objects that the fetch finds.
  public let objectCount: Int

  /// The search in one store.
  public struct Search: Hashable, Sendable {
    /// The UUID of the store.
    public let storeIdentifier: UUID
    /// The source of the rows.
    public let source: Source
    /// The predicate that is evaluated on each row; `nil` if every row is a match.
    public let filter: FetchPredicate?
    /// Where the order of the rows comes from.
    public let order: Order
    /// The number of rows read, including those of an index's order that was given up.
    public let rowCount: Int
    /// The expected number of rows read.
    public let expectedRowCount: Int
    /// The number of objects with unsaved changes that were evaluated instead of their rows.
    public let unsavedObjectCount: Int
    /// The number of matches among the rows and objects that were evaluated.
    public let matchCount: Int
    /// The expected number of matches; an upper bound if a condition has no index.
    public let expectedMatchCount: Int
    /// Whether the search ended early because it had found enough objects.
    public let endedEarly: Bool
    /// The number of rows read in the order of an index before the search turned to candidates or
    /// to all rows; 0 if it did not.
    public let abandonedRowCount: Int
    /// Whether ``ManagedObjectContext/count(for:)`` reads only keys of an index, and no row.
    public let isCountedByKeys: Bool
  }

  /// A source of rows.
  public struct Source: Hashable, Sendable {
    /// What rows are found by.
    public enum Kind: Hashable, Sendable {
      /// All rows of these entities, one after the other.
      case allRows(entityNames: [String])
      /// The keys of an index in a range, or in several.
      case index(name: String)
      /// The keys of an index in the order of the request, until there are enough matches.
      case indexOrder(name: String, isReversed: Bool)
      /// The objects that the predicate names.
      case namedObjects
      /// The links that lead from objects back to the rows with a relationship to them. The objects
      /// are those of ``Source/parts``, or are named by the predicate.
      case links(relationship: String)
      /// Rows that one of the parts finds.
      case union
      /// Rows that all parts find.
      case intersection
      /// The rows that an incremental store returns.
      case otherStore
    }

    /// What rows are found by.
    public let kind: Kind
    /// The conditions that narrow an index.
    public let conditions: [FetchPredicate]
    /// The sources of which a union or an intersection is made, or from which links refer back;
    /// empty for the others.
    public let parts: [Source]
    /// The number of rows found, or named by the keys that are read. For the order of an index and
    /// for all rows: their number, even if the search may end early.
    public let rowCount: Int
    /// How many rows were expected.
    public let expectedRowCount: Int
  }

  /// The origin of the result's order.
  public enum Order: Hashable, Sendable {
    /// No order is asked for: rows come in the order of their keys.
    case none
    /// The source gives the order; only objects with equal sort keys are sorted.
    case source
    /// Matches are sorted. If `kept` is set, only that many are kept while sorting.
    case sort(kept: Int?)
  }
}
