import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A save of one of a coordinator's stores, by a context of any coordinator of this process.
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
}

extension PersistentStoreCoordinator {
  /// Calls `body` after each save of the coordinator's stores, by any coordinator of this process.
  ///
  /// - Parameter body: called on the thread that saves, which waits for it.
  /// - Returns: a token that ends the registration when it is released.
  public func observeRemoteChanges(
    _ body: @escaping @Sendable (StoreRemoteChange) -> Void
  ) -> CoordinatorObservation { remoteChangeCenter.listeners.observe(body) }

  /// The saves of the coordinator's stores from now on, by any coordinator of this process.
  ///
  /// The sequence buffers changes until they are read, and ends with the coordinator.
  public func remoteChanges() -> AsyncStream<StoreRemoteChange> {
    remoteChangeCenter.listeners.changes()
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

    init(_ store: PersistentStore) {
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
      let new = stores().map(Store.init)
      let old = self.stores.withLock { stores in
        defer { stores = new }
        return stores
      }
      func isMissing(_ store: Store, in others: [Store]) -> Bool {
        !others.contains { $0.hub === store.hub }
      }
      for store in old where isMissing(store, in: new) { store.hub.remove(self) }
      for store in new where isMissing(store, in: old) { store.hub.add(self) }
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
}
