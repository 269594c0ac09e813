// The log of an idle store. It may have grown to several times the size of the store, and is needed
// only after a crash. Removing it is what closing does, except that the store stays open: the next
// commit begins another, as the first after opening does.
extension StoreCore {
  /// Writes the content of the log to the file, and removes the log.
  ///
  /// - Parameter idleSince: does nothing if another commit than this one is the newest.
  /// - Returns: whether there is no log now.
  @discardableResult
  func removeLog(idleSince commit: CommitNumber? = nil) throws(StorageError) -> Bool {
    try checkProcess()
    if isReadOnly { throw .readOnly }
    // The long part first, while others write.
    if changedByteCount > 1 << 20 { try makeCheckpoint() }
    let latest = try enter()
    defer { leave() }
    if let commit, latest.space.commit != commit { return false }
    waitForCheckpoint()
    isLogWatched = false
    guard let storage, storage.log != nil else { return true }
    try closeLog(storage)
    storage.reserve.settle()
    return true
  }

  /// The log becomes history, while the store stays open. At the turnstile, with no checkpoint
  /// under way.
  ///
  /// - Throws: ``StorageError/noSpaceLeft(path:)`` with everything as it was; after any other error
  ///   the store is poisoned.
  func closeLog(_ storage: StoreFile) throws(StorageError) {
    let checkpoint = newCheckpoint(storage)
    do throws(StoreFile.Failure) {
      try makeDurable(checkpoint, in: storage.log, storage)
      try storage.write(checkpoint, isClosing: true)
    } catch {
      switch error {
      // Everything is in the log still.
      case .aborted(let cause): throw cause
      case .unknown(let cause): throw poison(cause)
      }
    }
    noteWritten(checkpoint)
    relieve(of: checkpoint)
    // The meta page makes the log obsolete. If it cannot be removed, recovery ignores it, and the
    // next commit removes it.
    do throws(StorageError) { try storage.removeLog() } catch {}
    cutOffFile(after: checkpoint)
    updateLogByteCount()
  }

  /// Starts waiting until the store is idle. Called at the turnstile, after a commit.
  func watchLog() {
    guard let limit = options.idleLogLimit, !isLogWatched, storage?.log != nil else { return }
    let commit = state.withLock { $0.latest.space.commit }
    isLogWatched = Threads.run { [weak self] in
      var seen = commit
      while true {
        Threads.sleep(for: limit)
        // Held for the moment only: a store that goes is not to wait for this thread.
        guard let next = self?.removeLogIfIdle(since: seen) else { return }
        seen = next
      }
    }
  }

  /// - Returns: the commit after which to wait again; `nil` when there is nothing to wait for.
  private func removeLogIfIdle(since commit: CommitNumber) -> CommitNumber? {
    let (latest, isPoisoned) = state.withLock { ($0.latest.space.commit, $0.poison != nil) }
    if isClosed || isPoisoned { return nil }
    if latest != commit { return latest }
    do throws(StorageError) {
      if try removeLog(idleSince: commit) { return nil }
    } catch {
      // A full disk may be less full next time; after any other failure the store is poisoned or
      // closed.
    }
    return state.withLock { isClosed || $0.poison != nil ? nil : $0.latest.space.commit }
  }
}
