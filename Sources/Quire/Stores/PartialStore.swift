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
    path: String, suffix: String = "-part", mustNotExist: Bool = true,
    model: ManagedObjectModel, versionName: String?, metadata: [String: MetadataValue] = [:],
    migrations: [MigrationRecord] = [], options: PageStoreOptions,
    in files: any FileSystem = DiskFileSystem()
  ) throws {
    self.path = files.destination(of: path)
    self.suffix = suffix
    self.files = files
    binding = ModelBinding(model)
    let part = self.path + suffix
    var options = options
    options.mustNotExist = true
    do throws(StorageError) {
      if mustNotExist, try files.identifier(of: self.path) != nil {
        throw .alreadyExists(path: self.path)
      }
      try PageStore.remove(part, in: files)
      pages = try PageStore.open(part, options: options, in: files)
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
      try? PageStore.remove(part, in: files)
      throw error
    }
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
    try? PageStore.remove(partPath, in: files)
  }

  /// What the name of a store has behind it while a mapping model is carried out in its place.
  static let migratingSuffix = "-migrating"

  /// Removes what a process that died while migrating the store has left. To be called with the
  /// store's lock held, so that nobody is at it.
  ///
  /// - Parameter path: where the file is itself, not a link to it.
  static func removeRemains(of path: String, in files: any FileSystem) {
    do throws(StorageError) {
      let part = path + migratingSuffix
      // A crash may have kept the log alone.
      if try files.identifier(of: part) == nil, try files.identifier(of: part + "-log") == nil {
        return
      }
      try PageStore.remove(part, in: files)
    } catch {}
  }

  private static func failure(_ path: String, _ error: StorageError) -> PersistenceError {
    PersistenceError(
      .persistentStoreOpen, "the store at \(path) cannot be made", underlying: error)
  }
}
