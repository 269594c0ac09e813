import Synchronization

/// One open store, shared by all ``PageStore`` handles of this process.
///
/// The newest version is behind a mutex that is held only for exchanging a pointer. All writing
/// state, log and file included, belongs to the thread that has passed the turnstile; during a
/// checkpoint its thread has the store's file.
///
/// `@unchecked Sendable`: `storage`, `checkpoint`, `durablePageCount`, `isLogWatched`,
/// `mayHaveStrayPages` and `directRuns` are accessed only by the thread that has passed the
/// turnstile; everything else is constant or behind the mutex.
final class StoreCore: @unchecked Sendable {
  let identity: StoreIdentity
  let geometry: PageGeometry
  let options: PageStoreOptions
  let isReadOnly: Bool
  let registry: VersionRegistry
  let turnstile = Turnstile()
  let state: Mutex<State>
  let commits: CommitQueue
  /// Whether the last handle is closed, or dropped.
  private let closedFlag = Atomic(false)
  /// The bytes of the log in use, for statistics.
  private let logByteCount: Atomic<Int>
  let attachment = Mutex<(any StoreAttachment)?>(nil)
  var storage: StoreFile?
  /// Keeps a store up to date that is only read here.
  let follower: StoreFollower?
  /// The lock of a store that several processes write in turn.
  let turns: StoreTurns?
  /// The file of the store, which holds its lock; `nil` in memory, and where there is none.
  private var lockedFile: (any File)?
  /// The checkpoint under way.
  var checkpoint: RunningCheckpoint?
  /// The pages of the last version that a checkpoint completed, or opening found. With ordered
  /// durability a crash may lead back to it.
  var durablePageCount: UInt32
  /// Whether a thread waits to remove the log when the store is idle.
  var isLogWatched = false
  /// Whether after the end of the file there may be pages with the number of the next commit.
  var mayHaveStrayPages = false
  /// What commits after the last completed checkpoint have written around the log, oldest first.
  var directRuns: [(commit: CommitNumber, pages: PageRuns)] = []

  struct State {
    /// The version of new snapshots: with full durability, on disk.
    var current: OwnedVersion
    /// The version from which the next transaction starts; newer than `current` while commits wait
    /// for the disk.
    var latest: OwnedVersion
    /// The versions in between, oldest first, `latest` included.
    var waiting: [OwnedVersion] = []
    /// Set when a write failed; thrown for all later writes.
    var poison: StorageError?
    /// The store's file, for the registry; `nil` in memory. Compaction gives it another.
    var identifier: FileIdentifier?
  }

  init(identity: StoreIdentity, current: OwnedVersion, options: PageStoreOptions) {
    self.identity = identity
    self.options = options
    geometry = current.space.geometry
    registry = current.space.registry
    isReadOnly = false
    follower = nil
    turns = nil
    durablePageCount = current.space.pageCount
    commits = CommitQueue(current.space.commit)
    logByteCount = Atomic(0)
    state = Mutex(State(current: current, latest: current))
  }

  /// - Parameters:
  ///   - file: the store's, with its lock; but for a follower, which takes none.
  ///   - storage: the writing side; `nil` makes the store read-only.
  ///   - follower: for a store that another process may write.
  ///   - turns: for a store that several processes write.
  init(
    _ recovery: Recovery, _ file: any File, _ storage: StoreFile?,
    _ follower: StoreFollower? = nil, _ turns: StoreTurns? = nil, options: PageStoreOptions
  ) {
    self.follower = follower
    self.turns = turns
    identity = recovery.identity
    self.options = options
    geometry = recovery.space.geometry
    registry = recovery.space.registry
    isReadOnly = storage == nil
    self.storage = storage
    lockedFile = follower == nil ? file : nil
    durablePageCount = recovery.space.pageCount
    commits = CommitQueue(recovery.space.commit)
    // A writer has brought the log's commits into the pages; a reader leaves them where they are.
    let records = storage == nil ? recovery.log?.records ?? [] : []
    logByteCount = Atomic(records.reduce(0) { $0 + $1.byteCount })
    state = Mutex(
      State(
        current: recovery.version, latest: recovery.version, identifier: file.identifier))
    if follower != nil { recovery.space.cache?.witness = self }
  }

  deinit {
    if registry.process.isCurrent { endVersions() }
  }

  // MARK: Reading

