import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Brings a store from one version of its model to another, in one transaction.
///
/// 1. The difference between the models says which entity and which property became which.
/// 2. A draft decides for each entity whether its rows can stay as they are, and for each
///    relationship whether its links can; it reads what has to be known from the old state of the
///    store.
/// 3. A backup is made, where one is wanted.
/// 4. Rows and links that cannot stay are read from a snapshot of the old state and written to
///    trees of the new one; the schema is replaced.
/// 5. A record of the migration is added to the store's history.
/// 6. One commit makes it true. Before it the store has the old version, after it the new one.
///
/// Trees that stay are not read, let alone written. The UUID of the store, the keys of its objects
/// and their versions stay in any case.
struct Migration {
  let source: VersionedModel.Version
  let destination: VersionedModel.Version
  /// Whether objects may stay in their old layout, to be rewritten later.
  var defers = false
  /// What the store calls its version afterwards.
  var versionName: String?
  /// Made before anything is written.
  var backup: PendingBackup?
  var progress = StepProgress()

  init(from source: VersionedModel.Version, to destination: VersionedModel.Version) {
    self.source = source
    self.destination = destination
    versionName = destination.name
  }

  /// What ``run(in:)`` would do, and what stands in the way.
  func plan(for snapshot: Snapshot) throws -> MigrationPlan {
    try draft(snapshot).plan(from: source.name, to: destination.name, for: snapshot)
  }

  /// Migrates the store. When this throws, the store has its old version.
  ///
  /// - Throws: ``PersistenceError/Code/inferredMappingModel`` when the mapping cannot be inferred,
  ///   with everything that stands in the way; ``PersistenceError/Code/migration`` when objects in
  ///   the store would lack a value that is required, when they have numbers that the new types do
  ///   not have, or when the engine cannot write;
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
    // Each old page is read once.
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
          .migration, "the store could not be migrated and has its old version", underlying: error)
      }
      throw error
    }
  }

  private func draft(_ snapshot: Snapshot) throws -> MigrationDraft {
    guard let schema = try StoreSchema(from: snapshot) else {
      throw StoreSchema.damaged("is missing")
    }
    // Of the source version only what its hashes count is sure to be the store's. One that cannot
    // be read is in nobody's way.
    let stored = (try? StoreSchema.model(in: snapshot)) ?? source.model
    return try MigrationDraft(
      ModelDifference(from: source.model, to: destination.model), destination.model,
      storedAs: stored, schema, snapshot, defers: defers)
  }
}

/// What a migration has done.
struct MigrationOutcome {
  let plan: MigrationPlan
  /// The schema that the store has now; `nil` where it has to be read.
  let schema: StoreSchema?
}

/// A backup that is to be made before a store's first migration.
struct PendingBackup {
  let url: URL
  /// Where it is: the disk, or what a test takes for one.
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
        underlying: error)
    }
  }
}
