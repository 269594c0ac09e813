/// A checkpoint that was begun and is not complete.
///
/// `@unchecked Sendable`: `outcome` is accessed only while the monitor is locked, `awaitsWriter`
/// only at the turnstile; `checkpoint` is read by the thread that writes it until there is an
/// outcome, and accessed only at the turnstile afterwards.
final class RunningCheckpoint: @unchecked Sendable {
  /// `nil` when it is complete, so that the written version and its pages are released without
  /// waiting for the thread that wrote them.
  private var checkpoint: Checkpoint?
  /// The log that has what is to be written; `nil` without one.
  let log: LogWriter?
  private let monitor = Monitor()
  private var outcome: Result<Void, StoreFile.Failure>?
  /// Whether no thread writes it yet; see ``PageStore/beginCheckpoint()``.
  var awaitsWriter = false

  init(_ checkpoint: Checkpoint, _ log: LogWriter?) {
    self.checkpoint = checkpoint
    self.log = log
  }

  /// Writes it by `body`, and notes how that ended.
  func write(_ body: (Checkpoint) throws(StoreFile.Failure) -> Void) {
    guard let checkpoint else { return }
    do throws(StoreFile.Failure) {
      try body(checkpoint)
      finish(.success(()))
    } catch {
      finish(.failure(error))
    }
  }

  /// Hands over what was written, to be completed.
  func takeCheckpoint() -> Checkpoint? {
    defer { checkpoint = nil }
    return checkpoint
  }

  private func finish(_ outcome: Result<Void, StoreFile.Failure>) {
    monitor.lock()
    self.outcome = outcome
    monitor.unlock()
    monitor.wakeAll()
  }

  /// The result of the writing; `nil` while it is in progress.
  var currentOutcome: Result<Void, StoreFile.Failure>? {
    monitor.lock()
    defer { monitor.unlock() }
    return outcome
  }

  func waitForOutcome() -> Result<Void, StoreFile.Failure> {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if let outcome { return outcome }
      monitor.wait()
    }
  }
}

// Checkpoints of a store (see `Checkpoint`). One at a time; all of these functions except the
// writing itself run at the turnstile.
extension StoreCore {
  /// Makes a checkpoint of the newest commit now; writers and readers continue meanwhile.
  func makeCheckpoint() throws(StorageError) {
    if isReadOnly { throw .readOnly }
    _ = try enter()
    waitForCheckpoint()
    guard let storage, storage.log != nil else { return leave() }
    let running = begin(storage)
    checkpoint = running
    turnstile.leave()
    write(running, storage)
    let outcome = running.waitForOutcome()
    // The next thread that passes completes it, at the latest this one.
    turnstile.enterAfterOthers()
    completeCheckpointIfWritten()
    updateLogByteCount()
    leave()
    if case .failure(let failure) = outcome { throw failure.cause }
  }

  /// After a commit: begins a checkpoint when the log or the changed pages have become many.
  ///
  /// The commit stands, whatever becomes of the checkpoint: a full disk is met again by the next
  /// one, another failure by the next transaction.
  func checkpointIfWorthwhile() {
    completeCheckpointIfWritten()
    // Commits come faster than their pages can be written: as memory has a limit, they wait.
    if changedByteCount > max(options.cacheByteLimit, 32 * geometry.pageSize) {
      waitForCheckpoint()
    }
    guard let storage, checkpoint == nil, isCheckpointWorthwhile(storage) else { return }
    let running = begin(storage)
    checkpoint = running
    // Another process that waits gets its turn after this, and not after the next one either.
    let isOnItsWay =
      options.checkpointsInBackground && turns?.isWanted != true
      && Threads.run { [self] in
        write(running, storage)
        turnstile.enterAfterOthers()
        completeCheckpointIfWritten()
        updateLogByteCount()
        leave()
      }
    guard !isOnItsWay else { return }
    write(running, storage)
    completeCheckpointIfWritten()
  }

  /// The number of bytes that the newest version has in memory because the file does not have them.
  var changedByteCount: Int {
    state.withLock { $0.latest.space.changedPageCount } * geometry.pageSize
  }

