import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How far a long operation on a store is.
public struct StoreProgress: Hashable, Sendable {
  /// What is done, in bytes, entries or pages.
  public let completedUnitCount: Int
  /// What there is to do; it may grow a little meanwhile.
  public let totalUnitCount: Int

  /// From 0 to 1.
  public var fractionCompleted: Double {
    totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 1
  }
}

// An open store, kept in order. All of these can run while the store is used.
extension PersistentStore {
  /// Inspects everything in the store, as of its last save: pages, trees, objects, references and
  /// indexes. Readers and writers go on.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` for an incremental store. Damage
  ///   is no error: it is among the findings.
  /// - Complexity: O(bytes of the store), and O(log *n*) for each reference.
  public func check() throws -> StoreInspection {
    try pages.steadily(isOvertaken: \.isOfOvertakenState) { try StoreInspection(of: self) }
  }

  /// Writes the last save to a new file, a closed store with the same UUID and content. Readers and
  /// writers go on; what they save meanwhile is not in the copy. A store in memory is written as
  /// well.
  ///
  /// The backup is opened as any store, or replaces this one by
  /// ``PersistentStoreCoordinator/restorePersistentStore(at:fromBackupAt:progress:)``.
  ///
  /// - Parameter progress: called from time to time, in bytes; what it throws ends the backup, and
  ///   is thrown on.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` if a file is there already or
  ///   cannot be written, or if a page of the store is damaged; no file is left then.
  /// - Complexity: O(bytes of the store).
  public func backUp(
    to url: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    if incremental != nil { throw refusal(of: "copied to a file") }
    let path = url.path(percentEncoded: false)
    do {
      try pages.backUp(
        to: path,
        progress: { done, total in
          try progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
          return true
        })
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreOperation, "the store cannot be copied to \(path)",
        orUnknown: "whether the copy at \(path) lasts", error)
    }
  }

  /// Rewrites the store with full pages and without free ones, to a new file that replaces the old
  /// one in one step: a store that has shrunk gets smaller, and scans of one that was changed much
  /// get faster. Readers go on; writers wait.
  ///
  /// Does nothing in memory.
  ///
  /// - Parameter progress: called from time to time, in entries; what it throws ends it, with the
  ///   store unchanged, and is thrown on.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` for a store that is read only, on
  ///   a full disk, or if a page is damaged: the store is unchanged then.
  /// - Complexity: O(bytes of the store), and as much room on the disk for the new file.
  public func compact(progress: (StoreProgress) throws -> Void = { _ in }) throws {
    if incremental != nil { throw refusal(of: "compacted") }
    do {
      try pages.compact(progress: { done, total in
        try progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
        return true
      })
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreOperation, "the store \(name) cannot be compacted", underlying: error)
    }
  }
}
