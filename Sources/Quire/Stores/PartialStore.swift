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
  var pages: PageStore { new.pages }
  let entities: StoreEntities
  let binding: ModelBinding
  private let new: UnpublishedStore

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
    binding = ModelBinding(model)
    new = try PartialStore.new(path, suffix, mustNotExist: mustNotExist, options, in: files)
    entities = try StoreEntities(binding, schema: schema, identity: new.pages.identity)
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
    binding = ModelBinding(model)
    new = try PartialStore.new(
      path, PartialStore.migratingSuffix, mustNotExist: false, options, in: files)
    do {
      let schema = try new.pages.write { transaction in
        try transaction.copyTrees(of: content) { _, _ in progress.goesOn }
        return try StoreSchema.dropIndexes(in: transaction)
      }
      entities = try StoreEntities(binding, schema: schema, identity: new.pages.identity)
    } catch {
      throw progress.error(for: error)
    }
  }

  private static func new(
    _ path: String, _ suffix: String, mustNotExist: Bool, _ options: PageStoreOptions,
    in files: any FileSystem
  ) throws -> UnpublishedStore {
    do throws(StorageError) {
      return try UnpublishedStore(
        path, suffix: suffix, mustNotExist: mustNotExist, options: options, in: files)
    } catch {
      throw failure(files.destination(of: path), error)
    }
  }

  /// Closes the store and renames it to its final name.
  ///
  /// - Throws: an error, also if a file of that name was created in the meantime.
  func publish() throws {
    do throws(StorageError) {
      try new.publish()
    } catch {
      throw PartialStore.failure(new.path, error)
    }
  }

  /// Removes the files. What cannot be removed here is removed by the next attempt.
  func discard() { new.discard() }

  /// The suffix of a store under construction.
  static let partSuffix = UnpublishedStore.suffix
  /// The suffix of the copy in which a mapping model migrates a store.
  static let migratingSuffix = "-migrating"

  /// Removes what a process that crashed while creating or migrating the store has left: a store
  /// under construction, or what is left of one. The store's lock must be held, so that no other
  /// process is using these files.
  ///
  /// - Parameter path: the path of the file itself, not of a link to it.
  /// - Complexity: O(*n*) in the number of files in the folder.
  static func removeRemains(of path: String, in files: any FileSystem) {
    // A stage with handlers may migrate a copy of the store by a mapping.
    let migrating = CompanionName.path(of: path, migratingSuffix)
    let parts = [
      CompanionName.path(of: path, partSuffix), migrating,
      CompanionName.path(of: migrating, migratingSuffix),
    ]
    // A power failure may have left any of the files of one, and none of the others.
    let start = parts.dropFirst().reduce(parts[0]) { $0.commonPrefix(with: $1) }
    let found = (try? files.paths(beginningWith: start)) ?? []
    for part in parts.reversed() where found.contains(where: { $0.hasPrefix(part) }) {
      try? PageStore.remove(part, followsLink: false, in: files)
    }
  }

  private static func failure(_ path: String, _ error: StorageError) -> PersistenceError {
    PersistenceError(
      .persistentStoreOpen, "the store at \(path) cannot be made",
      orUnknown: "whether the store at \(path), which was made, lasts", error)
  }
}

extension String {
  /// The characters with which both begin.
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
