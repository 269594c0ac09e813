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
public final class PersistentStoreCoordinator: Sendable {
  /// The versions that a store may have, and the current one, to which it is migrated.
  public let versionedModel: VersionedModel
  let binding: ModelBinding
  /// The classes of the model's objects, of which stores know no more.
  let knownClasses: any AnyObject & Sendable
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
    _ versionedModel: VersionedModel, _ binding: ModelBinding, classes: any AnyObject & Sendable
  ) {
    self.versionedModel = versionedModel
    self.binding = binding
    knownClasses = classes
  }

  deinit {
    // Errors of closing do not matter: committed changes are durable, and the log is replayed at
    // the next opening.
    for store in current.withLock({ $0 }) {
      AddedStores.remove(store)
      try? store.close()
    }
  }

  public var managedObjectModel: ManagedObjectModel { versionedModel.current }

  /// In the order in which they were added. One that was migrated to another place keeps its own.
  public var persistentStores: [PersistentStore] { stores }

  var stores: [PersistentStore] { current.withLock { $0 } }

  /// Opens a store. It is created if there is none, and migrated if `options` ask for it.
  ///
  /// A store for a configuration has only the entities of the configuration, and their version: it
  /// is migrated when these entities have changed. It must be opened with the same configuration
  /// again; with another, or with none, it is the store of another model. Ancestors of its entities
  /// belong to its version, too, but it has objects of them only if they are in the configuration.
  ///
  /// - Parameters:
  ///   - configuration: the name of one of the model's configurations; `nil` and
  ///     `DefaultConfigurationName` stand for all entities.
  ///   - url: the file, or `nil` for a store in memory.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) when the model has no
  ///   such configuration, or a relationship leads out of it;
  ///   ``PersistenceError/Code/persistentStoreIncompatibleVersionHash`` (134100) when
  ///   another version of the model wrote the store and `options` do not ask for migration;
  ///   ``PersistenceError/Code/migrationMissingSourceModel`` (134130) when none of the known
  ///   versions did; ``PersistenceError/Code/migrationMissingMappingModel`` (134140) when a mapping
  ///   would have to be inferred and `options` do not ask for that, or when one that `options` have
  ///   might be for several pairs of versions; ``PersistenceError/Code/inferredMappingModel``
  ///   (134190) when it cannot be inferred, saying why;
  ///   ``PersistenceError/Code/migrationCancelled`` (134120);
  ///   ``PersistenceError/Code/managedObjectModelReferenceNotFound`` (134504) and its neighbours
  ///   when the stages of a ``StagedMigrationManager`` do not fit; what mappings, policies and
  ///   stages throw; ``PersistenceError/Code/persistentStoreOpen`` (134080) when the engine cannot
  ///   open the file; ``PersistenceError/Code/coreData`` (134060) as ``checkClasses()`` throws it;
  ///   and when the coordinator has this store, or another copy of it with the same
  ///   UUID, as object IDs could not tell the two apart.
  @discardableResult
  public func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL?,
    options: PersistentStoreOptions = [:]
  ) throws -> PersistentStore {
    try addPersistentStore(
      type: type, configuration: configuration, at: url, options: options, in: DiskFileSystem())
  }

  /// The same on a given file system, for tests.
  @discardableResult
  package func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL?, options: PersistentStoreOptions,
    in fileSystem: any FileSystem
  ) throws -> PersistentStore {
    try classes.check()
    let forbidden = stores.map(\.identity)
    let opened: PersistentStore
    if let make = storeMakers.withLock({ $0[type] }) {
      opened = try IncrementalStoreOpening(
        type: type, make: make, model: versionedModel, binding: binding, options: options,
        configuration: configuration, forbidden: forbidden
      ).open(at: url)
    } else {
      opened = try StoreOpening(
        model: versionedModel, binding: binding, options: options, configuration: configuration,
        fileSystem: fileSystem, forbidden: forbidden
      ).open(type, at: url)
    }
    let other = current.withLock { stores in
      let other = stores.first { $0.identity == opened.identity }
      if other == nil { stores.append(opened) }
      return other
    }
    if let other {
      try? opened.close()
      throw StoreOpening.isThere(other.identity)
    }
    AddedStores.add(opened)
    remoteChangeCenter.watch { stores }
    storeListeners.tell(StoresChange(added: [opened]))
    return opened
  }

  /// Core Data's older spelling of ``addPersistentStore(type:configuration:at:options:)``.
  @discardableResult
  public func addPersistentStore(
    ofType type: StoreType, configurationName: String?, at url: URL?,
    options: PersistentStoreOptions? = nil
  ) throws -> PersistentStore {
    try addPersistentStore(
      type: type, configuration: configurationName, at: url, options: options ?? [:])
  }

  /// Closes a store.
  ///
  /// Contexts continue with the other stores. With their next access to a store they release this
  /// one: its objects become faults, which can no longer be read, and unsaved changes of them are
  /// dropped, as are their undo actions. Changes that are unsaved at that time are lost; an object
  /// that is still held can be used again when the same store is added again.
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
      AddedStores.add(new)
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
