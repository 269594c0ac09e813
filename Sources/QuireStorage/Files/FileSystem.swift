// Files: the only door to the world. Everything the engine does outside memory goes through these
// two protocols, so that a test can be the disk: keep what was not synced apart, tear a write,
// refuse a call.

/// The files of a disk, or of a simulated one.
///
/// Implementations throw ``StorageError/io(operation:path:code:message:)``,
/// ``StorageError/noSpaceLeft(path:)``, ``StorageError/notFound(path:)``,
/// ``StorageError/alreadyExists(path:)`` and ``StorageError/forked``, and nothing else.
///
/// Except for ``identifier(of:)`` and ``destination(of:)``, no call follows a symbolic link in the
/// place of the file itself: ``open(_:_:)`` refuses it, or creates a file in its place, and the
/// others operate on the link.
public protocol FileSystem: AnyObject, Sendable {
  /// Opens a file.
  func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File
  /// Renames a finished file to its final name, in one step, unless the name is taken.
  func publish(_ temporaryPath: String, as path: String) throws(StorageError)
  /// Renames a finished file to its final name, in one step, replacing the file of that name.
  func replace(_ path: String, by temporaryPath: String) throws(StorageError)
  /// Removes a file; it is no error if there is none.
  func remove(_ path: String) throws(StorageError)
  /// The identity of the file that the path names now, or `nil` when there is none.
  func identifier(of path: String) throws(StorageError) -> FileIdentifier?
  /// Whether there is a file of that name. Asked before commits are synced: it should be fast, and
  /// not make the file's next sync slower.
  func isNamed(_ path: String) throws(StorageError) -> Bool
  /// The time after which a store's commits ask again whether its log has its name.
  var nameCheckInterval: Duration { get }
  /// The path that a symbolic link refers to; `path` itself where there is none.
  func destination(of path: String) -> String
  /// The type of the file system that a file is on, or that a new file of that name would be on, if
  /// it is one whose files other machines may have open: `nfs`, `smb` and their like. `nil` for a
  /// disk of this machine, and where it is not known.
  func networkType(of path: String) -> String?
  /// Makes the names in the folder of `path` durable.
  func syncFolder(of path: String, for reason: SyncReason) throws(StorageError)
  /// The description of this process for others.
  func currentOwner() -> LockOwner
  /// The paths in the folder of `path` that begin with it, in any order; empty if they are not
  /// known. It finds the files that a crashed process has left beside a store.
  func paths(beginningWith path: String) throws(StorageError) -> [String]
  /// The number of forks that led to the process that asks: a child's is another than its parent's.
  var forkCount: Int { get }
}

extension FileSystem {
  /// None: after each commit.
  public var nameCheckInterval: Duration { .zero }
  /// Whether the path has an ``identifier(of:)``.
  public func isNamed(_ path: String) throws(StorageError) -> Bool {
    try identifier(of: path) != nil
  }
  /// `path`: there are no links unless a file system says otherwise.
  public func destination(of path: String) -> String { path }
  /// `nil`: a disk of this machine, unless a file system says otherwise.
  public func networkType(of path: String) -> String? { nil }
  /// None: what else is in a folder is not known unless a file system says otherwise.
  public func paths(beginningWith path: String) throws(StorageError) -> [String] { [] }
  /// The number of forks that led to this process.
  public var forkCount: Int { ForkCount.current }
}

