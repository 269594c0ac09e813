import Synchronization

/// One open store, however many ``PageStore`` handles of this process share it.
///
/// The newest version is behind a mutex that is held for a pointer's exchange only. Everything that
/// writes, log and file included, belongs to whoever is through the turnstile.
///
/// `@unchecked Sendable`: `storage` is touched only by whoever is through the turnstile; everything
/// else is constant or behind the mutex.
final class StoreCore: @unchecked Sendable {
  let identity: StoreIdentity
  let geometry: PageGeometry
  let isReadOnly: Bool
  /// The store's file, for the registry; `nil` in memory.
  let identifier: FileIdentifier?
  /// What was wrong with the file as a whole when it was opened.
  private let openingFindings: [CheckReport.Finding]
  private let turnstile = Turnstile()
  private let state: Mutex<State>
  private var storage: StoreFile?
  /// The file of a read-only store, which holds its lock.
  private var lockedFile: (any File)?

  private struct State {
    var current: PageSpace
    /// Set when a write failed; the answer to everybody who wants to write.
    var poison: StorageError?
    var isClosed = false
    var logByteCount = 0
  }

  init(identity: StoreIdentity, current: PageSpace) {
    self.identity = identity
    geometry = current.geometry
    isReadOnly = false
    identifier = nil
    openingFindings = []
    state = Mutex(State(current: current))
  }

  /// - Parameter storage: the writing side; `nil` makes the store read-only.
  init(_ recovery: Recovery, _ file: any File, _ storage: StoreFile?) {
    identity = recovery.identity
    geometry = recovery.space.geometry
    isReadOnly = storage == nil
    identifier = file.identifier
    openingFindings = recovery.findings
    self.storage = storage
    lockedFile = file
    // A writer has brought the log's commits into the pages; a reader leaves them where they are.
    let logByteCount = storage == nil ? (recovery.log?.byteCount ?? 0) - LogFormat.recordsStart : 0
    state = Mutex(State(current: recovery.space, logByteCount: max(0, logByteCount)))
  }

  func current() throws(StorageError) -> PageSpace {
    let (current, isClosed) = state.withLock { ($0.current, $0.isClosed) }
    if isClosed { throw .closed }
    return current
  }

  var statistics: StoreStatistics {
    state.withLock { state in
      StoreStatistics(
        pageSize: geometry.pageSize, pageCount: Int(state.current.pageCount),
        freePageCount: state.current.freePageCount,
        fileByteCount: identifier == nil
          ? 0 : Int(state.current.pageCount) * geometry.pageSize,
        logByteCount: state.logByteCount, commitNumber: state.current.commit)
    }
  }

  /// Compares every page with its checksum; pages in memory alone have none.
  func check() throws(StorageError) -> CheckReport {
    let current = try current()
    guard identifier != nil else { return Inspection.inspect(current, checksum: nil) }
    let checksum = Checksum(identity)
    var report = Inspection.inspect(current) { [geometry] id, page in
      checksum.ofPage(id, page, pageSize: geometry.pageSize)
    }
    report.findings = openingFindings + report.findings
    return report
  }

  // MARK: Writing

  func beginWrite() throws(StorageError) -> PageEditor {
    if isReadOnly { throw .readOnly }
    return PageEditor(try enter().successor())
  }

  /// Goes through the turnstile, unless there is nothing to write on the other side.
  private func enter() throws(StorageError) -> PageSpace {
    try turnstile.enter()
    let (current, isClosed, poison) = state.withLock { ($0.current, $0.isClosed, $0.poison) }
    let refusal: StorageError? = isClosed ? .closed : poison.map { .poisoned(cause: $0) }
    if let refusal {
      turnstile.leave()
      throw refusal
    }
    return current
  }

  /// Commits a transaction's changes and lets the next writer in.
  func finish(_ editor: PageEditor) throws(StorageError) -> CommitNumber {
    defer { turnstile.leave() }
    guard !editor.touched.isEmpty else {
      return CommitNumber(rawValue: editor.commit.rawValue - 1)
    }
    guard let storage else {
      publish(editor.space)
      return editor.commit
    }
    do throws(StoreFile.Failure) {
      try storage.commit(editor.space, changed: editor.changedPages())
    } catch {
      switch error {
      case .aborted(let cause):
        throw cause
      case .unknown(let cause):
        poison(cause)
        throw cause
      }
    }
    publish(editor.space)
    if storage.wantsCheckpoint {
      // The commit is durable, whatever becomes of the checkpoint: a full disk is met again by the
      // next one, another failure by the next transaction.
      do throws(StorageError) { try checkpoint(storage, editor.space) } catch {}
    }
    updateLogByteCount(storage)
    return editor.commit
  }

  private func publish(_ space: PageSpace) {
    space.publish()
    state.withLock { $0.current = space }
  }

  private func poison(_ cause: StorageError) {
    state.withLock { $0.poison = cause }
  }

  private func updateLogByteCount(_ storage: StoreFile) {
    let logByteCount = storage.logByteCount
    state.withLock { $0.logByteCount = logByteCount }
  }

  /// Lets the next writer in; the editor's changes go with the editor.
  func abandon() {
    turnstile.leave()
  }

  // MARK: Checkpoint and close

  func checkpoint() throws(StorageError) {
    if isReadOnly { throw .readOnly }
    let current = try enter()
    defer { turnstile.leave() }
    guard let storage, storage.hasChanges else { return }
    try checkpoint(storage, current)
    updateLogByteCount(storage)
  }

  private func checkpoint(
    _ storage: StoreFile, _ space: PageSpace, isClosing: Bool = false
  ) throws(StorageError) {
    do throws(StoreFile.Failure) {
      try storage.checkpoint(space, isClosing: isClosing)
    } catch {
      switch error {
      case .aborted(let cause):
        // Everything is in the log still, and the next checkpoint writes all of it again.
        throw cause
      case .unknown(let cause):
        poison(cause)
        throw cause
      }
    }
  }

  /// Gives a handle back; the last one closes the store.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has the write transaction; an error of
  ///   the checkpoint, after which the store is closed all the same and its log kept.
  func release() throws(StorageError) {
    try turnstile.enter()
    defer { turnstile.leave() }
    guard let identifier else {
      state.withLock { $0.isClosed = true }
      return
    }
    try OpenStores.release(identifier) { () throws(StorageError) in try shut() }
  }

  /// Gives a handle back that was dropped without being closed: no checkpoint, the log stays.
  func abandonHandle() {
    guard let identifier else { return }
    // The closure throws nothing, so nothing is.
    do throws(StorageError) {
      try OpenStores.release(identifier) { () throws(StorageError) in }
    } catch {}
  }

  private func shut() throws(StorageError) {
    let (current, isPoisoned) = state.withLock { state in
      state.isClosed = true
      return (state.current, state.poison != nil)
    }
    let storage = self.storage
    self.storage = nil
    // The lock goes with the file, when everything is written.
    defer { lockedFile = nil }
    guard let storage, !isPoisoned else { return }
    if storage.hasChanges { try checkpoint(storage, current, isClosing: true) }
    storage.removeOwnerNote()
  }
}
