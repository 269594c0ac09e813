import QuireStorage

/// Finishing a migration that was deferred: ``PersistentStoreOptions/defersLightweightMigration``.
///
/// All of it can be done from any thread while contexts read and save. Only one of these
/// transactions is under way at a time, and a save that comes meanwhile waits for it. What a crash
/// interrupts is as it was before, and is begun again; objects keep their versions, so that no save
/// that is under way finds a conflict. With several stores, one is finished after the other.
extension PersistentStoreCoordinator {
  /// The objects that ``finishDeferredLightweightMigrationTask()`` looks at.
  private static let taskObjectCount = 10_000

  /// Rewrites all objects that are left in older layouts, in one transaction, which saves wait for;
  /// while commits of other threads are on their way to the disk, in several. Does nothing when
  /// there are none.
  ///
  /// - Throws: ``PersistenceError/Code/migration`` (134110) when the store is read-only, or cannot
  ///   be written. Every object is then as it was, and some may have been rewritten.
  /// - Complexity: O(bytes of the entities that are left).
  public func finishDeferredLightweightMigration() throws {
    _ = try finishing {
      try $0.finishAll()
      return false
    }
  }

  /// Rewrites some of the objects that are left in older layouts: a fraction of a second's work.
  ///
  /// - Returns: whether objects are left, and so whether to call this again.
  /// - Throws: as ``finishDeferredLightweightMigration()`` does.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws -> Bool {
    try finishDeferredMigration(objectLimit: PersistentStoreCoordinator.taskObjectCount)
  }

  /// Rewrites some of the objects that are left in older layouts, in one transaction.
  ///
  /// - Parameter objectLimit: how many objects to look at; at least one is.
  /// - Returns: whether objects are left.
  /// - Throws: as ``finishDeferredLightweightMigration()`` does.
  /// - Complexity: O(*n* log *n*) in the limit.
  @discardableResult
  public func finishDeferredMigration(objectLimit: Int) throws -> Bool {
    try finishing { try $0.finishSlice(.objects(objectLimit)) }
  }

  /// Rewrites objects that are left in older layouts until so much time is over, in one
  /// transaction.
  ///
  /// - Parameter duration: without the commit, which comes on top. At least one object is looked
  ///   at.
  /// - Returns: whether objects are left.
  /// - Throws: as ``finishDeferredLightweightMigration()`` does.
  @discardableResult
  public func finishDeferredMigration(for duration: Duration) throws -> Bool {
    try finishing { try $0.finishSlice(.duration(duration)) }
  }

  /// Calls `body` for one store after the other, until it says that objects are left in one.
  private func finishing(_ body: (DeferredFinishing) throws -> Bool) throws -> Bool {
    let stores = stores
    guard !stores.isEmpty else {
      throw PersistenceError(
        .persistentStoreOperation, "the coordinator has no store: add one first")
    }
    return try stores.contains { try finish($0, body) }
  }

  private func finish(
    _ store: PersistentStore, _ body: (DeferredFinishing) throws -> Bool
  ) throws -> Bool {
    do {
      guard try !store.isReadOnly || store.deferredMigration() == nil else {
        throw PersistenceError(
          .migration, "the store is read-only: a deferred migration cannot be finished in it")
      }
      return try body(DeferredFinishing(pages: store.pages))
    } catch let error as StorageError {
      throw PersistenceError(
        .migration, "the deferred migration cannot go on; the store is as it was",
        underlying: error)
    } catch let error as RowError {
      throw PersistenceError(
        .migration, "the deferred migration meets an object that cannot be read: \(error)")
    }
  }
}
