// Values: the words that all floors of the engine speak. Numbers of pages and commits, what a store
// is called and how it is opened, what can go wrong, how numbers lie in bytes. Nothing here knows
// anything of the rest.

/// Everything the storage engine can refuse, grouped by the reaction it calls for.
///
/// *Your call*: `invalidArgument`, `keyTooLong`, `readOnly`, `closed`, `writerBusy`, `forked`,
/// `snapshotExpired`, `transactionTooLarge`, `cancelled`. Nothing happened; fix the call. *Your
/// disk*: `io`, `noSpaceLeft`, `notFound`, `noFolder`, `alreadyExists`, `nameLost`, `storeFull`,
/// `poisoned`, `networkFileSystem`; `outcomeUnknown`, after which one looks before one does it
/// again. *Your file*:
/// `notAStore`, `unsupportedFormat`, `unsupportedFeature`, `damaged`, `logMissing`,
/// `imagesMissing`, `logForeign`, `logDamaged`, `logCutShort`, `shipmentDamaged`. *Someone else*:
/// `locked`, `snapshotTooOld`.
public enum StorageError: Error, Hashable, Sendable {
  /// An invalid call; the text says what, where, and what to do.
  case invalidArgument(String)
  /// A key has more bytes than the store's page size allows.
  case keyTooLong(byteCount: Int, limit: Int)
  /// The store was opened read-only.
  case readOnly
  /// The store was closed.
  case closed
  /// The store was opened by the process that this one was forked from; open it here.
  case forked
  /// The snapshot was held while so many pages were replaced that keeping them would take more
  /// memory than allowed. It cannot be read any more; take a new one.
  ///
  /// - Parameters:
  ///   - holder: the file and line that took it.
  ///   - commit: the commit it shows.
  case snapshotExpired(holder: String, commit: CommitNumber, retainedByteCount: Int, limit: Int)
  /// A progress handler has cancelled the operation.
  case cancelled
  /// A transaction has more roots, maps and inner nodes of trees than may be in memory at once; it
  /// can only be aborted. Raise ``PageStoreOptions/transactionByteLimit``, or make fewer trees at
  /// once. Leaves are never too many: they go to the file.
  case transactionTooLarge(byteCount: Int, limit: Int)
  /// This thread already holds the write transaction; a second one would wait for itself for ever.
  case writerBusy

  /// The operating system refused: what was asked, of which file, its error number and text.
  case io(operation: String, path: String, code: Int32, message: String)
  /// The disk is full (`ENOSPC`) or the quota is (`EDQUOT`). A transaction was aborted whole, and
  /// the store stays usable; a checkpoint, a copy or an opening has no effect. A *sync* that finds
  /// no space is ``io(operation:path:code:message:)``, as what it leaves on the disk is unknown.
  case noSpaceLeft(path: String)
  /// There is no such file (`ENOENT`).
  case notFound(path: String)
  /// The folder that a new file should be in does not exist.
  case noFolder(path: String)
  /// There is such a file already (`EEXIST`).
  case alreadyExists(path: String)
  /// The store's file has no name any more: it was removed, or replaced by another file, while the
  /// store was open. What would be saved now would be gone with this process, so nothing is; what
  /// was saved before can be read here, and is kept by a backup to another path.
  case nameLost(path: String)
  /// The store is, or is to be, one that processes write in turn, and is on a file system of a
  /// network, or on a folder that a host shares with its virtual machines: locks there may not
  /// reach every process that has the file. The type is the system's name for it, as `nfs`.
  case networkFileSystem(path: String, type: String)
  /// The store has as many pages as page numbers can count.
  case storeFull(pageLimit: Int)
  /// A write or sync failed, so that what is on disk is unknown. Nothing of this transaction is in
  /// the store. Snapshots go on reading; to write again, close and reopen the store.
  indirect case poisoned(cause: StorageError)
  /// A write or sync failed at the last step, so that it is unknown whether this took effect: a
  /// commit is in the store as a whole or not at all, a file has its new name or not. After that of
  /// a commit close the store, open it again and look, before making the same change once more.
  indirect case outcomeUnknown(cause: StorageError)

  /// The file is not a store.
  case notAStore(path: String, reason: String)
  /// The file was written in a newer format than this release reads.
  case unsupportedFormat(found: FormatVersion, supported: FormatVersion)
  /// The store has something that this release does not know, and must know to read it. The text
  /// completes a sentence that begins with “the store”.
  case unsupportedFeature(_ feature: String)
  /// A page fails its checksum or contradicts itself. The other pages stay readable.
  case damaged(page: PageID, reason: String)
  /// The store was not closed cleanly and its log, with the newest commits, is gone.
  case logMissing(path: String)
  /// The system died while a checkpoint overwrote pages, and the file with whole copies of them,
  /// which the checkpoint writes first, is gone. `pages` can be had from it alone.
  case imagesMissing(path: String, pages: [PageID])
  /// The file at the log's path belongs to another store.
  case logForeign(path: String)
  /// Commits known to have been durable can no longer be read from the log.
  case logDamaged(path: String, firstLost: CommitNumber, lastLost: CommitNumber)
  /// The log has fewer bytes than are known to have been on disk: its end is missing, and perhaps
  /// commits with it.
  case logCutShort(path: String, byteCount: Int, atLeast: Int)
  /// A file of a folder to which commits were shipped is missing, damaged, or not the one that
  /// belongs there.
  case shipmentDamaged(path: String, reason: String)

