import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Execution of several mapping models, one after the other, into one destination.

extension MigrationManager {
  /// The existing destination, if objects are to be added to it.
  ///
  /// Adding to a store of an earlier run by mistake would duplicate all objects. Only a destination
  /// that this manager has made from the same source is therefore added to without an explicit
  /// setting.
  ///
  /// - Returns: `nil` if the destination is to be created.
  final func existingDestination(
    at path: String, from source: String, uuid: UUID?, in files: any FileSystem
  ) throws -> PageStore? {
    let isMine = madeDestination?.source == source && madeDestination?.destination == path
    guard try files.identifier(of: path) != nil else { return nil }
    guard isMine || addsToDestination else {
      throw destinationFailure(
        path, "is there already: remove it, or add to it by the manager's addsToDestination")
    }
    var options = PageStoreOptions()
    options.createIfMissing = false
    let pages: PageStore
    do {
      pages = try PageStore.open(path, options: options, in: files)
    } catch {
      throw destinationFailure(path, "cannot be opened", underlying: error)
    }
    do {
      try check(pages, at: path, uuid)
      return pages
    } catch {
      try? pages.close()
      throw error
    }
  }

  private func check(_ pages: PageStore, at path: String, _ uuid: UUID?) throws {
    if !addsToDestination, pages.identity != madeDestination?.identity {
      throw destinationFailure(
        path, "is there already, and is not the one that the manager has made before")
    }
    if let uuid, StoreIdentity(uuid) != pages.identity {
      throw destinationFailure(path, "is there already, with another UUID than its options name")
    }
    try pages.read { snapshot in
      guard
        try StoreSchema.isOf(
          destinationModel, StoreSchema.hashBytes(of: destinationModel), in: snapshot)
      else { throw destinationFailure(path, "is not of the destination model") }
      guard try StoreSchema(from: snapshot)?.hasOlderLayouts != true else {
        throw destinationFailure(
          path, "has a deferred migration that is not finished: finish that first")
      }
    }
  }

  private func destinationFailure(
    _ path: String, _ words: String, underlying: (any Error)? = nil
  ) -> PersistenceError {
    PersistenceError(
      .migrationManagerDestinationStore, "the destination store at \(path) \(words)",
      underlying: underlying)
  }

  /// Adds the objects of a mapping to a store of the destination model, in one commit. After an
  /// error the store is unchanged.
  final func add(
    to target: PageStore, at path: String, from pages: PageStore, _ mapping: MappingModel,
    in files: any FileSystem
  ) throws {
    let recording = MigrationRecording(self, try sourceSchema(of: pages), destination: nil)
    var options = PageStoreOptions()
    options.identity = target.identity
    // Never opened again, so that it need not be durable.
    options.durability = .none
    let old = try target.snapshot()
    let part = try destinationError {
      try PartialStore(
        copying: old, at: path, model: destinationModel, options: options, in: files, stepProgress)
    }
    defer { part.discard() }
    try fill(part, from: pages, mapping)
    try checkCancellation()
    let made = try part.pages.snapshot()
    let entry = try recording.entry(for: made)
    // The history has no transactions for the added objects.
    let history = try StoredHistory(in: old)
    try target.replaceContent(by: made, since: old.contentCommit, stepProgress) { transaction in
      try StoreSchema.append(entry, in: transaction)
      if let history { try StoredHistory.restart(after: history, in: transaction) }
    }
  }
}