  /// For a handle, which has looked whose process this is.
  func snapshot(for holder: SnapshotHolder) throws(StorageError) -> PageSpace {
    try follower?.follow(self)
    let current = state.withLock { $0.current.space }
    if isClosed { throw .closed }
    if let record = current.record { registry.note(holder, of: record) }
    return current
  }

  /// The newest version that snapshots get, to be kept until all of it was read.
  func newestVersion() throws(StorageError) -> OwnedVersion {
    try checkProcess()
    try follower?.follow(self)
    let current = state.withLock { $0.current }
    if isClosed { throw .closed }
    return current
  }

  /// A version that is published, for a snapshot: the one that snapshots get, if that is of the
  /// same commit. It may have pages in the file that the other holds in memory.
  func sameVersion(as version: PageSpace, for holder: SnapshotHolder) -> PageSpace {
    let current = state.withLock { $0.current.space }
    let shown = current.commit == version.commit ? current : version
    if let record = shown.record { registry.note(holder, of: record) }
    return shown
  }

  /// - Throws: ``StorageError/forked`` in a child of the process that opened the store. It must not
  ///   get as far as a lock here, which a thread of the parent may have held.
  func checkProcess() throws(StorageError) { try registry.process.check() }

  var statistics: StoreStatistics {
    guard registry.process.isCurrent else { return StoreStatistics(pageSize: geometry.pageSize) }
    let (space, isFile) = state.withLock { ($0.current.space, $0.identifier != nil) }
    return StoreStatistics(
      pageSize: geometry.pageSize, pageCount: Int(space.pageCount),
      freePageCount: space.freePageCount,
      fileByteCount: isFile ? Int(space.pageCount) * geometry.pageSize : 0,
      logByteCount: logByteCount.load(ordering: .relaxed), commitNumber: space.commit,
      changedByteCount: space.changedPageCount * geometry.pageSize,
      cachedByteCount: space.cache?.byteCount ?? 0,
      retainedByteCount: registry.retainedByteCount)
  }

  func limitCache(to byteCount: Int?) {
    guard registry.process.isCurrent else { return }
    let limit = min(byteCount ?? .max, options.cacheByteLimit)
    state.withLock { $0.latest.space }.cache?.setLimit(byteCount: limit)
  }

  /// Compares every page in use with its checksum; pages in memory alone have none.
  func check(
    progress: @escaping (_ done: Int, _ total: Int) -> Void
  ) throws(StorageError) -> CheckReport {
    // Held until the end: an inspection takes long, and is not to expire on the way.
    let version = try newestVersion()
    defer { withExtendedLifetime(version) {} }
    var report = try Inspection.inspect(version.space, progress: progress)
    guard let file = version.space.cache?.file else { return report }
    // Page 0 has a checksum over its first bytes only; nothing is ever written after them. A store
    // that is open without it has it from a meta page.
    let page = PageMemory(byteCount: geometry.pageSize)
    let count = try page.withBytes { bytes throws(StorageError) in
      try file.read(at: 0, into: bytes)
    }
    let bytes = UnsafeRawBufferPointer(rebasing: page.bytes[..<count])
    var used = IdentityPage.largestByteCount
    do throws(StorageError) {
      used = try IdentityPage(from: bytes, path: "", isReadOnly: true).byteCount
    } catch .damaged(let page, let reason) {
      // The store would not be open without the copy.
      report.findings.append(.init(page: page, message: IdentityPage.mendable(reason)))
    } catch .notAStore(_, let reason) {
      report.findings.append(
        .init(page: .identity, message: IdentityPage.mendable(reason)))
    }
    if bytes.dropFirst(used).contains(where: { $0 != 0 }) {
      report.findings.append(
        .init(page: .identity, message: "there is something where nothing is ever written"))
    }
    withExtendedLifetime(page) {}
    return report
  }

  // MARK: Writing

  func beginWrite() throws(StorageError) -> PageEditor {
    if isReadOnly { throw .readOnly }
    return try makeEditor(try enter(forLong: true))
  }

  /// - Returns: `nil` if the turnstile cannot be passed at once.
  func beginWriteIfFree(_ turn: WriterTurn) throws(StorageError) -> PageEditor? {
    if isReadOnly { throw .readOnly }
    try checkProcess()
    guard try turnstile.enterIfFree(turn) else { return nil }
    return try makeEditor(try admit())
  }

