import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store in the making: under another name until it is whole and on disk, so that a crash leaves
/// nothing that could be taken for the store.
///
/// What a crash does leave, the next one of the same name removes.
final class PartialStore {
  let pages: PageStore
  let entities: StoreEntities
  let binding: ModelBinding
  private let path: String
  private let suffix: String
  private let files: any FileSystem
  private var isFinished = false

  private var partPath: String { path + suffix }

  /// - Parameters:
  ///   - path: of the store to be; no file may be there, unless it is never to be published.
  ///   - suffix: what the partial store's name has behind that.
  /// - Throws: when there is a file already, when none can be made, or when another process is at
  ///   work on it.
  init(
    path: String, suffix: String = PartialStore.partSuffix, mustNotExist: Bool = true,
    model: ManagedObjectModel, versionName: String?, metadata: [String: MetadataValue] = [:],
    migrations: [MigrationRecord] = [], options: PageStoreOptions,
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
      // Made in the end, from all rows at once.
      var schema = try StoreSchema(for: model, versionName: versionName, hasIndexes: false)
      schema.metadata = metadata
      schema.migrations = migrations
      entities = try StoreEntities(binding, schema: schema, identity: pages.identity)
    } catch {
      try? pages.close()
      try? PageStore.remove(part, followsLink: false, in: files)
      throw error
    }
  }

  /// A store that begins with the content of another one, without its indexes, and is never to be
  /// published.
  ///
  /// - Parameters:
  ///   - path: of that store.
  ///   - model: that store's.
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

  /// Closes the store and gives it its name.
  ///
  /// - Throws: also when somebody else has made a file of that name meanwhile.
  func publish() throws {
    do throws(StorageError) {
      try pages.close()
      // Closing has removed the log: were that lost and the new name not, it would stay for ever.
      try files.syncFolder(of: path, for: .creationFolder)
      try files.publish(partPath, as: path)
      isFinished = true
      try files.syncFolder(of: path, for: .creationFolder)
    } catch {
      throw PartialStore.failure(path, error)
    }
  }

  /// Removes what there is. What cannot be removed here, the next one will try to remove.
  func discard() {
    guard !isFinished else { return }
    isFinished = true
    try? pages.close()
    try? PageStore.remove(partPath, followsLink: false, in: files)
  }

  /// What the name of a store has behind it while it is made.
  static let partSuffix = "-part"
  /// The same while a mapping model is carried out in its place.
  static let migratingSuffix = "-migrating"

  /// Removes what a process that died while making or migrating the store has left. To be called
  /// with the store's lock held, so that nobody is at it.
  ///
  /// - Parameter path: where the file is itself, not a link to it.
  static func removeRemains(of path: String, in files: any FileSystem) {
    for suffix in [partSuffix, migratingSuffix] {
      do throws(StorageError) {
        let part = path + suffix
        // A crash may have kept the log alone.
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
