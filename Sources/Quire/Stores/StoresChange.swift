import Synchronization

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

/// Who is told of stores that come and go.
final class StoreChangeCenter: Sendable {
  private struct State {
    var listeners: [(number: Int, body: @Sendable (StoresChange) -> Void)] = []
    var ends: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  deinit { for end in state.withLock({ Array($0.ends.values) }) { end() } }

  func add(
    _ body: @escaping @Sendable (StoresChange) -> Void, atEnd end: (@Sendable () -> Void)? = nil
  ) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.listeners.append((state.lastNumber, body))
      state.ends[state.lastNumber] = end
      return state.lastNumber
    }
  }

  func remove(_ number: Int) {
    // What goes may come back here: it goes outside.
    let gone = state.withLock { state in
      let gone = state.listeners.filter { $0.number == number }
      state.listeners.removeAll { $0.number == number }
      return (gone, state.ends.removeValue(forKey: number))
    }
    withExtendedLifetime(gone) {}
  }

  func post(_ change: StoresChange) {
    for listener in state.withLock({ $0.listeners }) { listener.body(change) }
  }
}

/// Ends a registration at a coordinator when it is released, or cancelled.
public final class StoresObservation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  public func cancel() { end() }
}

extension PersistentStoreCoordinator {
  /// Calls `body` after a store was added, removed, or put in the place of another.
  ///
  /// - Parameter body: called on the thread that did it, which waits for it.
  /// - Returns: a token, which ends the registration when it is released.
  public func observeStores(
    _ body: @escaping @Sendable (StoresChange) -> Void
  ) -> StoresObservation {
    let center = storeChangeCenter
    let number = center.add(body)
    return StoresObservation { center.remove(number) }
  }

  /// The same changes, from now on until the coordinator goes.
  public func storeChanges() -> AsyncStream<StoresChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoresChange.self)
    let center = storeChangeCenter
    let number = center.add {
      continuation.yield($0)
    } atEnd: {
      continuation.finish()
    }
    continuation.onTermination = { [weak center] _ in center?.remove(number) }
    return stream
  }

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
