import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens, creates or migrates one store.
struct StoreOpening {
  /// The part of the coordinator's model that the store can have, with the versions of it.
  private(set) var model: VersionedModel
  let fullModel: VersionedModel
  private var hashBytes: [UInt8]
  let binding: ModelBinding
  let options: PersistentStoreOptions
  /// The file system: the disk, or a simulated one in tests.
  var fileSystem: any FileSystem = DiskFileSystem()
  /// Whether it is an error if the store does not exist.
  var mustExist = false
  /// The part of the model that the store is for; `nil` for all.
  private let subset: ModelSubset?
  /// Whether the store has all entities of the model, though it is opened under a configuration.
  private var isOfWholeModel = false
  /// Stores that cannot be opened again.
  private let forbidden: [StoreIdentity]

  /// - Parameter configuration: the name of one of the model's configurations; `nil` for all
  ///   entities.
  /// - Throws: an error if the model has no such configuration, or a store cannot have it.
  init(
    model: VersionedModel, binding: ModelBinding, options: PersistentStoreOptions,
    configuration: String? = nil, fileSystem: any FileSystem = DiskFileSystem(),
    mustExist: Bool = false, forbidden: [StoreIdentity] = []
  ) throws {
    let subset = try ModelSubset(configuration, of: model.current)
    self.model = subset?.history(of: model) ?? model
    fullModel = model
    self.binding = binding
    self.subset = subset
    self.options = options
    self.fileSystem = fileSystem
    self.mustExist = mustExist
    self.forbidden = forbidden
    hashBytes = subset.map { StoreSchema.hashBytes(of: $0.model) } ?? binding.hashBytes
  }

  func open(_ type: StoreType, at url: URL?) throws -> PersistentStore {
    try options.check()
    guard type == .quire || type == .inMemory else { throw type.refusal }
    guard type.hasFile(at: url) else {
      let pages = PageStore.inMemory(identity: options.storeUUID.map { StoreIdentity($0) })
      return try finish(type, type == .quire ? url : nil, pages)
    }
    guard let url, url.isFileURL else {
      throw PersistenceError(
        .persistentStoreOpen,
        "a store in a file needs a file URL, not \(url.map(\.absoluteString) ?? "none")")
    }
    var pageOptions = PageStoreOptions()
    pageOptions.isReadOnly = options.isReadOnly
    pageOptions.readsUnvouchedPages = options.readsUnvouchedPages
    pageOptions.createIfMissing = !options.isReadOnly && !mustExist
    pageOptions.identity = options.storeUUID.map { StoreIdentity($0) }
    pageOptions.durability = options.durability
    pageOptions.isShared = options.isShared
    if options.savesMemory { pageOptions.saveMemory() }
    pageOptions.trustsNetworkLocks = options.trustsNetworkLocks
    if options.timeout > 0 { pageOptions.turnWaitLimit = .seconds(min(options.timeout, 1e9)) }
    // Tests that count the operations of a simulated disk have one thread.
    if !(fileSystem is DiskFileSystem) {
      pageOptions.turnKeepInterval = .zero
      pageOptions.turnWaitLimit = .zero
    }
    // Only on a real disk: a thread that works by the clock would disturb tests that count the
    // operations of a simulated disk.
    if fileSystem is DiskFileSystem { pageOptions.idleLogLimit = options.idleLogLimit }
    if pageOptions.createIfMissing { try tryUnlessThere(url) }
    let pages = try StoreFiles.pages(
      at: url, pageOptions, in: fileSystem, timeout: options.timeout)
    if !options.isReadOnly, let path = pages.path {
      PartialStore.removeRemains(of: path, in: fileSystem)
    }
    return try finish(type, url, pages)
  }

  /// Makes the store in memory where there is no file yet, so that a model, a UUID or options that
  /// are refused leave none.
  private func tryUnlessThere(_ url: URL) throws {
    let path = fileSystem.destination(of: url.path(percentEncoded: false))
    do throws(StorageError) {
      guard try fileSystem.identifier(of: path) == nil else { return }
    } catch {
      // The opening refuses it, with the reason.
      return
    }
    let pages = PageStore.inMemory(identity: options.storeUUID.map { StoreIdentity($0) })
    try finish(.inMemory, nil, pages).close()
  }

