// A store that several processes write, each in its turn (``StoreTurns``). All of it at the
// turnstile.
//
// A turn begins with what others have done since: the end of the log, of which the newest version
// gets the commits, as that of a reader does; or another file, or another log. Then the process
// goes on with log and file as if it had written all of that itself. What a process that died has
// left in the middle is told by the log: by a record that is not sealed or not whole, or by its
// header (``LogTurn``). Then the store is recovered as it is when it is opened.
//
// Every process recovers the store when it opens it. So whatever a power failure has left has been
// recovered by the first process after it, and by every one that has the store open.
extension StoreCore {
  /// Takes the turn, if it is not this process's already.
  func takeTurn(limit: Duration? = nil) throws(StorageError) {
    guard let turns, let follower else { return }
    turns.noteUse()
    if turns.isHeld { return }
    try turns.lock(limit: limit) {
      // So that little is left to be read when it is this one's turn.
      do throws(StorageError) { try follower.follow(self) } catch {}
    }
    let former = latestVersion.space.commit
    do throws(StorageError) {
      try follower.beginTurn(self, turns) { find throws(StorageError) in
        switch find {
        case .same: break
        case .changed: try goOn(turns, follower)
        case .unfinished: try recoverInTurn(turns)
        }
        try storage?.log?.noteTurn(of: turns.process)
      }
    } catch {
      turns.unlock()
      throw error
    }
    let newest = latestVersion.space.commit
    commits.noteDurable(newest)
    guard newest != former else { return }
    // Not here: whoever is told may want to write.
    guard let attachment = attachment.withLock({ $0 }) else { return }
    WorkerThreads.shared.run { [identity] in attachment.store(identity, didMoveTo: newest) }
  }

  /// Calls `body` in a turn of this process.
  func inTurn<R>(_ body: () throws -> R) throws -> R {
    _ = try enter(forLong: true)
    defer { leave() }
    return try body()
  }

