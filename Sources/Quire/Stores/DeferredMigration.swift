import QuireModel
import QuireStorage

/// The work that a deferred migration has left in a store: the objects still to be rewritten.
public struct DeferredMigration: Hashable, Sendable {
  /// What is left of one entity.
  public struct Entity: Hashable, Sendable {
    /// The name of the entity.
    public let name: String
    /// The largest number of objects left. Some may have been saved or deleted since.
    public let objectCount: Int
    /// The approximate number of bytes in the file that these take.
    public let byteCount: Int
  }

  /// Sorted by name.
  public let entities: [Entity]

  /// How many objects are left at most, of all entities.
  public var objectCount: Int { entities.reduce(0) { $0 + $1.objectCount } }
  /// What these take of the file, about.
  public var byteCount: Int { entities.reduce(0) { $0 + $1.byteCount } }

  /// - Returns: `nil` if nothing is left.
  /// - Complexity: reads some hundred pages of each tree at most.
  init?(_ schema: StoreSchema, _ snapshot: Snapshot) throws {
    guard schema.hasOlderLayouts else { return nil }
    entities = try schema.entities.compactMap { stored in
      guard let unfinished = stored.unfinished else { return nil }
      let tree = try snapshot.recordTree(stored.rowTree)
      let count = tree?.count ?? 0
      return Entity(
        name: stored.name, objectCount: min(count, unfinished.count),
        byteCount: unfinished.share(of: try tree?.extent().byteCount ?? 0, objectCount: count))
    }.sorted { $0.name < $1.name }
  }
}

extension PersistentStore {
  /// The work that a deferred migration has left in the store, as of its last commit; `nil` if
  /// there is none.
  ///
  /// - Throws: an error if the store is closed or damaged.
  public func deferredMigration() throws -> DeferredMigration? {
    let snapshot = try storage { () throws(StorageError) in try pages.snapshot() }
    return try StoreSchema(from: snapshot).flatMap { try DeferredMigration($0, snapshot) }
  }
}