  /// Another process has the store open; or, where processes write in turn, it has its turn.
  case locked(LockOwner)
  /// The store is suspended here (``PageStore/suspend()``), and is not written until it goes on.
  case suspended
  /// Another process has changed the store since the snapshot was taken, and what it shows was
  /// overwritten; or so often while it was read that no commit could be read as a whole. Nothing is
  /// wrong with the store: take a new snapshot.
  case snapshotTooOld(tries: Int)
  /// Another store has taken the place of one that is only read here, or an earlier state of it, as
  /// a backup is. Close it and open it again.
  case replaced(path: String)
}

extension StorageError {
  /// The reason of ``notAStore(path:reason:)`` where the file is a database of SQLite.
  package static var sqliteReason: String { "it is a database of SQLite" }
}

extension StorageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidArgument(let text):
      text
    case .keyTooLong(let byteCount, let limit):
      "the key has \(byteCount) bytes; this store's pages allow \(limit)"
    case .readOnly:
      "the store was opened read-only"
    case .closed:
      "the store was closed"
    case .forked:
      "the store was opened by the process this one was forked from; open it here"
    case .snapshotExpired(let holder, let commit, let byteCount, let limit):
      "the snapshot of commit \(commit) taken at \(holder) was held too long: replaced pages of "
        + "\(byteCount) bytes were kept in memory, \(limit) are allowed"
    case .cancelled:
      "cancelled"
    case .transactionTooLarge(let byteCount, let limit):
      "the transaction needs \(byteCount) bytes for roots, maps and inner nodes of trees, "
        + "\(limit) may be in memory at once; raise transactionByteLimit, or make fewer trees at once"
    case .writerBusy:
      "this thread already has a write transaction open on the store; commit or abort it first"
    case .io(let operation, let path, let code, let message):
      "\(operation) failed for \(path): \(message) (error \(code))"
    case .noSpaceLeft:
      "\(reason); what needed it was not done, and nothing that was there is lost: free some space, "
        + "and try again"
    case .notFound(let path):
      "there is no file \(path)"
    case .noFolder(let path):
      "\(path) cannot be made, since its folder does not exist"
    case .alreadyExists(let path):
      "there already is a file \(path)"
    case .nameLost(let path):
      "\(path) was removed, or replaced by another file, while the store was open: nothing is saved "
        + "any more, as it would be gone with this process. What was saved before can still be read "
        + "here: back the store up to another path"
    case .networkFileSystem(let path, let type):
      "\(path) is on a file system of a network or a host (\(type)), where a lock may not reach "
        + "every process that has the file, so that processes cannot write it in turn. Keep it on a "
        + "disk of this machine; or let one process alone have it, without isShared, or a backup of "
        + "it if it is shared already; or set trustsNetworkLocks if locks are known to hold there"
    case .storeFull(let pageLimit):
      "the store has \(pageLimit) pages, the most it can have"
    case .poisoned(let cause):
      "the store no longer accepts changes, because a write failed (\(cause.reason)); close and "
        + "reopen it"
    case .outcomeUnknown(let cause):
      "it is unknown whether this took effect (\(cause.reason)): open the store again, and look "
        + "before doing it once more"
    case .notAStore(let path, let reason):
      "\(path) is not a Quire store: \(reason)"
    case .unsupportedFormat(let found, let supported):
      "the store has format \(found); this release reads up to \(supported)"
    case .unsupportedFeature(let feature):
      "the store \(feature), which this release does not know"
    case .damaged(let page, let reason):
      "page \(page) is damaged: \(reason)"
    case .logMissing(let path):
      "the store was not closed cleanly and its log \(path) is missing"
    case .imagesMissing(let path, let pages):
      "the store was not closed cleanly, \(pages.count == 1 ? "page" : "pages") "
        + pages.prefix(5).map { "\($0)" }.joined(separator: ", ")
        + (pages.count > 5 ? " and \(pages.count - 5) more" : "")
        + " cannot be read, and \(path), where a checkpoint may have put them first, is missing"
    case .logForeign(let path):
      "the log \(path) belongs to another store"
    case .logDamaged(let path, let firstLost, let lastLost):
      "the log \(path) is damaged: commits \(firstLost) to \(lastLost) were durable and are lost"
    case .logCutShort(let path, let byteCount, let least):
      "the log \(path) was cut short: it has \(byteCount) bytes, and had at least \(least)"
    case .shipmentDamaged(let path, let reason):
      "\(path) does not count: \(reason)"
    case .locked(let owner):
      "the store is in use by \(owner)"
    case .suspended:
      "the store is suspended, so that this process holds no lock of it; resume it to write"
    case .snapshotTooOld(let tries):
      tries == 1
        ? "another process has overwritten what this snapshot of the store shows; take a new one"
        : "the store changed while it was read, \(tries) times in a row; try again"
    case .replaced(let path):
      "\(path) was replaced by another store, or by an earlier state of it; close it and open it "
        + "again"
    }
  }
}

extension StorageError {
  /// What went wrong, without advice: as the cause of another error, which has its own.
  var reason: String {
    if case .noSpaceLeft(let path) = self { return "no space left on the disk for \(path)" }
    return description
  }
}

/// The version of the file format: a reader refuses a newer `major`.
public struct FormatVersion: Hashable, Sendable, CustomStringConvertible {
  /// A file of another major version is not read by releases that do not know it.
  public var major: UInt16
  /// A file of a later minor version can be read, but not written.
  public var minor: UInt16

  /// A version, as `1.0`.
  public init(major: UInt16, minor: UInt16) {
    self.major = major
    self.minor = minor
  }

  /// The version this release writes.
  public static let current = FormatVersion(major: 2, minor: 0)

  /// The first version, whose stores become ``current`` when they are first written.
  package static let first = FormatVersion(major: 1, minor: 0)

  public var description: String { "\(major).\(minor)" }
}
