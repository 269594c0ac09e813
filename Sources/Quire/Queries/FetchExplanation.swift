import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a fetch finds its objects, and how many rows it looks at for them: what
/// ``FetchRequest/explain(in:)`` returns.
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
/// Numbers that are expected are estimates. They come from the store's trees, which know how many
/// entries they have and how many lie between two keys, roughly; no statistics are kept. A
/// condition that no index knows is taken to be true of every row, and conditions to be independent
/// of each other.
public struct FetchExplanation: Hashable, Sendable {
  public let entityName: String
  public let predicate: FetchPredicate?
  public let sortDescriptors: [FetchSortDescriptor]
  /// The largest number of objects that the request wants; 0 is no limit.
  public let fetchLimit: Int
  public let fetchOffset: Int
  /// One for each store that was asked, in their order. A store is not asked when those before it
  /// had enough.
  public let searches: [Search]
  /// How many objects the fetch finds.
  public let objectCount: Int

  /// What is done in one store.
  public struct Search: Hashable, Sendable {
    public let storeIdentifier: UUID
    /// Where the rows are found.
    public let source: Source
    /// What is evaluated on each row; `nil` where each row is a match.
    public let filter: FetchPredicate?
    public let order: Order
    /// How many rows were read, those of an order that was given up among them.
    public let rowCount: Int
    /// How many rows were expected to be read.
    public let expectedRowCount: Int
    /// How many objects with unsaved changes were asked instead of their rows.
    public let unsavedObjectCount: Int
    /// How many of both the predicate is true of, as far as they were asked.
    public let matchCount: Int
    /// How many rows were expected to match: at most so many where no index knows a condition.
    public let expectedMatchCount: Int
    /// Whether the search ended with the last object that was wanted.
    public let endedEarly: Bool
    /// How many rows were read in the order of an index before that was given up for candidates, or
    /// for all rows; 0 when it was not.
    public let abandonedRowCount: Int
    /// Whether ``ManagedObjectContext/count(for:)`` reads keys of an index, and no row.
    public let isCountedByKeys: Bool
  }

  /// Where rows are found.
  public struct Source: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      /// All rows of these entities, one after the other.
      case allRows(entityNames: [String])
      /// The keys of an index in a range, or in several.
      case index(name: String)
      /// The keys of an index in the order of the request, until there are enough matches.
      case indexOrder(name: String, isReversed: Bool)
      /// The objects that the predicate names.
      case namedObjects
      /// The links that lead from objects back to rows which have a relationship to them. The
      /// objects are those of ``Source/parts``, or the predicate names them.
      case links(relationship: String)
      /// Rows that one of the parts finds.
      case union
      /// Rows that all parts find.
      case intersection
      /// The rows that a store of another make names.
      case otherStore
    }

    public let kind: Kind
    /// The conditions that narrow an index.
    public let conditions: [FetchPredicate]
    public let parts: [Source]
    /// How many rows are found, or named by the keys that are read. Of an order that may end early,
    /// and of all rows, how many there are.
    public let rowCount: Int
    public let expectedRowCount: Int
  }

  /// Where the order of the request comes from.
  public enum Order: Hashable, Sendable {
    /// The request asks for none: rows come in the order of their keys.
    case none
    /// From the source; equal ones are put in order.
    case source
    /// What matches is sorted. Of more than `kept`, the others are dropped on the way.
    case sort(kept: Int?)
  }
}