  /// For a transaction that starts from the newest version.
  private func makeEditor(_ newest: OwnedVersion) throws(StorageError) -> PageEditor {
    var latest = newest
    if mayHaveStrayPages {
      do throws(StorageError) {
        latest = try skipNumber(after: latest)
        // Who gives this transaction up would leave a commit that nobody waits for.
        if turns != nil { try makeDurable(before: latest.space.commit.next) }
      } catch {
        leave()
        // It is that of a commit of nothing.
        if case .outcomeUnknown(let cause) = error { throw .poisoned(cause: cause) }
        throw error
      }
    }
    let editor = PageEditor(.successor(of: latest), byteLimit: transactionByteLimit)
    if storage != nil { editor.makeDirectPages = directPages(for:) }
    return editor
  }

  var transactionByteLimit: Int { options.transactionByteLimit(pageSize: geometry.pageSize) }

  /// Waits until snapshots show what a transaction began with: that may be waiting for the disk.
  func waitUntilShown(baseOf editor: PageEditor) throws(StorageError) {
    guard let storage, storage.durability == .full, let log = storage.log else { return }
    try waitUntilDurable(CommitNumber(rawValue: editor.commit.rawValue - 1), in: log, of: storage)
  }

  /// Passes the turnstile; throws instead if the store cannot be written.
  func enter(forLong: Bool = false) throws(StorageError) -> OwnedVersion {
    try checkProcess()
    try turnstile.enter(forLong: forLong)
    return try admit()
  }

  /// After the turnstile was passed.
  ///
  /// - Throws: if the store cannot be written; the turnstile is left then.
  private func admit() throws(StorageError) -> OwnedVersion {
    completeCheckpointIfWritten()
    let poison = state.withLock { $0.poison }
    do throws(StorageError) {
      if isClosed { throw .closed }
      if let poison { throw StoreCore.refusal(because: poison) }
      try takeTurn()
    } catch {
      turnstile.leave()
      throw error
    }
    return latestVersion
  }

  /// What has to be done before a written commit counts.
  ///
  /// `@unchecked Sendable`: of the log only its file, which is Sendable, and atomic values are used
  /// by a sync, as it runs beside the writer in any case.
  struct Pending: @unchecked Sendable {
    let file: StoreFile
    let log: LogWriter
    let needsSync: Bool
    /// Whether the commit has a record; without one it is what an unchanged transaction has read.
    let hasRecord: Bool

    init(_ file: StoreFile, _ log: LogWriter, needsSync: Bool, hasRecord: Bool = false) {
      (self.file, self.log, self.needsSync, self.hasRecord) = (file, log, needsSync, hasRecord)
    }

    /// Whether the log has lost its name, so that a crash would lose the commit.
    var hasNamelessLog: Bool { hasRecord && log.isNameless.load(ordering: .relaxed) }
  }

  /// Commits a transaction's changes and lets the next writer in. With full durability the commit
  /// counts when it is on disk.
  ///
  /// - Returns: the number of the commit, or of the one before it when nothing was changed; and
  ///   what must be done before it counts, if anything.
  func finish(
    _ editor: PageEditor
  ) throws(StorageError) -> (number: CommitNumber, pending: Pending?) {
    guard !editor.touched.isEmpty else {
      // The state that it has read may still be waiting for the disk, and a caller that changed
      // nothing because of it relies on it as on a commit.
      let seen = CommitNumber(rawValue: editor.commit.rawValue - 1)
      let (log, storage) = (storage?.durability == .full ? storage?.log : nil, storage)
      leave()
      return (seen, log.flatMap { log in storage.map { Pending($0, log, needsSync: true) } })
    }
    let space = editor.space
    let pending: Pending?
    do {
      defer { leave() }
      if isClosed { throw .closed }
      let syncing: LogWriter?
      do throws(StorageError) {
        syncing = try commit(editor)
      } catch {
        noteEnd(ofGivenUp: editor)
        throw error
      }
      pending = whatIsLeftToDo(needsSync: syncing != nil)
      checkpointIfWorthwhile()
      updateLogByteCount()
      if options.idleLogLimit != nil, !isLogWatched { watchLog() }
    }
    return (space.commit, pending)
  }

