import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Salvage of objects:
//
//   StoreSalvage     reads a damaged store and writes what is left of it to a new one
//   SalvagedSchema   the model and the numbers of entities, as far as they can be read
//   TreeNaming       finds out what trees hold that the catalog does not name any longer
//   SalvageRepair    makes the objects of the new store consistent: rows, references, links
//   SalvageReport    what was found, and what is lost
//
// The floor below (`TreeSalvage`) finds the entries of trees. They are copied to the new store as
// they are, byte for byte; only what contradicts itself afterwards is changed. A link between two
// objects is stored on both sides, so that one of them is enough. Indexes are built anew; before,
// they tell the keys of objects whose rows are lost.

/// A damaged store, from which everything readable is brought to a new one.
///
/// Of a damaged page only what is on it is lost. The damaged store needs not be one that can be
/// opened, and is never written to.
///
/// ```swift
/// let report = try StoreSalvage(of: damagedURL).write(to: newURL)
/// for entity in report.entities where entity.lostCount > 0 {
///   print("\(entity.name): \(entity.keptCount) kept, \(entity.lostCount) lost")
/// }
/// ```
///
/// Try a sound backup first (`PersistentStoreCoordinator.restorePersistentStore`): it has all of
/// its objects.
public struct StoreSalvage {
  /// The model of the store.
  public let model: ManagedObjectModel
  private let url: URL
  private let trees: TreeSalvage
  private let schema: SalvagedSchema
  private let unknownLinkPageCount: Int

  /// Reads the pages of a store.
  ///
  /// - Parameters:
  ///   - url: the damaged store; no process may have it open to write. Its log, if there is one,
  ///     is read as well.
  ///   - model: the model that the store was last opened with, for a store whose own copy of it is
  ///     lost. Otherwise it is not used.
  ///   - progress: called from time to time, in pages.
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) if there is no such file, if
  ///   it is open elsewhere, or if it is no store at all;
  ///   ``PersistenceError/Code/persistentStoreIncompatibleSchema`` (134020) if its model is lost
  ///   and none was given.
  /// - Complexity: O(pages of the store).
  public init(
    of url: URL, model: ManagedObjectModel? = nil,
    progress: @escaping (StoreProgress) -> Void = { _ in }
  ) throws {
    try self.init(of: url, model: model, in: DiskFileSystem(), progress: progress)
  }

  /// The same on a given file system, for tests.
  package init(
    of url: URL, model: ManagedObjectModel?, in fileSystem: any FileSystem,
    progress: @escaping (StoreProgress) -> Void = { _ in }
  ) throws {
    let path = url.path(percentEncoded: false)
    let found: TreeSalvage
    do throws(StorageError) {
      found = try TreeSalvage(of: path, in: fileSystem) { done, total in
        progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
      }
    } catch {
      throw PersistenceError(
        .persistentStoreOpen, "nothing can be read of the store at \(path)", underlying: error)
    }
    try self.init(found, at: url, model: model)
  }

  /// The same with trees that were read before.
  package init(_ found: TreeSalvage, at url: URL, model: ManagedObjectModel?) throws {
    var found = found
    schema = try SalvagedSchema(
      from: &found, path: url.path(percentEncoded: false), model: model)
    var naming = TreeNaming(found, schema)
    naming.run()
    trees = naming.salvage
    unknownLinkPageCount = naming.unknownLinkPageCount
    self.model = schema.model
    self.url = url
  }

  /// Writes all objects that can be read to a new store.
  ///
  /// Objects keep their keys, so that URIs of their IDs stay valid if the store has its UUID again;
  /// it has unless the first page is damaged. A required relationship or attribute may have no
  /// value afterwards, which is an error only when the object is saved.
  ///
  /// - Parameters:
  ///   - url: the new store's file; there must be none.
  ///   - progress: called from time to time, in entries. An error of it ends the writing.
  /// - Throws: `PersistenceError` if the store cannot be made, also if a file of this name exists;
  ///   an error of `progress`. There is no file then that was not there before.
  /// - Complexity: O(bytes of the store), and O(log *n*) for each link where some are lost.
  @discardableResult
  public func write(
    to url: URL, progress: @escaping (StoreProgress) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    try write(to: url, in: DiskFileSystem(), progress: progress)
  }

  /// The same on a given file system, for tests.
  @discardableResult
  package func write(
    to url: URL, in fileSystem: any FileSystem,
    progress: @escaping (StoreProgress) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    var report = SalvageReport(
      source: trees.path, store: url.path(percentEncoded: false))
    report.versionName = self.schema.schema.versionName
    report.damage = trees.findings.map { "\($0)" }
    report.notes = trees.notes + self.schema.notes
    if unknownLinkPageCount > 0 {
      report.notes.append(
        "\(unknownLinkPageCount) pages of links could not be told to belong to a relationship")
    }
    var options = PageStoreOptions()
    options.pageSize = trees.pageSize
    if trees.isIdentityKnown {
      options.identity = trees.identity
    } else {
      report.notes.append(
        "the first page is lost: checksums could not be verified, so that other damage may have "
          + "gone unseen, and the new store has a new UUID")
    }
    var schema = self.schema.schema
    schema.hasExternalData = trees.tree(named: ExternalValue.tree) != nil
    schema.history = restartedHistory
    let part = try PartialStore(
      path: report.store, schema: schema, model: model, options: options, in: fileSystem)
    let transaction = try part.pages.beginWrite()
    do {
      try schema.write(to: transaction, model: model)
      let progress = SalvageProgress(trees, part.entities, model, progress)
      let repair = SalvageRepair(
        trees, StoreWriter(transaction, part.entities), schema, report, progress)
      try repair.run()
      try StoreSchema.exchangeIndexes(
        for: part.binding, in: transaction, advance: progress.advance(by:))
      try transaction.commit()
      report = repair.report
    } catch {
      transaction.abort()
      throw error
    }
    try part.publish()
    return report
  }

  /// The beginning of a new history, after the end of the former one; `nil` if the store kept
  /// none.
  private var restartedHistory: HistoryMark? {
    let tree = trees.tree(named: StoreSchema.historyTree)
    guard schema.schema.history != nil || tree != nil else { return nil }
    var mark = schema.schema.history ?? HistoryMark(purgedNumber: 0, purgedChangeID: 0)
    guard let tree else { return mark }
    trees.visit(tree) { key, value in
      if case .number(let number) = key { mark.purgedNumber = max(mark.purgedNumber, number) }
      let head = value?.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        return try? HistoryRecord.Head(from: &reader)
      }
      if let last = head?.nextChangeID { mark.purgedChangeID = max(mark.purgedChangeID, last - 1) }
    }
    // Even a token for the end of the former history expires.
    mark.purgedNumber = mark.purgedNumber < .max ? mark.purgedNumber + 1 : .max
    return mark
  }
}
