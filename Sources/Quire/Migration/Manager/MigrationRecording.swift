import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is known of a manager's migration for the store's history before it has ended.
struct MigrationRecording {
  private let manager: MigrationManager
  private let sourceName: String
  private let destinationName: String
  private let date = Date()
  private let start = ContinuousClock().now

  init(_ manager: MigrationManager, _ schema: StoreSchema, destination: String?) {
    self.manager = manager
    sourceName = MigrationRecording.name(schema.versionName)
    destinationName = MigrationRecording.name(destination)
  }

  /// The name of a version that nobody has named is that of a model without history.
  static func name(_ versionName: String?) -> String { versionName ?? "Model" }

  /// The entry of a migration whose outcome is there.
  func entry(for outcome: Snapshot) throws -> MigrationRecord {
    var objectCount = 0
    var byteCount = 0
    for entity in try StoreSchema(from: outcome)?.entities ?? [] {
      if let rows = try outcome.recordTree(entity.rowTree) {
        objectCount += rows.count
        byteCount += try rows.extent().byteCount
      }
      for link in entity.links {
        byteCount += try outcome.indexTree(link.tree)?.extent().byteCount ?? 0
      }
    }
    return MigrationRecord(
      sourceVersion: sourceName, sourceChecksum: manager.sourceModel.versionChecksum,
      destinationVersion: destinationName,
      destinationChecksum: manager.destinationModel.versionChecksum, date: date,
      duration: ContinuousClock().now - start, rewrittenObjectCount: objectCount,
      writtenByteCount: byteCount)
  }
}

extension PageStore {
  /// Puts the trees of another store in the place of this one's, by one commit. When this throws,
  /// the store is as it was.
  ///
  /// - Parameters:
  ///   - before: the commit that the others were made from.
  ///   - body: adds to them in the same transaction.
  func replaceContent(
    by content: Snapshot, since before: CommitNumber, _ progress: StepProgress,
    _ body: (WriteTransaction) throws -> Void = { _ in }
  ) throws {
    let transaction = try beginWrite()
    do {
      guard transaction.begins(with: before) else {
        throw PersistenceError(.migration, "the store was changed while it was migrated")
      }
      for (name, _, _) in try snapshot().treeNames() { try transaction.dropTree(name) }
      try transaction.copyTrees(of: content) { _, _ in progress.goesOn }
      try body(transaction)
      try progress.check()
      try transaction.commit()
    } catch {
      transaction.abort()
      let error = progress.error(for: error)
      guard let error = error as? StorageError else { throw error }
      throw PersistenceError(
        .migration, "the store could not be migrated and has its old version", underlying: error)
    }
  }
}