  /// Opens a store in an open page store.
  func open(_ type: StoreType, at url: URL?, with pages: PageStore) throws -> PersistentStore {
    try options.check()
    return try finish(type, url, pages)
  }

  static func isThere(_ identity: StoreIdentity) -> PersistenceError {
    PersistenceError(
      .persistentStoreOpen,
      "the coordinator has a store with the UUID \(UUID(identity)) already: this one, or a copy of "
        + "it. IDs could not tell their objects apart; replacePersistentStore makes a copy with "
        + "another UUID")
  }

  private func finish(_ type: StoreType, _ url: URL?, _ pages: PageStore) throws -> PersistentStore
  {
    do {
      if forbidden.contains(pages.identity) { throw StoreOpening.isThere(pages.identity) }
      let opening = try adapted(to: pages.snapshot())
      let (report, written) = try opening.prepare(pages, type.hasFile(at: url) ? url : nil)
      try beginOrEndHistory(of: pages)
      if options.compactsStore, !options.isReadOnly { try pages.compact() }
      return PersistentStore(
        type: type, url: url, isReadOnly: options.isReadOnly, pages: pages,
        entities: try opening.entities(of: pages, written), migrationReport: report,
        configurationName: subset?.name ?? DefaultConfigurationName)
    } catch {
      // The first error is thrown, whatever closing throws; the content of the store is unchanged.
      try? pages.close()
      if let error = error as? StorageError {
        throw PersistenceError(
          .persistentStoreOpen, "\(pages.described) cannot be opened", underlying: error)
      }
      throw error
    }
  }

  /// The opening of what the store is: one that was made with all entities of the model can be
  /// opened under each of its configurations. It is compared and migrated as a whole, and has the
  /// configuration's objects alone for as long as it is open.
  func adapted(to snapshot: Snapshot) throws -> StoreOpening {
    guard subset != nil, try snapshot.indexTree(StoreSchema.tree) != nil,
      try !StoreSchema.matches(hashBytes, in: snapshot)
    else { return self }
    let hashes = try StoreSchema.hashes(in: snapshot)
    func hasVersion(of model: VersionedModel) throws -> Bool {
      try model.current.entityVersionHashesByName == hashes
        || model.version(
          matching: hashes, probably: StoreSchema(from: snapshot)?.versionName) != nil
    }
    // A version that is not known, as the model was edited, is told by the names of its entities.
    func hasEntities(of version: VersionedModel.Version) -> Bool {
      version.model.entities.allSatisfy { hashes[$0.name] != nil }
    }
    let isPart = fullModel.current.configurations.keys.contains { name in
      ModelSubset.hashes(name, of: fullModel.current) == hashes
    }
    guard try !hasVersion(of: model),
      try hasVersion(of: fullModel) || !isPart && fullModel.versions.contains(where: hasEntities)
    else { return self }
    var opening = self
    opening.model = fullModel
    opening.hashBytes = binding.hashBytes
    opening.isOfWholeModel = true
    return opening
  }

  private func entities(of pages: PageStore, _ written: WrittenSchema) throws -> StoreEntities {
    if options.tracksHistory == nil {
      switch written {
      case .new(let schema):
        return StoreEntities(
          binding, try binding.newStore(), schema: schema, identity: pages.identity)
      case .migrated(let schema):
        assert(isWritten(schema, in: pages), "the schema is not what was written")
        return try StoreEntities(
          binding, schema: schema, identity: pages.identity, configuration: subset,
          isOfWholeModel: isOfWholeModel)
      case .unknown: break
      }
    }
    return try pages.read { snapshot in
      guard let schema = try StoreSchema(from: snapshot) else {
        throw StoreSchema.damaged("is missing")
      }
      return try StoreEntities(
        binding, schema: schema, identity: pages.identity, configuration: subset,
        isOfWholeModel: isOfWholeModel, hashes: try formerHashBytes(in: snapshot))
    }
  }

