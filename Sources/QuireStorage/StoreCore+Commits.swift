// A commit: room on the disk, the record in the log, and the version that becomes the newest. All
// of it at the turnstile.
extension StoreCore {
  /// Writes the record of a transaction's changes, and makes its version the newest.
  ///
  /// - Returns: the log that must be synced before the commit counts, if one must.
  func commit(_ editor: PageEditor) throws(StorageError) -> LogWriter? {
    try editor.releaseMovedPages()
    try editor.cutTrailingFreePages()
    try editor.stampPages()
    let touched = editor.touchedPages()
    if let storage, editor.isGrowing {
      try storage.reserve.prepare(
        growthTo: Int(editor.space.pageCount) * geometry.pageSize,
        isForRemoval: editor.isForRemoval)
    }
    var syncing: LogWriter?
    if try log(editor, touched) {
      commits.noteDurable(editor.commit)
    } else if storage?.durability == .full {
      syncing = storage?.log
    }
    if storage != nil, let runs = editor.directRuns { directRuns.append((editor.commit, runs)) }
    publish(editor.space, touched, isDurable: syncing == nil)
    return syncing
  }

  /// - Returns: whether the commit is durable already.
  /// - Throws: ``StorageError/outcomeUnknown(cause:)`` if the record may have been written; with
  ///   any other error it was not.
  private func log(_ editor: PageEditor, _ touched: [PageID]) throws(StorageError) -> Bool {
    guard let storage else { return false }
    do throws(StorageError) {
      return try write(editor, touched, storage)
    } catch .noSpaceLeft(let path) {
      guard try findRoom(forLogOf: editor, storage) else { throw .noSpaceLeft(path: path) }
      return try write(editor, touched, storage)
    }
  }

  /// Makes room on a full disk: after a checkpoint the log needs no more than it has, and what the
  /// reserve takes is for transactions that make the store no larger.
  ///
  /// - Returns: whether there may be some now.
  private func findRoom(
    forLogOf editor: PageEditor, _ storage: StoreFile
  ) throws(StorageError) -> Bool {
    var isFound = false
    if storage.logByteCount > 0 {
      do throws(StoreFile.Failure) {
        try makeRoomInLog(for: editor)
        isFound = true
      } catch {
        if case .unknown(let cause) = error { throw poison(cause) }
      }
    }
    guard !editor.isGrowing || editor.isForRemoval else { return isFound }
    return storage.reserve.giveUp(forLogOf: storage.log?.allocated ?? 0) || isFound
  }

  /// See ``log(_:_:)``.
  private func write(
    _ editor: PageEditor, _ touched: [PageID], _ storage: StoreFile
  ) throws(StorageError) -> Bool {
    let log: LogWriter
    let record: LogWriter.Record
    do throws(StoreFile.Failure) {
      (log, record) = try encode(editor, touched, storage)
    } catch {
      switch error {
      case .aborted(let cause): throw cause
      case .unknown(let cause): throw poison(cause)
      }
    }
    do throws(StoreFile.Failure) {
      let isDurable = try storage.append(record, to: log)
      storage.reserve.note(logByteCount: log.allocated)
      if let cause = storage.metaFailure { poison(cause) }
      return isDurable
    } catch {
      switch error {
      case .aborted(let cause): throw cause
      case .unknown(let cause): throw poison(cause, afterRecord: true)
      }
    }
  }

  /// Puts the record of a transaction's changes together, for a log that has room for it.
  private func encode(
    _ editor: PageEditor, _ touched: [PageID], _ storage: StoreFile
  ) throws(StoreFile.Failure) -> (LogWriter, LogWriter.Record) {
    if editor.hasDirectPages, storage.durability != .none {
      do throws(StorageError) {
        try storage.sync(for: .directPages)
      } catch {
        throw .unknown(error)
      }
    }
    let log = try storage.openLog()
    let bases = editor.sortedCleanBases()
    var record = log.encode(
      editor.space, touched: touched, cleanBases: bases, durableThrough: commits.durableCommit)
    while log.needsCheckpoint(for: record, limit: storage.largestLogByteCount) {
      try makeRoomInLog(for: editor)
      record = log.encode(
        editor.space, touched: touched, cleanBases: bases,
        durableThrough: commits.durableCommit)
    }
    return (log, record)
  }

  /// Makes the transaction's version the newest.
  private func publish(_ space: PageSpace, _ touched: [PageID], isDurable: Bool) {
    let replaced = space.replaced(touched: touched)
    let parent = space.parent
    let version = space.publish(replacing: replaced, of: parent)
    // Ends when the mutex is free again, as ending a version frees its pages.
    let old = state.withLock { state -> OwnedVersion? in
      state.latest = version
      guard isDurable else {
        state.waiting.append(version)
        return nil
      }
      return exchange(&state.current, with: version)
    }
    if !isDurable { commits.noteWritten(space.commit) }
    if let cache = space.cache {
      cache.setFile(pageCount: space.pageCount, byteLimit: options.cacheByteLimit)
      if cache.isLargerThanBudget {
        cache.setLimit(
          byteCount: options.cacheByteLimit - space.changedPageCount * geometry.pageSize)
      }
    }
    withExtendedLifetime((old, parent)) {}
    registry.enforceLimit()
  }
}