/// An open file. Closed when the last reference goes, which also gives its lock back.
public protocol File: AnyObject, Sendable {
  /// Tells the file from every other, whatever its name is by now.
  var identifier: FileIdentifier { get }
  /// The number of names the file had when it was opened, as far as that is known; 0 if it had
  /// none.
  var nameCount: Int { get }
  /// The number of names the file has now, as far as that is known.
  func currentNameCount() throws(StorageError) -> Int
  /// The length of the file in bytes.
  func byteCount() throws(StorageError) -> Int
  /// Reads until the buffer is full or the file ends.
  ///
  /// - Returns: the number of bytes read.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int
  /// Writes all bytes, or throws after having written some of them, or none.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError)
  /// Cuts the file off after so many bytes, or fills it up with zeros. The room that was reserved
  /// after the end is given back.
  func truncate(to byteCount: Int) throws(StorageError)
  /// Reserves room on the disk, so that writes up to that offset find some. The file does not
  /// become longer, and the room stays its own when it is closed.
  ///
  /// - Returns: whether that is possible with this file.
  /// - Throws: ``StorageError/noSpaceLeft(path:)`` if there is not as much room.
  func reserve(to byteCount: Int) throws(StorageError) -> Bool
  /// Returns when everything written so far is on the disk, the length of the file included. The
  /// engine does not take ``StorageError/noSpaceLeft(path:)`` of a sync for a promise that nothing
  /// was written.
  func sync(for reason: SyncReason) throws(StorageError)
  /// Takes the lock without waiting; it is held until the file is closed.
  ///
  /// - Returns: `false` if another holder's lock prevents it.
  func lock(_ mode: LockMode) throws(StorageError) -> Bool
  /// Releases the lock while the file stays open.
  func unlock()
  /// Whether another holder has the exclusive lock, or its turn. This only asks: taking the shared
  /// lock for a moment would keep out who wants the exclusive one just then.
  ///
  /// - Returns: `nil` if the system cannot tell; then there are no turns either.
  func hasWriter() throws(StorageError) -> Bool?
  /// Says whether the file's user waits for a turn, until it is said otherwise or the file is
  /// closed.
  func wait(_ waits: Bool)
  /// Whether another user of the file waits for a turn.
  func hasWaiter() throws(StorageError) -> Bool
}

extension File {
  /// 1: what is not known counts as the usual.
  public var nameCount: Int { 1 }
  /// As many as it had when it was opened: what is not known counts as the usual.
  public func currentNameCount() throws(StorageError) -> Int { nameCount }
  /// Impossible, unless a file system says otherwise.
  public func reserve(to byteCount: Int) throws(StorageError) -> Bool { false }
  /// Does nothing: the lock is given back when the file is closed.
  public func unlock() {}
  /// Not known, unless a file system says otherwise.
  public func hasWriter() throws(StorageError) -> Bool? { nil }
  /// Does nothing: nobody knows.
  public func wait(_ waits: Bool) {}
  /// Not known, unless a file system says otherwise.
  public func hasWaiter() throws(StorageError) -> Bool { false }

  /// Writes the first `byteCount` bytes of the memory, or all of it.
  func write(
    _ memory: PageMemory, byteCount: Int? = nil, at offset: Int
  ) throws(StorageError) {
    try memory.withBytes { bytes throws(StorageError) in
      let part = UnsafeRawBufferPointer(rebasing: bytes[..<(byteCount ?? bytes.count)])
      try write(part, at: offset)
    }
  }

  /// Reads bytes that the file has, by its length: fewer are no shorter file but a failed read, and
  /// what depends on them must not be decided without them.
  func readFully(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer, path: String
  ) throws(StorageError) {
    let count = try read(at: offset, into: buffer)
    guard count == buffer.count else {
      throw .io(
        operation: "read", path: path, code: 0,
        message: "\(count) bytes came where the file has \(buffer.count)")
    }
  }

  /// Reads as much as the memory holds, from the start of the file.
  func readAll(into memory: PageMemory) throws(StorageError) -> Int {
    try memory.withBytes { bytes throws(StorageError) in try read(at: 0, into: bytes) }
  }
}

// Syncs. The engine asks for them here, so that none is taken for a write to a full disk, of which
// nothing has happened: a system that accepts a write and finds no space when it is synced has
// perhaps written some of it, and takes all of it for clean afterwards.
extension File {
  /// Makes durable everything written so far.
  ///
  /// - Throws: an error that does not promise anything of what is on disk.
  func makeDurable(for reason: SyncReason) throws(StorageError) {
    do throws(StorageError) { try sync(for: reason) } catch { throw error.ofSync }
  }
}

