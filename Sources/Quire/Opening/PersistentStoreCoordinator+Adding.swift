import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Opens a store, creating it where there is none, migrating it where `options` ask for that.
  ///
  /// A store for a configuration holds the entities of that, and knows of no others: its version is
  /// that of these entities, and it is migrated where they have changed. It is opened with the same
  /// configuration again; with another, or with none, it is a store of another model. Ancestors of
  /// its entities belong to its version, too; objects of these it holds if the configuration names
  /// them. A store that was made with all entities is opened with any configuration: it stays a
  /// store of the whole model, and shows the configuration's objects alone.
  ///
  /// - Parameters:
  ///   - configuration: the name of one of the model's configurations; `nil` and
  ///     `DefaultConfigurationName` mean all entities.
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

  /// The same, on a file system that a test brings.
  @discardableResult
  package func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL?, options: PersistentStoreOptions,
    in fileSystem: any FileSystem
  ) throws -> PersistentStore {
    try classes.check(leavesUses: options.reportsClassDifferencesAtUse)
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
    guard enter(opened) else {
      try? opened.close()
      throw StoreOpening.isThere(opened.identity)
    }
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
}
