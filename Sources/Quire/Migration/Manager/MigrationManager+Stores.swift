import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MigrationManager {
  /// The location of a store, as given by the caller.
  typealias Location = (url: URL, type: StoreType, options: PersistentStoreOptions)

  final func carryOut(
    _ mapping: MappingModel, from sourceLocation: Location, to destinationLocation: Location
  ) throws {
    let (sourceURL, sourceType, sourceOptions) = sourceLocation
    let (destinationURL, destinationType, destinationOptions) = destinationLocation
    guard sourceType == .quire, destinationType == .quire, sourceURL.isFileURL,
      destinationURL.isFileURL
    else {
      throw PersistenceError(
        .persistentStoreInvalidType,
        "a migration leads from a file of Quire's format to another: \(sourceType.rawValue) at "
          + "\(sourceURL.absoluteString), \(destinationType.rawValue) at "
          + "\(destinationURL.absoluteString)")
    }
    let files = DiskFileSystem()
    let source = files.destination(of: sourceURL.path(percentEncoded: false))
    let destination = files.destination(of: destinationURL.path(percentEncoded: false))
    if source == destination, sourceOptions.isReadOnly {
      throw PersistenceError(
        .migrationManagerSourceStore,
        "the source store at \(source) is read-only by its options, and cannot be migrated in place"
      )
    }
    let backup = sourceOptions.migrationBackup.url(forStoreAt: URL(filePath: source))
    try migrateStore(
      from: source, to: destination, mapping, uuid: destinationOptions.storeUUID,
      backup: backup.map { PendingBackup(url: $0, fileSystem: files) }, in: files)
  }

  /// The same on a given file system, for tests.
  ///
  /// - Parameter versionName: the name of the destination model's version, to be stored.
  package final func migrateStore(
    from source: String, to destination: String, _ mapping: MappingModel, uuid: UUID?,
    versionName: String? = nil, in files: any FileSystem
  ) throws {
    try migrateStore(
      from: source, to: destination, mapping, uuid: uuid, versionName: versionName, backup: nil,
      in: files)
  }

  private func migrateStore(
    from source: String, to destination: String, _ mapping: MappingModel, uuid: UUID?,
    versionName: String? = nil, backup: PendingBackup?, in files: any FileSystem
  ) throws {
    guard !isMigrating else {
      throw PersistenceError(.migration, "the manager is at work on another migration")
    }
    isMigrating = true
    defer { isMigrating = false }
    forget()
    do {
      try run(
        mapping, from: source, to: destination, uuid: uuid, versionName: versionName,
        backup: backup, in: files)
    } catch let error as StorageError {
      throw PersistenceError(
        .migration, "the store could not be migrated, and the source is as it was",
        orUnknown: "whether the store was migrated", error)
    }
  }

  private func run(
    _ mapping: MappingModel, from source: String, to destination: String, uuid: UUID?,
    versionName: String?, backup: PendingBackup?, in files: any FileSystem
  ) throws {
    mappingModel = mapping
    let isInPlace = source == destination
    let pages = try openSource(source, isReadOnly: !isInPlace, in: files)
    defer { try? pages.close() }
    // Only after the store was verified to be the expected one.
    if let backup {
      _ = try sourceSchema(of: pages)
      try backup.make(of: pages, stepProgress)
    }
    let needsNoObjects =
      usesStoreSpecificMigrationManager
      && mapping.isInferred(from: sourceModel, to: destinationModel)
    if isInPlace {
      if needsNoObjects {
        try rewrite(pages, versionName)
      } else {
        try migrate(pages, mapping, at: source, versionName: versionName, in: files)
      }
    } else if let target = try existingDestination(
      at: destination, from: source, uuid: uuid, in: files)
    {
      defer { try? target.close() }
      try add(to: target, at: destination, from: pages, mapping, in: files)
    } else {
      var options = PageStoreOptions()
      options.identity = uuid.map { StoreIdentity($0) }
      // Intermediate commits need not be durable, as the store is not visible before it is
      // complete.
      options.durability = .ordered
      let schema = try sourceSchema(of: pages)
      let part = try destinationError {
        try PartialStore(
          path: destination, model: destinationModel, versionName: versionName,
          metadata: schema.metadata, migrations: schema.migrations, options: options, in: files)
      }
      if needsNoObjects {
        try copyAndRewrite(pages, part, versionName)
      } else {
        let record = MigrationRecording(self, schema, destination: nil)
        try writeSchema(of: part)
        try fill(part, from: pages, mapping)
        let entry = try record.entry(for: try part.pages.snapshot())
        let history = try pages.read { try StoredHistory(in: $0) }
        try part.pages.write { transaction in
          try StoreSchema.append(entry, in: transaction)
          if let history { try StoredHistory.restart(after: history, in: transaction) }
        }
      }
      try checkCancellation()
      let identity = part.pages.identity
      try destinationError { try part.publish() }
      madeDestination = MadeDestination(
        source: source, destination: destination, identity: identity)
    }
    report(1, "done")
  }

  // MARK: Without objects

  /// Executes an inferred mapping on the rows, in one commit.
  private func rewrite(_ pages: PageStore, _ versionName: String?) throws {
    let schema = try sourceSchema(of: pages)
    var migration = Migration(
      from: .init(MigrationRecording.name(schema.versionName), sourceModel),
      to: .init(MigrationRecording.name(versionName), destinationModel))
    migration.versionName = versionName
    migration.progress = stepProgress
    _ = try migration.run(in: pages)
  }

  private func copyAndRewrite(
    _ pages: PageStore, _ part: PartialStore, _ versionName: String?
  ) throws {
    let progress = stepProgress
    do {
      let snapshot = try pages.snapshot()
      try part.pages.write { transaction in
        try transaction.copyTrees(of: snapshot) { _, _ in progress.goesOn }
      }
    } catch {
      throw progress.error(for: error)
    }
    try rewrite(part.pages, versionName)
  }

  final func openSource(
    _ path: String, isReadOnly: Bool, in files: any FileSystem
  ) throws -> PageStore {
    var options = PageStoreOptions()
    options.createIfMissing = false
    options.isReadOnly = isReadOnly
    do {
      return try PageStore.open(path, options: options, in: files)
    } catch {
      throw PersistenceError(
        .migrationManagerSourceStore, "the source store at \(path) cannot be opened",
        underlying: error)
    }
  }

  final func destinationError<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw PersistenceError(
        .migrationManagerDestinationStore, "the destination store cannot be made",
        underlying: error)
    }
  }

  /// - Throws: ``PersistenceError/Code/migrationManagerSourceStore`` if the store is not of the
  ///   source model.
  final func sourceSchema(of pages: PageStore) throws -> StoreSchema {
    let schema = try pages.read { snapshot -> StoreSchema? in
      let expected = StoreSchema.hashBytes(of: sourceModel)
      guard try StoreSchema.isOf(sourceModel, expected, in: snapshot) else {
        let hashes = try StoreSchema.hashes(in: snapshot)
        throw PersistenceError(
          .migrationManagerSourceStore,
          "the source store is not of the source model "
            + "(\(VersionDifferences.text(hashes, sourceModel)))")
      }
      return try StoreSchema(from: snapshot)
    }
    guard let schema else { throw StoreSchema.damaged("is missing") }
    return schema
  }

  // MARK: In place

  /// Migrates a store in place, in one commit: the new trees are first built in a temporary file,
  /// and then replace the old ones.
  ///
  /// After an error the store is unchanged.
  ///
  /// - Parameter versionName: the store's version name afterwards.
  final func migrate(
    _ pages: PageStore, _ mapping: MappingModel, at path: String, versionName: String? = nil,
    in files: any FileSystem
  ) throws {
    mappingModel = mapping
    let schema = try sourceSchema(of: pages)
    try checkAllAreMapped(mapping, schema, in: try pages.snapshot())
    let recording = MigrationRecording(self, schema, destination: versionName)
    var options = PageStoreOptions()
    options.identity = pages.identity
    // Never opened again, so that it need not be durable.
    options.durability = .none
    let part = try destinationError {
      try PartialStore(
        path: path, suffix: PartialStore.migratingSuffix, mustNotExist: false,
        model: destinationModel, versionName: versionName, metadata: schema.metadata,
        migrations: schema.migrations, options: options, in: files)
    }
    defer { part.discard() }
    let old = try pages.snapshot()
    let before = old.contentCommit
    try writeSchema(of: part)
    try fill(part, from: pages, mapping)
    try checkCancellation()
    let made = try part.pages.snapshot()
    let entry = try recording.entry(for: made)
    // Objects have other keys than in the existing history.
    let history = try StoredHistory(in: old)
    try pages.replaceContent(by: made, since: before, stepProgress) { transaction in
      try StoreSchema.append(entry, in: transaction)
      if let history { try StoredHistory.restart(after: history, in: transaction) }
    }
  }

  private func writeSchema(of part: PartialStore) throws {
    try part.pages.write { transaction in
      try part.entities.schema.write(to: transaction, model: destinationModel)
    }
  }

  /// Executes the mapping from one store to another, which has a schema and no indexes.
  final func fill(_ part: PartialStore, from pages: PageStore, _ mapping: MappingModel) throws {
    let source = PersistentStoreCoordinator(
      managedObjectModel: sourceModel, defaultClass: mapping.objectClass)
    try attachSource(pages, to: source)
    let destination = PersistentStoreCoordinator(
      managedObjectModel: destinationModel, defaultClass: mapping.objectClass)
    destination.attach(
      PersistentStore(
        type: .quire, url: nil, isReadOnly: false, pages: part.pages, entities: part.entities,
        migrationReport: nil))
    sourceContext.persistentStoreCoordinator = source
    destinationContext.persistentStoreCoordinator = destination
    destinationContext.migration = MigrationWriting()
    defer {
      // The stores are closed after this call; objects that policies keep then have no store.
      sourceContext.reset()
      destinationContext.migration?.writtenObjects = []
      destinationContext.reset()
      source.detach()
      destination.detach()
    }
    var passes = try MigrationPasses(mapping, self)
    try passes.run(try MigrationSources(sourceContext))
    try checkCancellation()
    if part.entities.derivations != nil {
      _ = try destinationContext.firstSession().latestView()
      try part.pages.write { try DerivedValues.writeAll(StoreWriter($0, part.entities)) }
    }
    var validation = DestinationValidation(
      try destinationContext.firstSession().latestView(), destination.binding)
    try validation.run()
    // Built from all rows at the end; until then fetches in the destination use no indexes.
    try part.pages.write {
      try StoreSchema.exchangeIndexes(for: part.binding, in: $0)
    }
    report(0.95, "validated")
  }

  private func attachSource(
    _ pages: PageStore, to coordinator: PersistentStoreCoordinator
  ) throws {
    let schema = try sourceSchema(of: pages)
    coordinator.attach(
      PersistentStore(
        type: .quire, url: nil, isReadOnly: true, pages: pages,
        entities: try StoreEntities(
          coordinator.binding, schema: schema, identity: pages.identity),
        migrationReport: nil))
  }
}