  /// What has to be done before the commit counts that was just written; `nil` if nothing has.
  private func whatIsLeftToDo(needsSync: Bool) -> Pending? {
    guard let storage, let log = storage.log,
      needsSync || log.isNameless.load(ordering: .relaxed)
    else { return nil }
    return Pending(storage, log, needsSync: needsSync, hasRecord: true)
  }

  /// After a commit: a log that was removed while it was in use would not be found after a crash.
  /// So what it has goes to the store's file, and the next commit begins another.
  private func replace(_ log: LogWriter) throws(StorageError) {
    do throws(StorageError) {
      _ = try enter()
      defer { leave() }
      waitForCheckpoint()
      if let storage, storage.log === log { try closeLog(storage) }
    } catch .closed {
      // Closing has brought everything to the file.
    } catch .noSpaceLeft(let path) {
      // The next commit tries it again, and so does closing.
      throw .outcomeUnknown(cause: .noSpaceLeft(path: path))
    } catch {
      throw poison(error, afterRecord: true)
    }
  }

  func waitUntilDurable(
    _ commit: CommitNumber, in log: LogWriter, of storage: StoreFile
  ) throws(StorageError) {
    do throws(StorageError) {
      try syncUntilDurable(commit, in: log, of: storage)
    } catch {
      throw poison(error)
    }
  }

  /// Waits until a written commit counts.
  func waitUntilDurable(_ commit: CommitNumber, _ pending: Pending) throws(StorageError) {
    defer { noteDone() }
    if pending.needsSync {
      do throws(StorageError) {
        try syncUntilDurable(commit, in: pending.log, of: pending.file)
      } catch {
        throw poison(error, afterRecord: pending.hasRecord)
      }
    }
    if pending.hasNamelessLog { try replace(pending.log) }
  }

  /// Calls `body` when the commit counts, or with the error for which it does not; see
  /// ``CommitQueue/whenDurable(_:sync:publish:finish:)``.
  func whenDurable(
    _ commit: CommitNumber, _ pending: Pending, _ body: @escaping @Sendable (StorageError?) -> Void
  ) {
    let finish: @Sendable (StorageError?) -> Void = { [self] error in
      defer { noteDone() }
      if let error { return body(poison(error, afterRecord: pending.hasRecord)) }
      guard pending.hasNamelessLog else { return body(nil) }
      // On a thread that may wait for the turnstile: this one may have passed it.
      WorkerThreads.shared.run { [self] in
        do throws(StorageError) {
          try replace(pending.log)
          body(nil)
        } catch {
          body(error)
        }
      }
    }
    guard pending.needsSync else { return finish(nil) }
    commits.whenDurable(commit) { () throws(StorageError) in
      try pending.file.syncCommits(in: pending.log)
    } publish: { [self] in
      show(through: $0, in: pending.log)
    } finish: {
      finish($0)
    }
  }

  private func syncUntilDurable(
    _ commit: CommitNumber, in log: LogWriter, of storage: StoreFile
  ) throws(StorageError) {
    try commits.waitUntilDurable(commit) { () throws(StorageError) in
      try storage.syncCommits(in: log)
    } publish: { [self] in
      show(through: $0, in: log)
    }
  }

  /// Makes the commits up to `commit` visible, which are on disk: here, and by the seal of its
  /// record in other processes.
  ///
  /// - Returns: the versions that are no longer the newest. They end outside the mutex and later,
  ///   as ending one frees its pages.
  @discardableResult
  func show(through commit: CommitNumber, in log: LogWriter) -> [OwnedVersion] {
    log.seal(through: commit)
    return state.withLock { state in
      let count = state.waiting.prefix { $0.space.commit <= commit }.count
      guard count > 0 else { return [] }
      let old = [state.current] + state.waiting.prefix(count)
      state.current = state.waiting[count - 1]
      state.waiting.removeFirst(count)
      return old
    }
  }

  /// Refuses all writing from now on.
  ///
  /// - Parameter afterRecord: whether a record was written, so that its commit may be in the store.
  /// - Returns: the error to throw.
  @discardableResult
  func poison(_ cause: StorageError, afterRecord: Bool = false) -> StorageError {
    state.withLock { state in
      if state.poison == nil { state.poison = cause }
    }
    let refusal = StoreCore.refusal(because: cause)
    guard afterRecord, case .poisoned(let cause) = refusal else { return refusal }
    return .outcomeUnknown(cause: cause)
  }

