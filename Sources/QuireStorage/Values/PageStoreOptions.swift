/// The options for opening a store.
public struct PageStoreOptions: Hashable, Sendable {
  /// Whether a missing file is created. Ignored when the store is opened read-only.
  public var createIfMissing = true
  /// Whether a file that is already there is an error (``StorageError/alreadyExists(path:)``).
  public var mustNotExist = false
  /// Whether the file is only read. A read-only store writes nothing at all, not even after a
  /// crash: it then shows what the log holds without touching the files. It takes no lock: another
  /// process may write meanwhile, and each snapshot is the newest commit that no crash takes back,
  /// until the writer has written over it (``StorageError/snapshotTooOld(tries:)``).
  public var isReadOnly = false
  /// Whether unverifiable pages are read: if their page map is damaged, it is not known which
  /// commit wrote them last. The data read may then be of different commits, or older than the
  /// newest one; it is for recovering data without a backup. Only together with ``isReadOnly``.
  /// Other users that open the same store without this option read separately; in a process that
  /// has it open for writing, the option has no effect. It keeps writers out, as pages that nothing
  /// vouches for may change unnoticed.
  public var readsUnvouchedPages = false
  /// Whether several processes may have the store open for writing: they write in turn, each with a
  /// lock for its turn alone. The store keeps the mark: from then on, whoever opens it for writing
  /// shares it, with or without this option. See `docs/durability.md`, "Processes".
  public var isShared = false
  /// Whether a store may be shared on a file system of a network, or on a folder that a host shares
  /// with its virtual machines; otherwise opening it for writing there is
  /// ``StorageError/networkFileSystem(path:type:)``. Only for those of which it is known that a
  /// lock of an open file on one machine keeps out processes on all others.
  public var trustsNetworkLocks = false
  /// How long a transaction of a shared store waits for other processes' turns before it throws
  /// ``StorageError/locked(_:)``.
  public var turnWaitLimit = Duration.seconds(10)
  /// How long a process of a shared store keeps its turn that does not use it; zero to give it up
  /// after each transaction.
  package var turnKeepInterval = Duration.milliseconds(1)
  /// The page size of a store that is created: a power of two from 512 to 32,768 bytes. 512 and
  /// 1024 are for tests.
  public var pageSize = 4096
  /// The bytes at the end of each page of a store that is created which nothing is kept in, as a
  /// cipher will need them: 64 at most.
  package var tailByteCount = 0
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
  /// The time after the last commit when the log is brought into the file and removed, so that an
  /// idle store is one file; `nil` to do so only when the store is closed. The first commit after
  /// that begins a new log, and waits for the disk twice.
  public var idleLogLimit: Duration?
  /// The number of bytes of whole pages that the log may have between two checkpoints. Beyond it
  /// the log has only changes, and checkpoints must write the other pages twice.
  package var imageByteLimit = 1 << 20
  /// The most room that the store's file keeps after its end while the disk has some, in bytes; 0
  /// for none. A full disk then refuses only what makes the store larger: see
  /// `docs/durability.md`. It is 256 KiB, in large files up to 1 MiB, and as much as the log while
  /// there is a larger one. File sizes do not show it, sizes on the disk do. Linux can do this, on
  /// most of its file systems.
  public var reserveByteLimit = 4 << 20
  /// The memory for replaced pages that snapshots still show, in bytes; beyond it the oldest
  /// snapshots expire.
  public var retainedByteLimit = 256 << 20
  /// The memory for the pages that one transaction changes, in bytes. One that changes more writes
  /// pages to locations in the file that nothing needs, before the commit and around the log; the
  /// file then grows by what the transaction changes, and what it replaced is free afterwards.
  public var transactionByteLimit = 128 << 20

  /// What the properties say as their defaults: a file that is created if it is missing, and
  /// written with full durability.
  public init() {}

  /// Limits what is kept in memory to what a process with little of it can spare, as an app
  /// extension: 2 MiB for pages as the file has them, 4 MiB each for the pages that one transaction
  /// changes and for replaced pages that snapshots still show, and a checkpoint for every 4 MiB of
  /// the log. Reading a large store then reads the file more often, a large transaction goes to the
  /// file early, and a snapshot that is kept while others write expires sooner.
  public mutating func saveMemory() {
    cacheByteLimit = 2 << 20
    transactionByteLimit = 4 << 20
    retainedByteLimit = 4 << 20
    checkpointByteLimit = 4 << 20
  }

  /// The limit that is kept: whatever the options say, a transaction's roots and maps stay in
  /// memory, and the nodes that one operation changes.
  func transactionByteLimit(pageSize: Int) -> Int { max(transactionByteLimit, 24 * pageSize) }
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
  /// The size of a page in bytes.
  public var pageSize: Int
  /// All pages, free ones included.
  public var pageCount: Int
  /// The pages that nothing is kept in, to be used before the file grows.
  public var freePageCount: Int
  /// The length that the store's file has after a checkpoint, in bytes; 0 in memory.
  public var fileByteCount: Int
  /// The bytes of the log that hold commits since the last checkpoint; 0 in memory.
  public var logByteCount: Int
  /// The newest commit.
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
