import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store under construction: it has another name until it is complete and on disk, so that a
/// crash leaves nothing that could be taken for the store.
///
/// Files that a crash leaves are removed by the next attempt with the same name.
final class PartialStore {
  let pages: PageStore
  let entities: StoreEntities
  let binding: ModelBinding
  private let path: String
  private let suffix: String
  private let files: any FileSystem
  private var isFinished = false

  private var partPath: String { path + suffix }

  /// A store with the model's own schema.
  ///
  /// - Parameters:
  ///   - path: the path of the finished store; no file may exist there, unless the store will not
  ///     be published.
  ///   - suffix: appended to the path while the store is under construction.
  /// - Throws: an error if a file exists already, if none can be created, or if another process is
  ///   constructing the same store.
  convenience init(
    path: String, suffix: String = PartialStore.partSuffix, mustNotExist: Bool = true,
    model: ManagedObjectModel, versionName: String?, metadata: [String: MetadataValue] = [:],
    migrations: [MigrationRecord] = [], options: PageStoreOptions,
    in files: any FileSystem = DiskFileSystem()
  ) throws {
    // Indexes are built at the end, from all rows.
    var schema = try StoreSchema(for: model, versionName: versionName, hasIndexes: false)
    schema.metadata = metadata
    schema.migrations = migrations
    try self.init(
      path: path, suffix: suffix, mustNotExist: mustNotExist, schema: schema, model: model,
      options: options, in: files)
  }

  /// A store with a given schema of its model.
  ///
  /// - Throws: an error if a file exists already, if none can be created, or if another process is
  ///   constructing the same store.
  init(
    path: String, suffix: String = PartialStore.partSuffix, mustNotExist: Bool = true,
    schema: StoreSchema, model: ManagedObjectModel, options: PageStoreOptions,
    in files: any FileSystem = DiskFileSystem()
  ) throws {
    self.path = files.destination(of: path)
    self.suffix = suffix
    self.files = files
    binding = ModelBinding(model)
    let part = self.path + suffix
    do throws(StorageError) {
      if mustNotExist, try files.identifier(of: self.path) != nil {
        throw .alreadyExists(path: self.path)
      }
      pages = try PartialStore.open(part, options, in: files)
    } catch {
      throw PartialStore.failure(self.path, error)
    }
    do {
      entities = try StoreEntities(binding, schema: schema, identity: pages.identity)
    } catch {
      try? pages.close()
      try? PageStore.remove(part, followsLink: false, in: files)
      throw error
    }
  }

  /// A store that starts with the content of another one, without its indexes, and will not be
  /// published.
  ///
  /// - Parameters:
  ///   - path: the path of that store.
  ///   - model: the model of that store.
  init(
    copying content: Snapshot, at path: String, model: ManagedObjectModel,
    options: PageStoreOptions, in files: any FileSystem, _ progress: StepProgress
  ) throws {
    self.path = files.destination(of: path)
    suffix = PartialStore.migratingSuffix
    self.files = files
    binding = ModelBinding(model)
    let part = self.path + suffix
    do throws(StorageError) {
      pages = try PartialStore.open(part, options, in: files)
    } catch {
      throw PartialStore.failure(self.path, error)
    }
    do {
      let schema = try pages.write { transaction in
        try transaction.copyTrees(of: content) { _, _ in progress.goesOn }
        return try StoreSchema.dropIndexes(in: transaction)
      }
      entities = try StoreEntities(binding, schema: schema, identity: pages.identity)
    } catch {
      try? pages.close()
      try? PageStore.remove(part, followsLink: false, in: files)
      throw progress.error(for: error)
    }
  }

  private static func open(
    _ part: String, _ options: PageStoreOptions, in files: any FileSystem
  ) throws(StorageError) -> PageStore {
    var options = options
    options.mustNotExist = true
    try PageStore.remove(part, followsLink: false, in: files)
    return try PageStore.open(part, options: options, in: files)
  }

  deinit { discard() }

  /// Closes the store and renames it to its final name.
  ///
  /// - Throws: an error, also if a file of that name was created in the meantime.
  func publish() throws {
    do throws(StorageError) {
      try pages.close()
      // The removal of the log by closing must be durable before the new name is: otherwise, after
      // a crash, the log could remain under the old name for ever.
      try files.syncFolder(of: path, for: .creationFolder)
      try files.publish(partPath, as: path)
      isFinished = true
      try files.syncFolder(of: path, for: .creationFolder)
    } catch {
      throw PartialStore.failure(path, error)
    }
  }

  /// Removes the files. What cannot be removed here is removed by the next attempt.
  func discard() {
    guard !isFinished else { return }
    isFinished = true
    try? pages.close()
    try? PageStore.remove(partPath, followsLink: false, in: files)
  }

  /// The suffix of a store under construction.
  static let partSuffix = "-part"
  /// The suffix of the copy in which a mapping model migrates a store.
  static let migratingSuffix = "-migrating"

  /// Removes what a process that crashed while creating or migrating the store has left. The
  /// store's lock must be held, so that no other process is using these files.
  ///
  /// - Parameter path: the path of the file itself, not of a link to it.
  static func removeRemains(of path: String, in files: any FileSystem) {
    for suffix in [partSuffix, migratingSuffix] {
      do throws(StorageError) {
        let part = path + suffix
        // A crash may have left only the log.
        if try files.identifier(of: part) == nil, try files.identifier(of: part + "-log") == nil {
          continue
        }
        try PageStore.remove(part, followsLink: false, in: files)
      } catch {}
    }
  }

  private static func failure(_ path: String, _ error: StorageError) -> PersistenceError {
    PersistenceError(
      .persistentStoreOpen, "the store at \(path) cannot be made", underlying: error)
  }
}
