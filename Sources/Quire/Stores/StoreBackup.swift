import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The handling of a store's former content when it is opened and migrated.
///
/// A backup is a closed store of the old version with the same UUID, whose pages were all verified
/// when they were copied. It is made before the migration writes anything; if it cannot be made,
/// for example on a full disk, the migration does not begin. It is kept, whether the migration
/// succeeds or fails, until it is removed by other means or replaced by the store's next backup of
/// that name.
public enum MigrationBackup: Hashable, Sendable {
  /// No backup. A migration is one commit, so that it cannot be half done; a backup is needed only
  /// for going back to an older version of the program.
  case none
  /// A file in the same folder, with the store's name and a tilde.
  case beside
  /// Another file. An older backup of the same store is replaced; any other existing file is an
  /// error.
  case copy(to: URL)

  /// The URL of a store's backup; `nil` for none.
  public func url(forStoreAt store: URL) -> URL? {
    switch self {
    case .none: nil
    case .beside:
      URL(filePath: CompanionName.path(of: store.path(percentEncoded: false), "~"))
    case .copy(let url): url
    }
  }
}

extension PersistentStoreCoordinator {
  /// Replaces a store with its backup, in one step.
  ///
  /// The store may be damaged or missing; it is unchanged until it has the backup's content. The
  /// backup is kept.
  ///
  /// - Parameters:
  ///   - url: the store's file, which must not be open.
  ///   - backup: a backup of it, or any other closed copy with the same UUID.
  ///   - progress: called from time to time, in bytes; what it throws ends the restoration, and the
  ///     store is unchanged.
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) if the backup is not an
  ///   intact store of objects; ``PersistenceError/Code/persistentStoreOperation`` (134070) if the
  ///   store is open in this process or another, if it has another UUID than the backup, or on an
  ///   error of the disk. The store is unchanged then; only if the last step fails, making the
  ///   file's new name durable, it may have the backup's content.
  /// - Complexity: O(bytes of the backup).
  public static func restorePersistentStore(
    at url: URL, fromBackupAt backup: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    try restorePersistentStore(
      at: url, fromBackupAt: backup, in: DiskFileSystem(), progress: progress)
  }

  /// The same on a given file system, for tests.
  package static func restorePersistentStore(
    at url: URL, fromBackupAt backup: URL, in fileSystem: any FileSystem,
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let path = url.path(percentEncoded: false)
    try StoreFiles.inspecting(backup, in: fileSystem) { snapshot, pages in
      guard try snapshot.indexTree(StoreSchema.tree) != nil else {
        throw PersistenceError(
          .persistentStoreOpen,
          "\(backup.path(percentEncoded: false)) holds no objects: it is no backup of such a store")
      }
      do {
        try pages.restore(to: path, in: fileSystem) { done, total in
          try progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
          return true
        }
      } catch let error as StorageError {
        throw PersistenceError(
          .persistentStoreOperation,
          "the store at \(path) could not be restored from "
            + "\(backup.path(percentEncoded: false))",
          orUnknown: "whether the store at \(path) was restored", error)
      }
    }
  }
}
