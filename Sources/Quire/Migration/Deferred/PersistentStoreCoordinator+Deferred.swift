import QuireStorage

/// Finishing of a deferred migration: ``PersistentStoreOptions/defersLightweightMigration``.
///
/// All methods can be called from any thread while contexts read and save. Their transactions are
/// serialised, and saves wait for them. Work that a crash interrupts is undone, and repeated later;
/// objects keep their versions, so that it causes no conflicts. Several stores are finished one
/// after the other.
extension PersistentStoreCoordinator {
  /// The number of objects that ``finishDeferredLightweightMigrationTask()`` processes.
  private static let taskObjectCount = 10_000

  /// Rewrites all objects in older layouts, in one transaction, for which saves wait; in several,
  /// if commits of other threads are being written to the disk. Does nothing if there are no such
  /// objects.
  ///
  /// - Parameter progress: called from time to time, in objects of the entities with such objects,
  ///   of each store in its turn. An error of it ends the work, and undoes what is in the current
  ///   transaction.
  /// - Throws: ``PersistenceError/Code/migration`` (134110) if the store is read-only or cannot be
  ///   written; an error of `progress`. All objects remain readable, and some may have been
  ///   rewritten.
  /// - Complexity: O(bytes of the entities with such objects).
  public func finishDeferredLightweightMigration(
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    _ = try finishing {
      try $0.finishAll(progress)
      return false
    }
  }

  /// Rewrites some of the objects in older layouts, which takes a fraction of a second.
  ///
  /// - Returns: whether objects are left, so that it should be called again.
  /// - Throws: the errors of ``finishDeferredLightweightMigration(progress:)``.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws -> Bool {
    try finishDeferredMigration(objectLimit: PersistentStoreCoordinator.taskObjectCount)
  }

  /// Rewrites some of the objects in older layouts, in one transaction.
  ///
  /// - Parameter objectLimit: the number of objects to process, at least one.
  /// - Returns: whether objects are left.
  /// - Throws: the errors of ``finishDeferredLightweightMigration(progress:)``.
  /// - Complexity: O(*n* log *n*) in the limit.
  @discardableResult
  public func finishDeferredMigration(objectLimit: Int) throws -> Bool {
    try finishing { try $0.finishSlice(.objects(objectLimit)) }
  }

  /// Rewrites objects in older layouts for a limited time, in one transaction.
  ///
  /// - Parameter duration: the time, without the commit that follows. At least one object is
  ///   processed.
  /// - Returns: whether objects are left.
  /// - Throws: the errors of ``finishDeferredLightweightMigration(progress:)``.
  @discardableResult
  public func finishDeferredMigration(for duration: Duration) throws -> Bool {
    try finishing { try $0.finishSlice(.duration(duration)) }
  }

  /// Calls `body` for one store after the other, until it returns that objects are left in one.
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
        orUnknown: "how far the deferred migration has come", error)
    } catch let error as RowError {
      throw PersistenceError(
        .migration, "the deferred migration meets an object that cannot be read: \(error)")
    }
  }
}
