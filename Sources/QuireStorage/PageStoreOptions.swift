/// How a store is opened.
public struct PageStoreOptions: Hashable, Sendable {
  /// Whether a missing file is created. Ignored when the store is opened read-only.
  public var createIfMissing = true
  /// Whether a file that is already there is an error (``StorageError/alreadyExists(path:)``).
  public var mustNotExist = false
  /// Whether the file is only read. A read-only store writes nothing at all, not even after a
  /// crash: it then shows what the log holds without touching the files.
  public var isReadOnly = false
  /// The page size of a store that is created: a power of two from 512 to 32,768 bytes. 512 and
  /// 1024 are for tests.
  public var pageSize = 4096
  /// The identity of a store that is created; `nil` makes a random one.
  public var identity: StoreIdentity?
  /// When changes reach the disk.
  public var durability = Durability.full
  /// The log's length in bytes after which a commit also checkpoints.
  public var checkpointByteLimit = 4 << 20

  public init() {}
}

/// When changes reach the disk.
public enum Durability: Hashable, Sendable {
  /// A commit that returned is on disk.
  case full
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
}
