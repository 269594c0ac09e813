import QuireModel

/// The key of a row in an incremental store.
///
/// It has a number, as object IDs do. A store whose rows have names keeps a table of the numbers
/// that it has assigned to them.
public struct IncrementalStoreKey: Hashable, Sendable, CustomStringConvertible {
  /// The concrete entity, never an ancestor.
  public var entityName: String
  /// From 1 to ``maximumNumber``; no other row of the entity ever has the same number.
  public var number: Int64

  /// The largest number that a row can have.
  public static let maximumNumber = Reference.maximumKey

  /// - Parameters:
  ///   - entityName: the name of the row's own entity.
  ///   - number: from 1 to ``maximumNumber``.
  public init(_ entityName: String, _ number: Int64) {
    self.entityName = entityName
    self.number = number
  }

  /// The row of an object ID; `nil` for that of an object that was not saved.
  public init?(_ objectID: ManagedObjectID) {
    let id = objectID.permanent
    if id.isTemporaryID { return nil }
    self.init(id.entity.name, id.key)
  }

  public var description: String { "\(entityName)/p\(number)" }
}

/// The values of a row in an incremental store.
public struct IncrementalStoreNode: Hashable, Sendable {
  /// Names the row.
  public var key: IncrementalStoreKey
  /// At least 1, and different after each change, so that a save detects conflicts.
  ///
  /// A save proposes the last version plus 1. A store that assigns versions differently returns the
  /// rows from the save.
  public var version: UInt32
  /// Attributes by name, without absent ones. Transient attributes are never included.
  public var values: [String: AttributeValue]
  /// The rows to which to-one relationships lead, by name; absent ones are left out.
  public var destinations: [String: IncrementalStoreKey]

  /// A row with its version and what it holds.
  ///
  /// - Parameters:
  ///   - values: by the names of attributes; none where there is none.
  ///   - destinations: the rows that to-one relationships refer to, by their names.
  public init(
    key: IncrementalStoreKey, version: UInt32, values: [String: AttributeValue] = [:],
    destinations: [String: IncrementalStoreKey] = [:]
  ) {
    self.key = key
    self.version = version
    self.values = values
    self.destinations = destinations
  }
}
