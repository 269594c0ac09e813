import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Connects a model and stores, for any number of contexts.
///
/// A coordinator can be used from several threads. It has any number of stores, in files and in
/// memory, each for all entities of the model or for those of a configuration. Contexts show the
/// objects of all of them. Relationships cannot connect objects of different stores; for such a
/// link an object stores the other's URI (``ManagedObjectID/uriRepresentation()``).
///
/// ## Example
///
/// A store that is created in a folder, and a context that saves to it. ``PersistentContainer``
/// does the same in two lines:
///
/// ```swift
/// let coordinator = PersistentStoreCoordinator(
///   managedObjectModel: model, classes: [Artist.self, Artwork.self])
/// try coordinator.addPersistentStore(
///   type: .quire, at: folder.appending(path: "gallery.quire"))
/// let context = ManagedObjectContext()
/// context.persistentStoreCoordinator = coordinator
/// Artist(context: context).name = "Katsushika Hokusai"
/// try context.save()
/// print(coordinator.persistentStores.count, try context.count(for: FetchRequest<Artist>()))
/// ```
///
/// prints
///
/// ```
/// 1 1
/// ```
public final class PersistentStoreCoordinator: Sendable {
  /// The versions that a store may have, and the current one, to which it is migrated.
  public let versionedModel: VersionedModel
  let binding: ModelBinding
  /// The classes of the model's objects, of which stores know no more.
  let registeredClasses: any RegisteredClasses
  private let current = Mutex<[PersistentStore]>([])
  /// The functions that make incremental stores, by their types.
  let storeMakers = Mutex<[StoreType: IncrementalStoreMaker]>([:])
  let errorHandler = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  /// Errors that living contexts keep and have not thrown yet.
  let unthrownErrors = Mutex<[ObjectIdentifier: [any Error]]>([:])
  /// Notifies of saves of the stores by other coordinators.
  let remoteChangeCenter = RemoteChangeCenter()
  /// Listeners for stores that are added and removed.
  let storeListeners = Listeners<StoresChange>()

  /// - Parameter classes: what ``ModelBinding/classes(_:)`` made.
  init(
    _ versionedModel: VersionedModel, _ binding: ModelBinding, classes: any RegisteredClasses
  ) {
    self.versionedModel = versionedModel
    self.binding = binding
    registeredClasses = classes
  }

  deinit {
    // Errors of closing do not matter: committed changes are durable, and the log is replayed at
    // the next opening.
    for store in current.withLock({ $0 }) {
      AddedStores.remove(store)
      try? store.close()
    }
  }

  /// The current version of the model, which stores are opened with.
  public var managedObjectModel: ManagedObjectModel { versionedModel.current }

  /// In the order in which they were added. One that was migrated to another location keeps its
  /// position.
  public var persistentStores: [PersistentStore] { stores }

  var stores: [PersistentStore] { current.withLock { $0 } }

  /// Takes a store that was opened.
  ///
  /// - Returns: `false` when the coordinator has one with the same UUID.
  func enter(_ opened: PersistentStore) -> Bool {
    let isNew = current.withLock { stores in
      if stores.contains(where: { $0.identity == opened.identity }) { return false }
      stores.append(opened)
      return true
    }
    guard isNew else { return false }
    AddedStores.add(opened, to: self)
    remoteChangeCenter.watch { stores }
    storeListeners.tell(StoresChange(added: [opened]))
    return true
  }

  /// Closes a store.
  ///
  /// Contexts continue with the other stores. With their next access to a store they release this
  /// one: its objects become faults, which can no longer be read, and unsaved changes of them are
  /// dropped, as are their undo actions. Changes that are unsaved at that time are lost; an object
  /// that is still held can be used again when the same store is added again.
  ///
  /// - Throws: an error of the disk, or if the store's file was removed while it was open. The
  ///   store is closed all the same.
  public func remove(_ store: PersistentStore) throws {
    let isOurs = current.withLock { stores in
      guard let index = stores.firstIndex(where: { $0 === store }) else { return false }
      stores.remove(at: index)
      return true
    }
    guard isOurs else { throw PersistentStoreCoordinator.notOurs }
    store.entities.retire()
    AddedStores.remove(store)
    remoteChangeCenter.watch { stores }
    storeListeners.tell(StoresChange(removed: [store]))
    try store.close()
  }

  /// Replaces a store with another.
  ///
  /// - Returns: `false` if the coordinator no longer has the old store.
  func exchange(_ old: PersistentStore, for new: PersistentStore) -> Bool {
    let isOurs = current.withLock { stores in
      guard let index = stores.firstIndex(where: { $0 === old }) else { return false }
      stores[index] = new
      return true
    }
    if isOurs {
      old.entities.retire()
      AddedStores.remove(old)
      AddedStores.add(new, to: self)
      remoteChangeCenter.watch { stores }
      storeListeners.tell(StoresChange(added: [new], removed: [old]))
    }
    return isOurs
  }

  func checkOwn(_ store: PersistentStore) throws(PersistenceError) {
    guard stores.contains(where: { $0 === store }) else { throw PersistentStoreCoordinator.notOurs }
  }

  static var notOurs: PersistenceError {
    PersistenceError(
      .persistentStoreOperation, "the store does not belong to this coordinator")
  }

  /// Adds a store that was opened elsewhere and will be closed there.
  func attach(_ store: PersistentStore) { current.withLock { $0 = [store] } }

  /// Removes all stores without closing them.
  func detach() {
    for store in stores { store.entities.retire() }
    current.withLock { $0 = [] }
  }

  /// The ID of an object from its URI (``ManagedObjectID/uriRepresentation()``).
  ///
  /// - Returns: `nil` if the URI is of none of the coordinator's stores, has no entity of its
  ///   store, or is of an object that was never saved.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    let parts = url.pathComponents
    guard url.scheme == "x-coredata", parts.count == 3, parts[2].hasPrefix("p"),
      let identifier = url.host().flatMap({ UUID(uuidString: $0) }),
      let store = stores.first(where: { $0.identifier == identifier }),
      let key = Int64(parts[2].dropFirst()), (1...Reference.maximumKey).contains(key),
      let entity = binding.entity(named: parts[1]), store.entities.byIndex[entity.index] != nil
    else { return nil }
    return ManagedObjectID(entity: entity.entity, store: store.identity, key: key)
  }

  /// The model with which a store file was written, read from the file itself.
  ///
  /// Nothing is written, and no version of the model is needed.
  public static func managedObjectModel(storedAt url: URL) throws -> ManagedObjectModel {
    try StoreFiles.inspecting(url) { snapshot, _ in try StoreSchema.model(in: snapshot) }
  }
}

/// The classes of a model's objects, as the object layer registers them with a coordinator.
protocol RegisteredClasses: AnyObject, Sendable {}
