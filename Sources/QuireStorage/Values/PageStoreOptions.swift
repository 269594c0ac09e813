/// How a store is opened.
public struct PageStoreOptions: Hashable, Sendable {
  /// Whether a missing file is created. Ignored when the store is opened read-only.
  public var createIfMissing = true
  /// Whether a file that is already there is an error (``StorageError/alreadyExists(path:)``).
  public var mustNotExist = false
  /// Whether the file is only read. A read-only store writes nothing at all, not even after a
  /// crash: it then shows what the log holds without touching the files.
  public var isReadOnly = false
  /// Whether pages are read that nothing vouches for: their page map is damaged, and with it the
  /// knowledge of which commit wrote them last. What is read then may be of different commits, or
  /// of a time before the newest; it is for saving what there is, where no backup is. Only together
  /// with ``isReadOnly``. Who opens the same store without it reads for itself; in a process that
  /// has it open for writing, this changes nothing.
  public var readsUnvouchedPages = false
  /// The page size of a store that is created: a power of two from 512 to 32,768 bytes. 512 and
  /// 1024 are for tests.
  public var pageSize = 4096
  /// The identity of a store that is created; `nil` makes a random one.
  public var identity: StoreIdentity?
  /// When changes reach the disk.
  public var durability = Durability.full
  /// The memory for pages that could be read from disk again, in bytes: a store up to this size is
  /// resident once it was read, of a larger one the pages used last are.
  public var cacheByteLimit = 64 << 20
  /// The most that the log holds before a checkpoint, in bytes. The limit begins with 4 MiB, or
  /// this if it is less, and doubles with each checkpoint that a full log causes.
  public var checkpointByteLimit = 64 << 20
  /// Whether checkpoints that a commit causes run on a thread of their own; otherwise the commit
  /// returns after its checkpoint.
  public var checkpointsInBackground = true
  /// How long after the last commit the log is brought into the file and removed, so that a store
  /// that nobody writes to is one file; `nil` for never before closing. The commit that comes after
  /// that begins a log anew, and waits for the disk twice.
  public var idleLogLimit: Duration?
  /// How many bytes of whole pages the log takes between two checkpoints before it takes only what
  /// changed, so that checkpoints have to write the rest twice.
  package var imageByteLimit = 1 << 20
  /// The memory for replaced pages that snapshots still show, in bytes; beyond it the oldest
  /// snapshots expire.
  public var retainedByteLimit = 256 << 20
  /// The memory for the pages that one transaction changes, in bytes.
  public var transactionByteLimit = 256 << 20

  public init() {}
}

/// When changes reach the disk.
public enum Durability: Hashable, Sendable {
  /// A commit that returned is on disk.
  case full
  /// A commit that returned survives a crash of the process. After a crash of the system, or a
  /// power failure, the store opens whole, at this or an earlier commit; none is lost that was made
  /// before the last checkpoint or ``PageStore/checkpoint()``.
  case ordered
  /// Nothing is ever synced. A crash of the process loses nothing; a crash of the system, or a
  /// power failure, may lose commits and even the store. For tests, and for files that can be made
  /// again.
  case none
}

/// Figures about a store, as of its newest commit.
public struct StoreStatistics: Hashable, Sendable {
  public var pageSize: Int
  /// All pages, free ones included.
  public var pageCount: Int
  public var freePageCount: Int
  /// The length that the store's file has after a checkpoint, in bytes; 0 in memory.
  public var fileByteCount: Int
  /// The bytes of the log that hold commits since the last checkpoint; 0 in memory.
  public var logByteCount: Int
  public var commitNumber: CommitNumber
  /// Pages in memory that are newer than the file, in bytes.
  public var changedByteCount: Int
  /// Pages in memory as the file has them, in bytes.
  public var cachedByteCount: Int
  /// Replaced pages that snapshots keep in memory, in bytes.
  public var retainedByteCount: Int
}

extension StoreStatistics {
  /// Figures of nothing.
  init(pageSize: Int) {
    self.init(
      pageSize: pageSize, pageCount: 0, freePageCount: 0, fileByteCount: 0, logByteCount: 0,
      commitNumber: .creation, changedByteCount: 0, cachedByteCount: 0, retainedByteCount: 0)
  }
}