  /// The hashes that an earlier release has written for the store's model; `nil` if they are those
  /// of this release, or if the store was just migrated by another process.
  private func formerHashBytes(in snapshot: Snapshot) throws -> [UInt8]? {
    if try StoreSchema.matches(hashBytes, in: snapshot) { return nil }
    guard try StoreSchema.isOf(model.current, hashBytes, in: snapshot) else { return nil }
    return try StoreSchema.hashBytes(in: snapshot)
  }

  private func isWritten(_ schema: StoreSchema, in pages: PageStore) -> Bool {
    do {
      return try pages.read { try StoreSchema(from: $0) } == schema
    } catch {
      // An error of the disk is not an error of the schema.
      return true
    }
  }

  /// A schema that was just written, so that it need not be read.
  private enum WrittenSchema {
    /// The schema of a new store of a whole model.
    case new(StoreSchema)
    case migrated(StoreSchema)
    case unknown
  }

  /// Creates or migrates the store's objects to the current model, if necessary.
  private func prepare(
    _ pages: PageStore, _ url: URL?
  ) throws -> (report: MigrationReport?, written: WrittenSchema) {
    let snapshot = try pages.snapshot()
    guard try snapshot.indexTree(StoreSchema.tree) != nil else {
      return (nil, try createSchema(in: pages).map(WrittenSchema.new) ?? .unknown)
    }
    guard let path = try migrationPath(for: snapshot) else {
      try refreshModel(in: pages, snapshot)
      return (nil, .unknown)
    }
    guard !options.isReadOnly else {
      let version = path.steps.first?.source.name ?? model.currentVersion.name
      throw PersistenceError(
        .migration,
        "\(pages.described) has version \(version) and must be migrated, but it is read-only")
    }
    var options = options
    // A migration without a known source version may drop values, which a backup preserves.
    if path.isFromStoredModel, options.migrationBackup == .none, url != nil,
      try path.steps.contains(where: { try $0.plan(for: snapshot).dropsValues })
    {
      options.migrationBackup = .beside
    }
    let (report, schema) = try MigrationRun(
      path: path, options: options, url: url, fileSystem: fileSystem
    ).run(in: pages)
    return (report, schema.map(WrittenSchema.migrated) ?? .unknown)
  }

  /// Updates the model in the store, for tools and for later migrations: the parts that are in no
  /// version hash (default values, rules, indexes, user info) may have changed. If the indexes have
  /// changed, their trees are built and dropped as well; a read-only store keeps those it has.
  private func refreshModel(in pages: PageStore, _ snapshot: Snapshot) throws {
    let name = model.hasNamedVersions ? model.currentVersion.name : nil
    let archive = ModelArchive.encode(model.current)
    if options.isReadOnly {
      if try StoreSchema.hasModel(archive, versionName: nil, in: snapshot) { return }
      // A stored model that cannot be read is ignored, as it is for a writable store.
      guard let stored = try? StoreSchema.model(in: snapshot) else { return }
      try checkRenamings(since: stored)
      return try checkLinks(since: stored)
    }
    let hasOtherIndexes = try StoreSchema.hasOtherIndexes(than: model.current, in: snapshot)
    if !hasOtherIndexes, try StoreSchema.hasModel(archive, versionName: name, in: snapshot),
      try StoreSchema.matches(hashBytes, in: snapshot)
    {
      return
    }
    let stored = try? StoreSchema.model(in: snapshot)
    if let stored { try checkRenamings(since: stored) }
    if let stored, model.current.relationshipToClear(since: stored) != nil {
      // Dangling links are found when links are rebuilt.
      var clearing = Migration(
        from: .init(model.currentVersion.name, stored), to: model.currentVersion)
      clearing.versionName = name
      _ = try clearing.run(in: pages)
      return
    }
    let former = binding.hasDerivations ? try stored ?? StoreSchema.model(in: snapshot) : nil
    try pages.write { transaction in
      // If another process has migrated it in the meantime, opening reports it.
      guard try StoreSchema.isOf(model.current, hashBytes, in: transaction) else { return }
      try StoreSchema.putModel(archive, hashes: hashBytes, versionName: name, in: transaction)
      var derived: StoreEntities?
      if let former, let schema = try StoreSchema(from: transaction) {
        let entities = try StoreEntities(
          binding, schema: schema, identity: pages.identity,
          configuration: isOfWholeModel ? nil : subset)
        // Derivation expressions are in no version hash either.
        if try DerivedValues.writeChanged(since: former, entities, in: transaction) {
          derived = entities
        }
      }
      if hasOtherIndexes {
        try StoreSchema.exchangeIndexes(for: ModelBinding(model.current), in: transaction)
      }
      try derived?.checkDerivedConstraints(in: transaction)
    }
  }