  /// The same for what throws the engine's errors alone.
  func inTurn<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    _ = try enter(forLong: true)
    defer { leave() }
    return try body()
  }

  /// Goes on with what others have left.
  private func goOn(_ turns: StoreTurns, _ follower: StoreFollower) throws(StorageError) {
    let page = try IdentityPage.read(from: turns.file, path: turns.path)
    guard page.features.isShared, let meta = try follower.newestMeta() else {
      throw .replaced(path: turns.path)
    }
    // Where commits are synced one by one, all are: readers see none that are not.
    let durability =
      follower.position?.isSealed == true ? Durability.full : options.durability
    let storage = StoreFile(
      turns.file, path: turns.path, in: turns.fileSystem, page: page, meta: meta,
      pageCount: latestVersion.space.pageCount, isMetaSpare: false, isAtRest: true,
      durability: durability, turnOwner: turns.process,
      // What another process may have given up of it is missed on a full disk alone.
      reserve: self.storage?.file === turns.file ? self.storage?.reserve : nil, options: options)
    if let position = follower.position {
      let file = try turns.fileSystem.open(position.path, .write)
      guard file.identifier == position.file.identifier else {
        throw .nameLost(path: position.path)
      }
      storage.take(
        try LogWriter(
          position, file, after: follower.records, storage.checksum, span: follower.span,
          pageSize: geometry.pageSize, imageByteLimit: options.imageByteLimit,
          turn: try LogTurn(from: file, storage.checksum)))
    }
    self.storage = storage
    durablePageCount = meta.pageCount
    directRuns = []
    mayHaveStrayPages = false
    if storage.log == nil { noteStrayPages(fileByteCount: try turns.file.byteCount()) }
    // A log without seals, although this process promises them: the next commit begins another.
    if let log = storage.log, durability == .full, !log.seals { try closeLog(storage) }
  }

  /// Recovers the store after a process has died in its turn.
  private func recoverInTurn(_ turns: StoreTurns) throws(StorageError) {
    let file = turns.file
    let recovery = try Recovery(
      file, path: turns.path, in: turns.fileSystem, options: options, validation: .ofTrees,
      registry: registry)
    let former = latestVersion
    guard recovery.identity == identity, recovery.page.geometry == geometry,
      recovery.page.features.isShared,
      recovery.space.commit >= state.withLock({ $0.current.space.commit })
    else {
      recovery.space.retireEverything()
      throw .replaced(path: turns.path)
    }
    let storage = try StoreFile(
      recovering: recovery, file, turns.path, turns.fileSystem, turnOwner: turns.process, options)
    recovery.space.cache?.witness = self
    show(recovery.version, of: file.identifier)
    former.space.retireEverything()
    self.storage = storage
    durablePageCount = recovery.space.pageCount
    directRuns = []
    try completeRecovery(recovery)
    try removeRemainsOfTurn(storage)
    registry.enforceLimit()
  }

  /// Removes what a process that died in its turn has left. Copies that others are making beside
  /// the store are locked, and stay.
  func removeRemainsOfTurn(_ storage: StoreFile) throws(StorageError) {
    try storage.removeHistory()
    storage.removeLeftovers()
  }

  /// Gives the turn back, if it is held and nothing is left to do in it; or keeps it for a while.
  func endTurnIfPossible() {
    guard let turns, turns.isHeld else { return }
    if state.withLock({ $0.poison }) != nil { return giveUpTurn(turns) }
    guard checkpoint == nil, !isWaitingForDisk else { return }
    do throws(StorageError) {
      try settleTurn()
    } catch {
      // On a full disk nothing is lost that a recovery does not find; any other failure is one of
      // the disk.
      if case .noSpaceLeft = error {} else { poison(error) }
      return giveUpTurn(turns)
    }
    guard !isWaitingForDisk else { return }
    if turns.keepInterval > .zero, !isClosed, !turns.isSuspended, !turns.isOver {
      watchTurn(turns)
      return
    }
    endTurn()
  }

  /// Whether a commit's record is written and its sync is not done.
  private var isWaitingForDisk: Bool {
    storage?.durability == .full && commits.durableCommit < latestVersion.space.commit
  }

  /// Brings to an end what others could not go on with.
  private func settleTurn() throws(StorageError) {
    guard let storage, let log = storage.log else { return }
    if mayHaveStrayPages {
      let latest = try skipNumber(after: latestVersion)
      commits.noteWritten(latest.space.commit)
      try waitUntilDurable(latest.space.commit, in: log, of: storage)
    }
    if !directRuns.isEmpty { try checkpointInTurn() }
    try log.note(.directPages, isBusy: false)
  }

  /// A checkpoint during which nobody commits.
  func checkpointInTurn() throws(StorageError) {
    guard let storage, storage.log != nil else { return }
    waitForCheckpoint()
    let running = RunningCheckpoint(newCheckpoint(storage), storage.log)
    checkpoint = running
    write(running, storage)
    let outcome = running.waitForOutcome()
    completeCheckpointIfWritten()
    updateLogByteCount()
    if case .failure(let failure) = outcome { throw failure.cause }
  }

  /// Leaves the store to others as it is.
  func endTurn() {
    guard let turns, let storage else { return }
    follower?.endTurn(storage, self)
    turns.unlock()
  }

  /// After a failure: what this process has written does not count for itself any more; whoever
  /// comes next finds it.
  private func giveUpTurn(_ turns: StoreTurns) {
    follower?.forget()
    turns.unlock()
  }

  // MARK: Suspending

  /// Waits for the transaction under way and its sync, gives the turn back, and takes none.
  func suspend() throws(StorageError) {
    guard let turns else {
      if isReadOnly || state.withLock({ $0.identifier }) == nil { return }
      throw .invalidArgument(
        "the store is this process's alone, which has it locked while it is open: open it with "
          + "isShared, or close it")
    }
    try checkProcess()
    let wasSuspended = turns.isSuspended
    turns.isSuspended = true
    do throws(StorageError) {
      // Whoever waits for a turn meanwhile gives up.
      try turnstile.enter()
    } catch {
      turns.isSuspended = wasSuspended
      throw error
    }
    defer { leave() }
    guard turns.isHeld else { return }
    waitForCheckpoint()
    if isWaitingForDisk, let storage, let log = storage.log {
      try waitUntilDurable(latestVersion.space.commit, in: log, of: storage)
    }
    endTurnIfPossible()
  }

  func resume() { turns?.isSuspended = false }

  /// When a commit is on disk, or will not be: the turn may end.
  func noteDone() {
    guard let turns, turns.isHeld, turnstile.enterUnlessTaken() else { return }
    leave()
  }

  /// Gives the turn back when nobody uses it, or another wants it.
  private func watchTurn(_ turns: StoreTurns) {
    guard !turns.isWatched else { return }
    let start = turns.useCount
    turns.isWatched = Threads.run { [weak self] in
      var seen = start
      while true {
        Threads.sleep(for: turns.keepInterval)
        // Held for the moment only: a store that goes is not to wait for this thread.
        guard let next = self?.endTurnIfIdle(turns, since: seen) else { return }
        seen = next
      }
    }
    if !turns.isWatched { endTurn() }
  }

  /// - Returns: the number of uses so far; `nil` when the turn has ended.
  private func endTurnIfIdle(_ turns: StoreTurns, since count: Int) -> Int? {
    guard turnstile.enterUnlessTaken() else { return -1 }
    defer { leaveWithoutEndingTurn() }
    guard turns.isHeld, !isClosed else {
      turns.isWatched = false
      return nil
    }
    let isIdle = turns.useCount == count || turns.isOver
    guard isIdle, checkpoint == nil, !isWaitingForDisk else { return turns.useCount }
    turns.isWatched = false
    endTurn()
    return nil
  }
}