  private func isCheckpointWorthwhile(_ storage: StoreFile) -> Bool {
    if changedByteCount > max(options.cacheByteLimit / 2, 16 * geometry.pageSize) { return true }
    guard storage.logByteCount > storage.logByteLimit else { return false }
    storage.raiseLogLimit()
    return true
  }

  /// In the middle of a commit whose record has no room in the log.
  func makeRoomInLog(for editor: PageEditor) throws(StoreFile.Failure) {
    guard let storage else { return }
    let old = editor.space.parent
    if checkpoint == nil {
      let running = begin(storage)
      checkpoint = running
      write(running, storage)
    }
    writeCheckpointThatAwaitsIt()
    let outcome = checkpoint?.waitForOutcome()
    // The transaction may have pages after the end of the file.
    completeCheckpointIfWritten(cuttingFile: false)
    if case .failure(let failure) = outcome { throw failure }
    let newest = state.withLock { $0.latest }
    if newest !== old { editor.space.rebase(on: newest) }
  }

  /// Notes the newest commit as what is to be written.
  private func begin(_ storage: StoreFile) -> RunningCheckpoint {
    RunningCheckpoint(newCheckpoint(storage), storage.log)
  }

  func newCheckpoint(_ storage: StoreFile) -> Checkpoint {
    Checkpoint(
      state.withLock { $0.latest }, storage.log?.beginSpan() ?? .none,
      directRuns: directRuns.map(\.pages))
  }

  /// The long part, during which other operations continue.
  func write(_ running: RunningCheckpoint, _ storage: StoreFile) {
    running.write { checkpoint throws(StoreFile.Failure) in
      try makeDurable(checkpoint, in: running.log, storage)
      try storage.write(checkpoint, isClosing: false)
    }
  }

  /// Makes durable in the log what is about to be written to the pages.
  func makeDurable(
    _ checkpoint: Checkpoint, in log: LogWriter?, _ storage: StoreFile
  ) throws(StoreFile.Failure) {
    let commit = checkpoint.space.commit
    guard let log, storage.durability != .none, commits.durableCommit < commit else {
      return
    }
    // Without a sync for each commit nothing has requested one yet.
    commits.noteWritten(commit)
    do throws(StorageError) {
      // Synchronised with the commits: the system reports a failed sync once, and a later one that
      // succeeds proves nothing.
      try commits.waitUntilDurable(commit) { () throws(StorageError) in
        try log.sync(for: .checkpointLog)
      } publish: { [self] in
        show(through: $0, in: log)
      }
    } catch {
      throw .unknown(error)
    }
  }

  /// Waits for a checkpoint under way, and completes it.
  func waitForCheckpoint() {
    guard let checkpoint else { return }
    writeCheckpointThatAwaitsIt()
    _ = checkpoint.waitForOutcome()
    completeCheckpointIfWritten()
  }

  /// If a checkpoint's pages are on disk, the newest version need not carry them any more.
  func completeCheckpointIfWritten(cuttingFile: Bool = true) {
    guard let running = checkpoint, let outcome = running.currentOutcome,
      let written = running.takeCheckpoint()
    else { return }
    checkpoint = nil
    switch outcome {
    case .success:
      storage?.finish(written)
      noteWritten(written)
      relieve(of: written)
      if cuttingFile { cutOffFile(after: written) }
      storage?.reserve.renew()
    case .failure(.aborted):
      // Everything is in the log still, and the next checkpoint writes all of it again.
      break
    case .failure(.unknown(let cause)):
      poison(cause)
    }
  }

  /// The file has that version, and the meta page shows it.
  func noteWritten(_ checkpoint: Checkpoint) {
    durablePageCount = checkpoint.space.pageCount
    directRuns.removeAll { $0.commit <= checkpoint.space.commit }
  }

