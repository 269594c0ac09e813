/// A change of a coordinator's list of stores, as in
/// `NSPersistentStoreCoordinatorStoresDidChangeNotification`.
public struct StoresChange: Sendable {
  /// Core Data's name of the notification.
  public static let name = "NSPersistentStoreCoordinatorStoresDidChangeNotification"

  /// The stores that the coordinator has got.
  public let added: [PersistentStore]
  /// Removed stores, of which only the identity can be read. A store that was moved to another
  /// location is in both lists.
  public let removed: [PersistentStore]

  init(added: [PersistentStore] = [], removed: [PersistentStore] = []) {
    (self.added, self.removed) = (added, removed)
  }

  /// The user info of Core Data's notification, by its keys.
  public var userInfo: [String: any Sendable] {
    var userInfo: [String: any Sendable] = [:]
    if !added.isEmpty { userInfo["added"] = added }
    if !removed.isEmpty { userInfo["removed"] = removed }
    return userInfo
  }
}

extension PersistentStoreCoordinator {
  /// Calls `body` after a store was added, removed, or replaced.
  ///
  /// - Parameter body: called on the thread that made the change, which waits for it.
  /// - Returns: a token that ends the registration when it is released.
  public func observeStores(
    _ body: @escaping @Sendable (StoresChange) -> Void
  ) -> CoordinatorObservation { storeListeners.observe(body) }

  /// The same changes as a sequence, from now on and until the coordinator is released.
  public func storeChanges() -> AsyncStream<StoresChange> { storeListeners.changes() }

  /// Runs `body` directly. A coordinator can be used from several threads, and has no queue; the
  /// method exists for source compatibility with Core Data.
  public func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    try body()
  }

  /// Runs `body` in the isolation of the caller.
  public nonisolated(nonsending) func perform<Result>(
    _ body: () throws -> Result
  ) async rethrows -> Result { try body() }
}
