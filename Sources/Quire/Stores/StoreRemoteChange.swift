import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A save of one of a coordinator's stores, by a context of any coordinator of this process; or, of
/// a store that is only read here, saves of another process.
public struct StoreRemoteChange: Sendable {
  /// Core Data's name of the notification.
  public static let name = "NSPersistentStoreRemoteChangeNotification"

  /// The UUID of the store.
  public let storeUUID: UUID
  /// The file; `nil` for a store in memory.
  public let storeURL: URL?
  /// The number of the save's commit. It increases with every commit of the store.
  public let commitNumber: UInt64
  /// The token for the position after the save in the store's history; `nil` if the store keeps
  /// none.
  public let historyToken: PersistentHistoryToken?
  /// ``ManagedObjectContext/transactionAuthor`` of the context that saved.
  public let transactionAuthor: String?
  /// ``ManagedObjectContext/name`` of the context that saved.
  public let contextName: String?
  /// Whether another process has saved, once or several times. Which objects that has changed is
  /// not known: the sets of their IDs are empty, and so are the names. If the store keeps a
  /// history, the transactions up to ``historyToken`` tell; if not, fetch again.
  public let isOfAnotherProcess: Bool
  /// The objects that the save inserted.
  public let insertedObjectIDs: Set<ManagedObjectID>
  /// The objects that the save changed.
  public let updatedObjectIDs: Set<ManagedObjectID>
  /// The objects that the save deleted.
  public let deletedObjectIDs: Set<ManagedObjectID>

  /// The user info of Core Data's notification, by its keys.
  public var userInfo: [String: any Sendable] {
    var userInfo: [String: any Sendable] = [
      "NSStoreUUID": storeUUID.uuidString
    ]
    userInfo["historyToken"] = historyToken
    userInfo["storeURL"] = storeURL
    return userInfo
  }

  init(_ notice: CommitNotice, _ store: RemoteChangeCenter.Store) {
    isOfAnotherProcess = false
    storeUUID = store.identifier
    storeURL = store.url
    commitNumber = notice.changes.commit.rawValue
    historyToken = notice.changes.historyNumber.map {
      PersistentHistoryToken([store.identifier: $0])
    }
    transactionAuthor = notice.author
    contextName = notice.contextName
    insertedObjectIDs = notice.changes.insertedIDs
    updatedObjectIDs = Set(notice.changes.updatedProperties.map(\.id))
    deletedObjectIDs = notice.changes.deletedIDs
  }

  /// Saves of another process.
  init(through commit: CommitNumber, _ store: RemoteChangeCenter.Store) {
    isOfAnotherProcess = true
    storeUUID = store.identifier
    storeURL = store.url
    commitNumber = commit.rawValue
    historyToken = store.lastHistoryNumber().map { PersistentHistoryToken([store.identifier: $0]) }
    (transactionAuthor, contextName) = (nil, nil)
    (insertedObjectIDs, updatedObjectIDs, deletedObjectIDs) = ([], [], [])
  }
}

extension PersistentStoreCoordinator {
  /// Calls `body` after each save of the coordinator's stores, by any coordinator of this process;
  /// for stores that are only read here, soon after other processes have saved (within a tenth of a
  /// second, as a rule), once for all that they have saved since.
  ///
  /// - Parameter body: called on the thread that saves, which waits for it; of another process's
  ///   saves on the thread that has found them.
  /// - Returns: a token that ends the registration when it is released.
  public func observeRemoteChanges(
    _ body: @escaping @Sendable (StoreRemoteChange) -> Void
  ) -> CoordinatorObservation {
    defer { watchStores() }
    return remoteChangeCenter.listeners.observe(body)
  }

  /// The saves of the coordinator's stores from now on, as ``observeRemoteChanges(_:)`` tells them.
  ///
  /// The sequence buffers changes until they are read, and ends with the coordinator.
  public func remoteChanges() -> AsyncStream<StoreRemoteChange> {
    defer { watchStores() }
    return remoteChangeCenter.listeners.changes()
  }

  private func watchStores() {
    for store in persistentStores { store.watch() }
  }
}

/// Listeners for saves of a coordinator's stores.
final class RemoteChangeCenter: CommitListener {
  // A class, for the reason given at ``AddedStores``.
  final class Store: Sendable {
    let identity: StoreIdentity
    let identifier: UUID
    let url: URL?
    let hub: CommitHub
    let lastHistoryNumber: @Sendable () -> Int64?

    init(_ store: PersistentStore) {
      lastHistoryNumber = { [weak pages = store.pages] in
        try? pages?.read { try StoredHistory(in: $0)?.lastNumber }
      }
      identity = store.identity
      identifier = store.identifier
      url = store.url
      hub = store.hub
    }
  }

  let listeners = Listeners<StoreRemoteChange>()
  /// An array, as there are few; ``AddedStores`` says what the first dictionary of a type costs.
  private let stores = Mutex<[Store]>([])
  /// Held while the list of stores is read and installed: of two concurrent calls, the one that
  /// installs last must have read the newest list.
  private let watching = Mutex(())

  /// - Parameter stores: returns all stores of the coordinator.
  func watch(_ stores: () -> [PersistentStore]) {
    watching.withLock { _ in
      let stores = stores()
      let new = stores.map(Store.init)
      let old = self.stores.withLock { stores in
        defer { stores = new }
        return stores
      }
      func isMissing(_ store: Store, in others: [Store]) -> Bool {
        !others.contains { $0.hub === store.hub }
      }
      for store in old where isMissing(store, in: new) { store.hub.remove(self) }
      for store in new where isMissing(store, in: old) { store.hub.add(self) }
      if isListening { for store in stores { store.watch() } }
    }
  }

  var isListening: Bool { !listeners.isEmpty }

  func take(_ notice: CommitNotice) {
    let identity = notice.changes.entities.identity
    guard isListening,
      let store = stores.withLock({ stores in stores.first { $0.identity == identity } })
    else { return }
    listeners.tell(StoreRemoteChange(notice, store))
  }

  func takeUnknown(through commit: CommitNumber, of identity: StoreIdentity) {
    guard isListening,
      let store = stores.withLock({ stores in stores.first { $0.identity == identity } })
    else { return }
    listeners.tell(StoreRemoteChange(through: commit, store))
  }
}
