/// A change of which stores a coordinator has: what
/// `NSPersistentStoreCoordinatorStoresDidChangeNotification` tells.
public struct StoresChange: Sendable {
  /// Core Data's name of the notification.
  public static let name = "NSPersistentStoreCoordinatorStoresDidChangeNotification"

  public let added: [PersistentStore]
  /// They can still be asked who they are, and nothing more. A store that goes on at another place
  /// is among both.
  public let removed: [PersistentStore]

  init(added: [PersistentStore] = [], removed: [PersistentStore] = []) {
    (self.added, self.removed) = (added, removed)
  }

  /// What Core Data's notification has, by its keys.
  public var userInfo: [String: any Sendable] {
    var userInfo: [String: any Sendable] = [:]
    if !added.isEmpty { userInfo["added"] = added }
    if !removed.isEmpty { userInfo["removed"] = removed }
    return userInfo
  }
}

extension PersistentStoreCoordinator {
  /// Calls `body` after a store was added, removed, or put in the place of another.
  ///
  /// - Parameter body: called on the thread that did it, which waits for it.
  /// - Returns: a token, which ends the registration when it is released.
  public func observeStores(
    _ body: @escaping @Sendable (StoresChange) -> Void
  ) -> CoordinatorObservation { storeListeners.observe(body) }

  /// The same changes, from now on until the coordinator goes.
  public func storeChanges() -> AsyncStream<StoresChange> { storeListeners.changes() }

  /// Runs `body` in place. A coordinator can be used from anywhere at once, and has no queue to put
  /// it into: code ported from Core Data keeps its shape.
  public func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    try body()
  }

  /// Runs `body` where the caller runs.
  public nonisolated(nonsending) func perform<Result>(
    _ body: () throws -> Result
  ) async rethrows -> Result { try body() }
}
