import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The start data of a manager's migration, for the record in the store.
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

  /// A version without a name is called like that of a model without a history.
  static func name(_ versionName: String?) -> String { versionName ?? "Model" }

  /// The record of a migration, given its result.
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
  /// Replaces the trees of this store with those of another, in one commit. After an error the
  /// store is unchanged.
  ///
  /// - Parameters:
  ///   - before: the commit from which the other trees were made.
  ///   - body: adds to the replaced trees in the same transaction.
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
        .migration, "\(described) could not be migrated and has its old version",
        orUnknown: "which version \(described) has", error)
    }
  }
}