  /// - Throws: ``PersistenceError/Code/migration`` if a read-only store may have links to deleted
  ///   objects, which the model does not allow.
  private func checkLinks(since stored: ManagedObjectModel) throws {
    guard let relationship = model.current.relationshipToClear(since: stored) else { return }
    throw PersistenceError(
      .migration,
      "\(relationship) may refer to objects that were deleted by the rule No Action, which its "
        + "inverse has no more: open the store once so that it can be written")
  }

  /// The steps that the store needs before it can be opened; `nil` if it has the current version.
  func migrationPath(for snapshot: Snapshot) throws -> MigrationPath? {
    if try StoreSchema.matches(hashBytes, in: snapshot) { return nil }
    let hashes = try StoreSchema.hashes(in: snapshot)
    // An earlier release may have written different hashes for the same model.
    if hashes == model.current.entityVersionHashesByName { return nil }
    // The store has the name of its version, which makes it needless to look at the others.
    let source = model.version(
      matching: hashes, probably: try StoreSchema(from: snapshot)?.versionName)
    if source == nil { try checkConfiguration(hashes) }
    guard options.migratesAutomatically else {
      throw PersistenceError(
        .persistentStoreIncompatibleVersionHash,
        "the store was written with another version of the model "
          + "(\(VersionDifferences.text(hashes, model.current))); "
          + "open it with the option to migrate\(mergingHint(hashes))")
    }
    if let manager = options.stagedMigrationManager {
      return try StageSequence(manager.stages, model, options.mappingModels).path(for: snapshot)
    }
    guard let source else {
      return try pathFromStoredModel(of: snapshot, hashes)
    }
    return try MigrationPathSearch(model, source, options, snapshot).path()
  }

  /// Checks that the store is not one of another configuration, or of one where all entities are
  /// asked for: a migration would delete the objects of the others, or find none.
  private func checkConfiguration(_ hashes: [String: VersionHash]) throws {
    let names = [nil] + fullModel.current.configurations.keys.sorted().map { Optional($0) }
    for version in fullModel.versions {
      for name in names where name != subset?.name {
        guard ModelSubset.hashes(name, of: version.model) == hashes else { continue }
        throw PersistenceError(
          .persistentStoreIncompatibleVersionHash,
          "the store has \(name.map { "the configuration \($0)" } ?? "all entities") of the model, "
            + "not \(subset.map { "the configuration \($0.name)" } ?? "all entities"): open it with "
            + "the configuration that it was made with")
      }
    }
  }

  /// - Returns: the schema; `nil` for a configuration, or if another process has created it.
  private func createSchema(in pages: PageStore) throws -> StoreSchema? {
    guard !options.isReadOnly else {
      throw PersistenceError(.persistentStoreOpen, "the file holds no objects, and is read-only")
    }
    let name = model.hasNamedVersions ? model.currentVersion.name : nil
    return try pages.write { transaction in
      guard try transaction.indexTree(StoreSchema.tree) == nil else { return nil }
      guard subset == nil else {
        try StoreSchema(for: model.current, versionName: name)
          .write(to: transaction, model: model.current)
        return nil
      }
      let new = try binding.newStore()
      var schema = new.schema
      schema.versionName = name
      try schema.write(
        to: transaction, archive: new.archive, hashes: binding.hashBytes,
        entityBytes: new.entityBytes)
      return schema
    }
  }
}