  /// The answer to a writer after a failure. There is no way back to a store without a name.
  private static func refusal(because cause: StorageError) -> StorageError {
    switch cause {
    case .nameLost, .poisoned: cause
    default: .poisoned(cause: cause)
    }
  }

  func noteLog(byteCount: Int) { logByteCount.store(byteCount, ordering: .relaxed) }

  func updateLogByteCount() {
    logByteCount.store(storage?.logByteCount ?? 0, ordering: .relaxed)
  }

  /// Admits the next writer; the editor's changes are released with the editor.
  func abandon(_ editor: PageEditor) {
    noteEnd(ofGivenUp: editor)
    leave()
  }

  func leave() {
    guard registry.process.isCurrent else { return }
    // The last handle may have been dropped while a transaction was open.
    if lockedFile != nil || turns != nil, isClosed {
      letGoOfFile()
    } else {
      endTurnIfPossible()
    }
    turnstile.leave()
  }

  /// The same for a thread that has seen to the turn.
  func leaveWithoutEndingTurn() {
    if isClosed { letGoOfFile() }
    turnstile.leave()
  }

  // MARK: Closing

  var isClosed: Bool { closedFlag.load(ordering: .acquiring) }

  private func noteClosed() { closedFlag.store(true, ordering: .releasing) }

  /// Whether opening the store with these options shares this core: only if it can do what is
  /// wanted, and pages are verified in the same way.
  func isShared(by options: PageStoreOptions) -> Bool {
    guard isReadOnly else { return true }
    return options.isReadOnly
      && self.options.readsUnvouchedPages == options.readsUnvouchedPages
  }

  /// Releases a handle; the last one closes the store.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has the write transaction; an error of
  ///   the checkpoint, after which the store is nevertheless closed, and its log kept.
  func release() throws(StorageError) {
    try checkProcess()
    try turnstile.enter()
    defer { turnstile.leave() }
    waitForCheckpoint()
    guard state.withLock({ $0.identifier }) != nil else {
      noteClosed()
      registry.close()
      return
    }
    try OpenStores.release(self) { () throws(StorageError) in try shut() }
  }

  /// Releases a handle that was not closed: no checkpoint is made, and the log is kept.
  func abandonHandle() {
    guard registry.process.isCurrent, state.withLock({ $0.identifier }) != nil else { return }
    // The closure throws nothing, so nothing is.
    do throws(StorageError) {
      try OpenStores.release(self) { () throws(StorageError) in
        noteClosed()
        // A transaction may still be open; it releases the file when it ends.
        guard turnstile.enterUnlessInTransaction() else { return }
        waitForCheckpoint()
        letGoOfFile()
        turnstile.leave()
      }
    } catch {}
  }

  private func shut() throws(StorageError) {
    defer { letGoOfFile() }
    // What others may go on with is left to them.
    guard try isOursToClose(), let storage else { return }
    do throws(StorageError) {
      try storage.checkNames(nil)
    } catch {
      // Nothing can be made of what lies beside a file that is gone.
      if case .nameLost = error { storage.removeHistoryOfLost() }
      throw error
    }
    guard state.withLock({ $0.poison }) == nil else { return }
    let hasLog = storage.log != nil
    if hasLog { try checkpointForClosing(storage) }
    storage.removeOwnerNote()
    // When all is gone that may have taken its room.
    if hasLog { storage.reserve.settle() }
  }

  /// Whether this process may close the store's log: with a turn, if it has had one at all.
  private func isOursToClose() throws(StorageError) -> Bool {
    guard let turns else { return true }
    guard turns.isUsed, state.withLock({ $0.poison }) == nil else { return false }
    do throws(StorageError) {
      try takeTurn(limit: .seconds(1))
      return true
    } catch .locked {
      return false
    } catch .suspended {
      return false
    }
  }

  func letGoOfFile() {
    noteClosed()
    let space = state.withLock { $0.latest.space }
    registry.close()
    space.cache?.close()
    storage = nil
    // A reader or a checkpoint may have the file for a moment yet, but not what it is locked for.
    lockedFile?.unlock()
    lockedFile = nil
    turns?.unlock()
  }

  /// The newest version has no successor that would give its pages back.
  private func endVersions() { state.withLock { $0.latest }.space.retireEverything() }

  /// Holds another file, with its lock, from now on.
  func lock(_ file: any File) {
    guard let turns else { return lockedFile = file }
    turns.take(file)
  }
}
