import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What becomes of a store as it was, when it is opened and migrated.
///
/// A backup is a closed store of the old version, with the same UUID: a copy, every page of which
/// was verified on the way. It is made before the migration writes anything; when it cannot be made
/// (the disk is full, say) the migration does not begin. It stays, whether the migration succeeds
/// or fails, until somebody removes it, or the store's next backup of that name takes its place.
public enum MigrationBackup: Hashable, Sendable {
  /// No backup. A migration is one commit, so that it has happened or has not; a backup is for
  /// going back to the old version of the program.
  case none
  /// In the same folder, under the store's name with a tilde behind it.
  case beside
  /// In another file. An older backup of the same store is replaced there, any other file is an
  /// error.
  case copy(to: URL)

  /// Where the backup of a store goes; `nil` when there is to be none.
  public func url(forStoreAt store: URL) -> URL? {
    switch self {
    case .none: nil
    case .beside:
      store.deletingLastPathComponent().appending(path: store.lastPathComponent + "~")
    case .copy(let url): url
    }
  }
}

extension PersistentStoreCoordinator {
  /// Puts a backup in the place of the store that it is a backup of, in one step.
  ///
  /// The store may be damaged, or gone; it is as it was until it is the backup's content. The
  /// backup stays.
  ///
  /// - Parameters:
  ///   - url: the store's file, which nobody may have open.
  ///   - backup: a backup of it, or any other closed copy with the same UUID.
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) when the backup is no sound
  ///   store of objects; ``PersistenceError/Code/persistentStoreOperation`` (134070) when the store
  ///   is open, in this process or another, when it has another UUID than the backup, or when the
  ///   disk refuses. The store is then as it was; only when the very last step fails, making the
  ///   file's new name durable, it may be the backup's content.
  /// - Complexity: O(bytes of the backup).
  public static func restorePersistentStore(at url: URL, fromBackupAt backup: URL) throws {
    try restorePersistentStore(at: url, fromBackupAt: backup, in: DiskFileSystem())
  }

  /// The same, on a file system that a test brings.
  package static func restorePersistentStore(
    at url: URL, fromBackupAt backup: URL, in fileSystem: any FileSystem
  ) throws {
    let path = url.path(percentEncoded: false)
    try StoreOpening.inspecting(backup, in: fileSystem) { snapshot, pages in
      guard try snapshot.indexTree(StoreSchema.tree) != nil else {
        throw PersistenceError(
          .persistentStoreOpen,
          "\(backup.path(percentEncoded: false)) holds no objects: it is no backup of such a store")
      }
      do {
        try pages.restore(to: path, in: fileSystem)
      } catch let error as StorageError {
        throw PersistenceError(
          .persistentStoreOperation,
          "the store at \(path) could not be restored from "
            + "\(backup.path(percentEncoded: false))", underlying: error)
      }
    }
  }
}
