import QuireModel
import QuireStorage

/// What a deferred migration has left in a store: the objects that are still to be rewritten.
public struct DeferredMigration: Hashable, Sendable {
  public struct Entity: Hashable, Sendable {
    public let name: String
    /// No more objects than these are left: some of them may have been saved or deleted since.
    public let objectCount: Int
    /// What these take of the file, about.
    public let byteCount: Int
  }

  /// By name.
  public let entities: [Entity]

  public var objectCount: Int { entities.reduce(0) { $0 + $1.objectCount } }
  public var byteCount: Int { entities.reduce(0) { $0 + $1.byteCount } }

  /// - Returns: `nil` when nothing is left.
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
  /// What a deferred migration has left in the store, as of its last commit; `nil` when nothing is.
  ///
  /// - Throws: when the store is closed, or damaged.
  public func deferredMigration() throws -> DeferredMigration? {
    let snapshot = try storage { () throws(StorageError) in try pages.snapshot() }
    return try StoreSchema(from: snapshot).flatMap { try DeferredMigration($0, snapshot) }
  }
}