extension FileSystem {
  /// Makes the names in the folder of `path` durable.
  ///
  /// - Throws: an error that does not promise anything of what is on disk.
  func makeNamesDurable(beside path: String, for reason: SyncReason) throws(StorageError) {
    do throws(StorageError) {
      try syncFolder(of: path, for: reason)
    } catch {
      throw error.ofSync
    }
  }

  /// Makes durable the name that a file was given, or that was taken away: the last step.
  ///
  /// - Throws: ``StorageError/outcomeUnknown(cause:)``.
  func confirmName(_ path: String, for reason: SyncReason) throws(StorageError) {
    do throws(StorageError) {
      try makeNamesDurable(beside: path, for: reason)
    } catch {
      throw .outcomeUnknown(cause: error)
    }
  }
}

extension StorageError {
  /// The error of a sync.
  fileprivate var ofSync: StorageError {
    guard case .noSpaceLeft(let path) = self else { return self }
    return Posix.syncWithoutSpace(path)
  }

  /// Whether it is the error of a sync that found no space.
  var isOfSyncWithoutSpace: Bool {
    if case .io(_, let path, _, _) = self { self == Posix.syncWithoutSpace(path) } else { false }
  }
}

/// The purpose for which a file is opened.
public enum FileMode: Hashable, Sendable {
  /// The file must exist and is only read.
  case read
  /// The file must exist.
  case write
  /// A new, empty file. What has the name loses it, and is not written to: it may be a link, or
  /// have another name besides.
  case create
}

/// The mode of a lock: shared by any number of readers, or exclusive to one writer.
public enum LockMode: Hashable, Sendable {
  /// Held by any number of readers at once.
  case shared
  /// Held by one writer, while there are no readers.
  case exclusive
  /// Held by one writer for as long as it is its turn. It excludes the others as the exclusive lock
  /// does, but a release that does not know it does not see it.
  case turn
}

/// The identity of a file, whatever its name.
public struct FileIdentifier: Hashable, Sendable {
  /// The device, or its counterpart in a simulation.
  public var volume: UInt64
  /// The number of the file there (inode).
  public var number: UInt64

  /// - Parameters:
  ///   - volume: the device, or what takes its place.
  ///   - number: the number of the file there.
  public init(volume: UInt64, number: UInt64) {
    self.volume = volume
    self.number = number
  }
}

/// The purpose of a sync. A simulated disk can leave out one kind, to show that it is needed.
public enum SyncReason: String, Hashable, Sendable, CaseIterable {
  /// The content of a new store, before it gets its name.
  case creation
  /// The name of a new store.
  case creationFolder
  /// The header of a new log, and the first record.
  case logCreation
  /// The name of a new log.
  case logFolder
  /// A meta page that another process wrote, once more, before what it made history in the log
  /// goes.
  case settledMeta
  /// A meta page with a copy of the first page, before that is written over.
  case identityCopy
  /// A commit's record in the log.
  case commit
  /// The log as recovery read it, before pages are written from it.
  case recoveredLog
  /// Whole images of pages that a checkpoint is about to overwrite.
  case pageImages
  /// The name of the file with such images.
  case pageImagesFolder
  /// The pages of a checkpoint.
  case checkpointPages
  /// The meta page of a checkpoint.
  case checkpointMeta
  /// The log before a checkpoint that follows commits which were not synced one by one.
  case checkpointLog
  /// Pages written to their location around the log, before the commit that refers to them.
  case directPages
  /// The content of a file that will take the place of the store (compaction).
  case replacement
  /// The name of such a file.
  case replacementFolder
  /// The content of a backup.
  case backup
  /// The name of a backup.
  case backupFolder
}
