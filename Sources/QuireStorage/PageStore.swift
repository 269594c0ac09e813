import Synchronization

/// An ordered key-value store: named trees in one file, or in memory.
///
/// One writer at a time changes it in transactions; any number of readers hold snapshots, which are
/// never disturbed and never wait. Pages are read when they are needed, and stay in memory within a
/// budget (``PageStoreOptions/cacheByteLimit``). `docs/storage.md` shows the whole of it.
public final class PageStore: Sendable {
  let core: StoreCore
  /// The path of the store; `nil` in memory.
  public let path: String?
  /// Whether this handle was opened read-only.
  public let isReadOnly: Bool
  private let isOpen = Atomic(true)

  init(_ core: StoreCore, path: String? = nil, isReadOnly: Bool = false) {
    self.core = core
    self.path = path
    self.isReadOnly = isReadOnly
  }

  /// A handle that is dropped without ``close()`` gives the lock back and leaves the log, as a
  /// crash would; the next opening recovers. A parent's handle is dropped without any effect.
  deinit {
    if isOpen.exchange(false, ordering: .acquiringAndReleasing) { core.abandonHandle() }
  }

  /// A store in memory alone: the same engine without file, log or sync.
  ///
  /// - Parameters:
  ///   - pageSize: a power of two from 512 to 32,768; another value is replaced by the default.
  ///   - identity: the store's identity; `nil` makes a random one.
  public static func inMemory(
    pageSize: Int = 4096, identity: StoreIdentity? = nil
  ) -> PageStore {
    var options = PageStoreOptions()
    options.pageSize = PageGeometry.isLegal(pageSize: pageSize) ? pageSize : 4096
    options.identity = identity
    return inMemory(options)
  }

  /// A store without files, whose pages are laid out as the options say.
  package static func inMemory(_ options: PageStoreOptions) -> PageStore {
    var options = options
    // Nothing can be given up here: what a transaction makes is in memory afterwards, too.
    options.transactionByteLimit = .max
    let space = PageSpace.empty(
      options.geometry, retainedByteLimit: options.retainedByteLimit)
    return PageStore(
      StoreCore(identity: options.identity ?? .random(), current: space, options: options))
  }

  /// What tells this store from every other, copies of its file excepted.
  public var identity: StoreIdentity { core.identity }
  /// The store's file, whatever its name is; `nil` in memory.
  package var fileIdentifier: FileIdentifier? {
    core.registry.process.isCurrent ? core.state.withLock { $0.identifier } : nil
  }
  /// The size of a page in bytes.
  public var pageSize: Int { core.geometry.pageSize }
  /// The longest key an index tree of this store takes, in bytes.
  public var keyByteLimit: Int { core.geometry.keyLimit }

  // MARK: Reading

  /// The newest commit, for as long as the snapshot is held and the store is open.
  ///
  /// - Parameters:
  ///   - file: with `line`, names the holder should the snapshot expire
  ///     (``PageStoreOptions/retainedByteLimit``).
  public func snapshot(
    file: StaticString = #fileID, line: UInt = #line
  ) throws(StorageError) -> Snapshot {
    try checkOpen()
    return Snapshot(try core.snapshot(for: SnapshotHolder(file: file, line: line)))
  }

  /// Whether a new snapshot would show what this one shows.
  ///
  /// - Throws: what taking a snapshot throws.
  /// - Complexity: O(1); nothing is allocated.
  package func isNewest(_ snapshot: Snapshot) throws(StorageError) -> Bool {
    try checkOpen()
    return try core.isNewest(snapshot.commitNumber)
  }

  /// Calls `body` with a snapshot of the newest commit.
  public func read<R>(
    file: StaticString = #fileID, line: UInt = #line, _ body: (Snapshot) throws -> R
  ) throws -> R {
    try body(try snapshot(file: file, line: line))
  }

  /// Figures as of the newest commit; zeros of a parent's store. O(1).
  public var statistics: StoreStatistics { core.statistics }

  /// Inspects every page of the newest commit: the order of trees, that every page is used once or
  /// free, the counts, and the overflow runs. Reads the whole store; blocks no other operation.
  ///
  /// Damage is a finding, not an error.
  public func check() throws(StorageError) -> CheckReport { try check { _, _ in } }

