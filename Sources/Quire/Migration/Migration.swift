import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Migrates a store from one version of its model to another, in one transaction.
///
/// 1. The difference between the models gives the old entity and property of each new one.
/// 2. A draft decides for each entity whether its rows can be kept, and for each relationship
///    whether its links can; it reads the old state of the store as far as necessary.
/// 3. A backup is made, if one is requested.
/// 4. Rows and links that cannot be kept are read from a snapshot of the old state and written to
///    trees of the new one; the schema is replaced.
/// 5. A record of the migration is added to the store.
/// 6. One commit makes it durable. Before it the store has the old version, after it the new one.
///
/// Trees that are kept are neither read nor written. The UUID of the store, and the keys and
/// versions of its objects, are always kept.
struct Migration {
  let source: VersionedModel.Version
  let destination: VersionedModel.Version
  /// Whether objects may remain in their old layout, to be rewritten later.
  var defers = false
  /// The store's version name afterwards.
  var versionName: String?
  /// The backup to be made before anything is written.
  var backup: PendingBackup?
  var progress = StepProgress()

  init(from source: VersionedModel.Version, to destination: VersionedModel.Version) {
    self.source = source
    self.destination = destination
    versionName = destination.name
  }

  /// The plan of ``run(in:)``, with its obstacles.
  func plan(for snapshot: Snapshot) throws -> MigrationPlan {
    try draft(snapshot).plan(from: source.name, to: destination.name, for: snapshot)
  }

  /// Migrates the store. After an error the store has its old version.
  ///
  /// - Throws: ``PersistenceError/Code/inferredMappingModel`` with all obstacles if the mapping
  ///   cannot be inferred; ``PersistenceError/Code/migration`` if objects in the store would lack a
  ///   required value or have numbers that do not fit the new types, or if the engine cannot write;
  ///   ``PersistenceError/Code/migrationCancelled``.
  func run(in pages: PageStore) throws -> MigrationOutcome {
    let clock = ContinuousClock()
    let start = clock.now
    let date = Date()
    try progress.check()
    try progress.reach(0, "planning")
    let snapshot = try pages.snapshot()
    let draft = try draft(snapshot)
    let plan = try draft.plan(from: source.name, to: destination.name, for: snapshot)
    try plan.checkObstacles()
    try progress.check()
    try draft.checkNumbers(in: snapshot, identity: pages.identity, progress)
    try backup?.make(of: pages, progress)
    // A small cache, as each old page is read once.
    pages.limitCache(to: MigrationWriter.cacheByteLimit)
    defer { pages.limitCache(to: nil) }
    let transaction = try pages.beginWrite()
    do {
      guard transaction.begins(with: snapshot.contentCommit) else {
        throw PersistenceError(.migration, "the store was changed while its migration was planned")
      }
      let writer = try MigrationWriter(
        draft, snapshot, transaction, versionName: versionName, identity: pages.identity, progress)
      try writer.write()
      let record = MigrationRecord(
        sourceVersion: source.name, sourceChecksum: source.model.versionChecksum,
        destinationVersion: destination.name,
        destinationChecksum: destination.model.versionChecksum,
        date: date, duration: clock.now - start, rewrittenObjectCount: plan.rewrittenObjectCount,
        writtenByteCount: try draft.writtenByteCount(in: transaction))
      try StoreSchema.append(record, in: transaction)
      try progress.reach(0.99, "committing")
      try transaction.commit()
      var schema = writer.schema
      schema.migrations = Array((schema.migrations + [record]).suffix(MigrationRecord.limit))
      return MigrationOutcome(plan: plan, schema: schema)
    } catch {
      transaction.abort()
      if let error = error as? StorageError {
        throw PersistenceError(
          .migration, "\(pages.described) could not be migrated and has its old version",
          orUnknown: "which version \(pages.described) has", error)
      }
      throw error
    }
  }

  private func draft(_ snapshot: Snapshot) throws -> MigrationDraft {
    guard let schema = try StoreSchema(from: snapshot) else {
      throw StoreSchema.damaged("is missing")
    }
    // The source version may differ from the stored model in parts that are in no hash. A stored
    // model that cannot be read is ignored.
    let stored = (try? StoreSchema.model(in: snapshot)) ?? source.model
    return try MigrationDraft(
      ModelDifference(from: source.model, to: destination.model), destination.model,
      storedAs: stored, schema, snapshot, defers: defers)
  }
}

/// The result of a migration.
struct MigrationOutcome {
  let plan: MigrationPlan
  /// The schema that the store has now; `nil` if it must be read.
  let schema: StoreSchema?
}

/// A backup to be made before a store's first migration step.
struct PendingBackup {
  let url: URL
  /// The file system: the disk, or a simulated one in tests.
  let fileSystem: any FileSystem

  func make(of pages: PageStore, _ progress: StepProgress) throws {
    let path = url.path(percentEncoded: false)
    try progress.reach(0, "backing up")
    do {
      try pages.backUp(replacing: path, in: fileSystem) { _, _ in progress.goesOn }
    } catch let error as StorageError {
      if let cancelled = progress.error(for: error) as? PersistenceError { throw cancelled }
      throw PersistenceError(
        .migration,
        "the store could not be backed up to \(path), so it was not migrated and has its old version",
        orUnknown:
          "whether the backup at \(path) lasts, so the store was not migrated and has its old version",
        error)
    }
  }
}
