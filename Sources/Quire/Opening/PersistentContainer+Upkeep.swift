#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The container's open stores, kept in order off the caller's actor.
extension PersistentContainer {
  /// Inspects all of the container's stores, which can be used meanwhile; see
  /// ``PersistentStore/check()``.
  ///
  /// ```swift
  /// for inspection in try await container.check() where !inspection.isSound {
  ///   print(inspection.findings)
  /// }
  /// ```
  ///
  /// - Returns: one inspection a store, in their order.
  /// - Throws: what ``PersistentStore/check()`` throws.
  @concurrent
  public final func check() async throws -> [StoreInspection] {
    try await StoreExecutor.run {
      try persistentStoreCoordinator.persistentStores.map { store in
        try Task.checkCancellation()
        return try store.check()
      }
    }
  }

  /// Writes the container's store to a new file, as of its last save; see
  /// ``PersistentStore/backUp(to:progress:)``.
  ///
  /// - Parameters:
  ///   - url: where no file may exist.
  ///   - progress: called from time to time, where the copy is made.
  /// - Throws: what ``PersistentStore/backUp(to:progress:)`` throws;
  ///   ``PersistenceError/Code/persistentStoreOperation`` when the container has no store, or
  ///   several; `CancellationError` when the task is cancelled, and no file is left.
  @concurrent
  public final func backUp(
    to url: URL, progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) async throws {
    let stores = persistentStoreCoordinator.persistentStores
    guard let store = stores.first, stores.count == 1 else {
      throw PersistenceError(
        .persistentStoreOperation,
        stores.isEmpty
          ? "the container \(name) has no store to copy: load it first"
          : "the container \(name) has \(stores.count) stores: copy each by itself")
    }
    try await StoreExecutor.run {
      try store.backUp(to: url) { state in
        try Task.checkCancellation()
        progress?(state)
      }
    }
  }

  /// Rewrites the container's stores without free pages, one after the other; see
  /// ``PersistentStore/compact(progress:)``.
  ///
  /// - Parameter progress: called from time to time, of each store from its beginning.
  /// - Throws: what ``PersistentStore/compact(progress:)`` throws; `CancellationError` when the
  ///   task is cancelled, and the store that it was at is unchanged.
  @concurrent
  public final func compact(
    progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) async throws {
    try await StoreExecutor.run {
      for store in persistentStoreCoordinator.persistentStores {
        try store.compact { state in
          try Task.checkCancellation()
          progress?(state)
        }
      }
    }
  }
}