  /// The same, telling how far it is.
  ///
  /// - Parameter progress: is called from time to time with the number of pages read, of which each
  ///   is read twice, and the number of those to be read.
  package func check(
    progress: @escaping (_ done: Int, _ total: Int) -> Void
  ) throws(StorageError) -> CheckReport {
    try checkOpen()
    do throws(StorageError) {
      return try core.check(progress: progress)
    } catch .snapshotTooOld(let tries) {
      guard isShared else { throw .snapshotTooOld(tries: tries) }
      return try core.inTurn { () throws(StorageError) in try core.check(progress: progress) }
    }
  }

  // MARK: Writing

  /// Begins the write transaction; waits while another thread has it.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has it already,
  ///   ``StorageError/readOnly``, ``StorageError/closed``, ``StorageError/poisoned(cause:)`` or
  ///   ``StorageError/nameLost(path:)``.
  public func beginWrite() throws(StorageError) -> WriteTransaction {
    try checkOpen()
    if isReadOnly { throw .readOnly }
    return WriteTransaction(core, try core.beginWrite())
  }

  /// Calls `body` with a write transaction, and commits it, or aborts it when `body` throws.
  @discardableResult
  public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    let transaction = try beginWrite()
    do {
      let result = try body(transaction)
      try transaction.commit()
      return result
    } catch {
      transaction.abort()
      throw error
    }
  }

  // MARK: Checkpoint and close

  /// Writes what the log holds to its location in the file, and begins the log anew.
  ///
  /// Happens by itself when the log passes its limit. Waits for the write transaction under way.
  /// Does nothing in memory.
  ///
  /// - Throws: ``StorageError/noSpaceLeft(path:)``, with everything still in the log; another error
  ///   of the disk, after which the store refuses to write until it is reopened.
  public func checkpoint() throws(StorageError) {
    try checkOpen()
    if isReadOnly { throw .readOnly }
    try core.makeCheckpoint()
  }

  /// Writes the content of the log to its location in the file, and removes the log: the store is
  /// one file then, as after closing, and stays open. The next commit begins a new log, and waits
  /// for the disk twice.
  ///
  /// This happens automatically if ``PageStoreOptions/idleLogLimit`` is set. Waits for the current
  /// write transaction, and writers wait meanwhile. Does nothing in memory.
  ///
  /// - Throws: the errors of ``checkpoint()``.
  public func removeLog() throws(StorageError) {
    try checkOpen()
    try core.removeLog()
  }

  /// Closes this handle; the last one of the process checkpoints, removes the log, and gives the
  /// lock back. Snapshots end; values taken from them stay. Closing twice does nothing.
  ///
  /// Waits for the write transaction under way.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has a write transaction open; the store
  ///   then stays open. An error of the checkpoint: the store is closed all the same, and what the
  ///   log holds is recovered by the next opening.
  public func close() throws(StorageError) {
    guard isOpen.load(ordering: .acquiring) else { return }
    // It stays the parent's.
    try core.checkProcess()
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    do throws(StorageError) {
      try core.release()
    } catch .writerBusy {
      isOpen.store(true, ordering: .releasing)
      throw .writerBusy
    }
  }

  /// Begins a checkpoint of the newest commit, and leaves its writing to ``writeCheckpoint()``, or
  /// to a thread that must wait for it. In this way tests can interleave other operations at any
  /// point of a checkpoint, as the engine's own thread does.
  package func beginCheckpoint() throws(StorageError) {
    try checkOpen()
    try core.beginCheckpoint()
  }

  /// Writes the checkpoint that was begun, on this thread; does nothing if there is none, or if it
  /// is written already.
  package func writeCheckpoint() throws(StorageError) {
    try checkOpen()
    try core.writeCheckpoint()
  }

  /// Completes the checkpoint under way; nothing if there is none.
  package func completeCheckpoint() throws(StorageError) {
    try checkOpen()
    try core.completeCheckpoint()
  }

  /// Limits the pages of the file in memory for a while: for operations that read much of it once,
  /// whose pages are not needed again.
  ///
  /// - Parameter byteCount: `nil` for the limit of the options.
  package func limitCache(to byteCount: Int?) { core.limitCache(to: byteCount) }

  // MARK: Suspending

  /// Ends what this process does to a store that is shared (``PageStoreOptions/isShared``), so that
  /// it holds no lock, and waits for none, until ``resume()``: a system that suspends processes may
  /// end one that does, and others could not write meanwhile.
  ///
  /// Waits for the write transaction under way, and until its commit is on disk. From then on
  /// ``beginWrite()`` throws ``StorageError/suspended``; the store can be read. A store that is
  /// only read here, or in memory, has no lock: nothing happens.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has the write transaction;
  ///   ``StorageError/invalidArgument(_:)`` if the store is not shared, as it is locked while it is
  ///   open; an error of the disk.
  public func suspend() throws(StorageError) {
    try checkOpen()
    try core.suspend()
  }

  /// The store can be written again after ``suspend()``.
  public func resume() { core.resume() }

  /// Whether several processes write the store in turn.
  package var isShared: Bool { core.turns != nil }

  /// Calls `body`; and once more in a turn of this process, in which nobody else writes, if it is
  /// overtaken: if another process has overwritten what it reads.
  package func steadily<R>(
    isOvertaken: (any Error) -> Bool = PageStore.isOvertaken, _ body: () throws -> R
  ) throws -> R {
    do {
      return try body()
    } catch {
      guard isShared, isOvertaken(error) else { throw error }
      return try core.inTurn(body)
    }
  }

  package static func isOvertaken(_ error: any Error) -> Bool {
    if case StorageError.snapshotTooOld = error { true } else { false }
  }

  // MARK: Copies

  /// Writes the newest commit to a new file, a store of its own with the same identity. Writers and
  /// readers continue meanwhile; their changes are not in the copy. If another process, with which
  /// this one writes in turn, overwrites what is being copied, the copy is made anew in a turn.
  ///
  /// - Parameters:
  ///   - path: the path of the copy, where no file may exist.
  ///   - fileSystem: the file system of the copy, also for a store in memory.
  ///   - progress: called with the bytes written and the total; returns whether to continue.
  /// - Throws: ``StorageError/alreadyExists(path:)``, ``StorageError/cancelled``,
  ///   ``StorageError/damaged(page:reason:)`` if a page cannot be read, an error of the disk. No
  ///   file is left then.
  public func backUp(
    to path: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: (_ done: Int, _ total: Int) throws -> Bool = { _, _ in true }
  ) throws {
    try steadily {
      let version = try newestVersion()
      guard try fileSystem.identifier(of: path) == nil else {
        throw StorageError.alreadyExists(path: path)
      }
      try core.backUp(version, to: path, in: fileSystem, progress: progress)
    }
  }

  /// Rewrites the store with full pages and without free ones, to a new file that replaces the old
  /// one in one step. Counts as a commit. Does nothing in memory.
  ///
  /// Writers wait; readers continue. The old file's space is freed when the last older snapshot has
  /// ended.
  ///
  /// - Parameter progress: called with the entries written and the total; returns whether to
  ///   continue.
  /// - Throws: ``StorageError/cancelled``, ``StorageError/noSpaceLeft(path:)`` or
  ///   ``StorageError/damaged(page:reason:)``, and ``StorageError/notFound(path:)`` or
  ///   ``StorageError/alreadyExists(path:)`` if the file was moved away, and nothing or another
  ///   file has its name: the store is unchanged then; another error of the disk, after which the
  ///   store may refuse to write until it is reopened.
  public func compact(
    progress: (_ done: Int, _ total: Int) throws -> Bool = { _, _ in true }
  ) throws {
    try checkOpen()
    try core.compact(progress: progress)
  }

  /// The newest commit, for work that must not expire.
  func newestVersion() throws(StorageError) -> OwnedVersion {
    try checkOpen()
    return try core.newestVersion()
  }

  func checkOpen() throws(StorageError) {
    guard isOpen.load(ordering: .acquiring) else { throw .closed }
    try core.checkProcess()
  }
}
