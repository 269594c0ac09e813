import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Brings a model and a store together, for any number of contexts.
///
/// A coordinator can be used from anywhere at once. It has one store.
public final class PersistentStoreCoordinator: Sendable {
  /// The versions a store may come from, and the one it is brought to.
  public let versionedModel: VersionedModel
  let binding: ModelBinding
  let classes: ObjectClasses
  private let current = Mutex<PersistentStore?>(nil)
  /// Who wants to know of saves of the store, by any coordinator.
  let remoteChangeCenter = RemoteChangeCenter()

  /// A coordinator for a model that has one version.
  ///
  /// - Parameters:
  ///   - classes: the classes of the model's objects. Each names its entity
  ///     (``ManagedObject/entityName``), or is named by it
  ///     (``EntityDescription/managedObjectClassName``); entities without a class have that of
  ///     their nearest ancestor, or plain managed objects.
  ///   - transformers: what makes bytes of the values of transformable attributes.
  public convenience init(
    managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.init(
      versionedModel: VersionedModel(managedObjectModel), classes: classes,
      transformers: transformers)
  }

  /// A coordinator that knows all versions of its model, to migrate stores of earlier ones.
  public init(
    versionedModel: VersionedModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.versionedModel = versionedModel
    binding = ModelBinding(versionedModel.current, transformers)
    self.classes = ObjectClasses(classes, for: binding)
  }

  deinit {
    // Nobody is left to tell; what was committed is durable, and the log is replayed at the next
    // open.
    if let store = current.withLock({ $0 }) {
      AddedStores.remove(store)
      try? store.pages.close()
    }
  }

  public var managedObjectModel: ManagedObjectModel { versionedModel.current }

  public var persistentStores: [PersistentStore] { store.map { [$0] } ?? [] }

  var store: PersistentStore? { current.withLock { $0 } }

  /// Opens a store, creating it where there is none, migrating it where `options` ask for that.
  ///
  /// - Parameters:
  ///   - url: the file, or `nil` for a store in memory.
  /// - Throws: ``PersistenceError/Code/persistentStoreIncompatibleVersionHash`` (134100) when
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
  ///   open the file.
  @discardableResult
  public func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL?,
    options: PersistentStoreOptions = [:]
  ) throws -> PersistentStore {
    try addPersistentStore(
      type: type, configuration: configuration, at: url, options: options, in: DiskFileSystem())
  }

  /// The same, on a file system that a test brings.
  @discardableResult
  package func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL?, options: PersistentStoreOptions,
    in fileSystem: any FileSystem
  ) throws -> PersistentStore {
    guard store == nil else {
      throw PersistenceError(
        .persistentStoreOperation,
        "the coordinator has a store already; make another coordinator for another store")
    }
    if let configuration {
      throw PersistenceError(
        .persistentStoreOperation,
        "a store cannot hold the configuration \(configuration) alone: it holds all entities of the "
          + "model, so pass nil")
    }
    let opened = try StoreOpening(
      model: versionedModel, binding: binding, options: options, fileSystem: fileSystem
    ).open(type, at: url)
    let isFirst = current.withLock { store in
      guard store == nil else { return false }
      store = opened
      return true
    }
    guard isFirst else {
      try? opened.pages.close()
      throw PersistenceError(
        .persistentStoreOperation, "another thread added a store to the coordinator first")
    }
    AddedStores.add(opened)
    remoteChangeCenter.watch(opened)
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

  /// Closes a store. Contexts keep the objects whose rows they have read, and can fetch and save
  /// nothing.
  public func remove(_ store: PersistentStore) throws {
    let isOurs = current.withLock { current in
      guard current === store else { return false }
      current = nil
      return true
    }
    guard isOurs else { throw PersistentStoreCoordinator.notOurs }
    store.entities.retire()
    AddedStores.remove(store)
    remoteChangeCenter.watch(nil)
    try storage { () throws(StorageError) in try store.pages.close() }
  }

  /// Puts a store in the place of another.
  ///
  /// - Returns: `false` when the coordinator does not have that one any more.
  func exchange(_ old: PersistentStore, for new: PersistentStore) -> Bool {
    let isOurs = current.withLock { current in
      guard current === old else { return false }
      current = new
      return true
    }
    if isOurs {
      old.entities.retire()
      AddedStores.remove(old)
      AddedStores.add(new)
      remoteChangeCenter.watch(new)
    }
    return isOurs
  }

  func checkOwn(_ store: PersistentStore) throws(PersistenceError) {
    guard self.store === store else { throw PersistentStoreCoordinator.notOurs }
  }

  static var notOurs: PersistenceError {
    PersistenceError(
      .persistentStoreOperation, "the store does not belong to this coordinator")
  }

  /// Takes a store that somebody else has opened and will close.
  func attach(_ store: PersistentStore) { current.withLock { $0 = store } }

  /// Lets go of a store without closing it.
  func detach() { current.withLock { $0 = nil } }

  /// The ID that ``ManagedObjectID/uriRepresentation()`` was made of.
  ///
  /// - Returns: `nil` when the URI is not of the coordinator's store, names no entity of its model,
  ///   or belongs to an object that was never saved.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    let parts = url.pathComponents
    guard url.scheme == "x-coredata", let store, parts.count == 3, parts[2].hasPrefix("p"),
      url.host().flatMap({ UUID(uuidString: $0) }) == store.identifier,
      let key = Int64(parts[2].dropFirst()), (1...Reference.maximumKey).contains(key),
      let entity = managedObjectModel.entity(named: parts[1]), !entity.isAbstract
    else { return nil }
    return ManagedObjectID(entity: entity, store: store.identity, key: key)
  }

  /// The model a store file was written with, read from the file itself.
  ///
  /// Nothing is written, and no version of the model needs to be known.
  public static func managedObjectModel(storedAt url: URL) throws -> ManagedObjectModel {
    try StoreOpening.inspecting(url) { snapshot, _ in try StoreSchema.model(in: snapshot) }
  }
}