  /// Replaces the newest version by one that does not carry what the file has now.
  func relieve(of checkpoint: Checkpoint) {
    let newest = state.withLock { $0.latest }
    let (overlay, retired, cached) = checkpoint.relieve(newest.space)
    let unpublished = newest.space.relieved(overlay)
    let map = checkpoint.space.overlay[.firstMap]
    newest.space.cache?.replace(cached, mapCommit: map.isPage ? map.page.commit : nil)
    let relieved = unpublished.publish(replacing: retired, of: newest)
    state.withLock { state in
      if state.current === newest { state.current = relieved }
      if state.waiting.last === newest { state.waiting[state.waiting.count - 1] = relieved }
      state.latest = relieved
    }
    registry.reclaimer.collect()
  }

  /// Shortens the file if its end is not needed: no version has pages there, nor any that the log
  /// could restore, whose pages may have been written around it.
  func cutOffFile(after checkpoint: Checkpoint) {
    let pageCount = checkpoint.space.pageCount
    guard let storage, !mayHaveStrayPages,
      registry.largestPageCount(in: checkpoint.space.cache) <= pageCount,
      storage.log?.highestPageCount ?? 0 <= pageCount
    else { return }
    // A file that stays longer than it need be is no failure.
    do throws(StorageError) { try storage.cutOff(afterPages: pageCount) } catch {}
  }

  /// The last checkpoint; afterwards the store is one file.
  func checkpointForClosing(_ storage: StoreFile) throws(StorageError) {
    let checkpoint = newCheckpoint(storage)
    do throws(StoreFile.Failure) {
      try makeDurable(checkpoint, in: storage.log, storage)
      try storage.write(checkpoint, isClosing: true)
    } catch {
      throw error.cause
    }
    // A file that stays longer than it need be is no failure.
    do throws(StorageError) {
      if !mayHaveStrayPages {
        try storage.cutOff(afterPages: checkpoint.space.pageCount)
      }
    } catch {}
    try storage.removeLog()
  }

  /// Brings what recovery found in the log, if anything, into the file.
  func completeRecovery(_ recovery: Recovery) throws(StorageError) {
    guard !recovery.meta.isClean else {
      return noteStrayPages(fileByteCount: recovery.fileByteCount)
    }
    try finishRecovery()
    guard let storage else { return }
    noteStrayPages(fileByteCount: try storage.file.byteCount())
  }

  /// Brings what recovery found in the log into the file, and removes the log.
  private func finishRecovery() throws(StorageError) {
    guard let storage else { return }
    let checkpoint = Checkpoint(state.withLock { $0.latest }, .none, directRuns: nil)
    do throws(StoreFile.Failure) {
      try storage.write(checkpoint, isClosing: true)
    } catch {
      throw error.cause
    }
    try storage.removeLog()
    storage.reserve.settle()
    relieve(of: checkpoint)
  }
}

// A checkpoint part by part, for tests that let commits happen in between.
extension StoreCore {
  /// See ``PageStore/beginCheckpoint()``.
  func beginCheckpoint() throws(StorageError) {
    if isReadOnly { throw .readOnly }
    _ = try enter()
    defer { leave() }
    waitForCheckpoint()
    guard let storage, storage.log != nil else { return }
    let running = begin(storage)
    running.awaitsWriter = true
    checkpoint = running
  }

  /// See ``PageStore/writeCheckpoint()``.
  func writeCheckpoint() throws(StorageError) {
    _ = try enter()
    let (checkpoint, storage) = (checkpoint, storage)
    guard let checkpoint, let storage, checkpoint.awaitsWriter else { return leave() }
    checkpoint.awaitsWriter = false
    leave()
    write(checkpoint, storage)
    if case .failure(let failure) = checkpoint.waitForOutcome() { throw failure.cause }
  }

  /// See ``PageStore/completeCheckpoint()``.
  func completeCheckpoint() throws(StorageError) {
    _ = try enter()
    waitForCheckpoint()
    updateLogByteCount()
    leave()
  }

  /// Writes the checkpoint if no thread does, so that waiting for it ends.
  private func writeCheckpointThatAwaitsIt() {
    guard let checkpoint, let storage, checkpoint.awaitsWriter else { return }
    checkpoint.awaitsWriter = false
    write(checkpoint, storage)
  }
}
