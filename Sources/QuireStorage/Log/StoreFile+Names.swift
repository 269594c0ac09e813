// The names that lie beside a store, whose they are, and what is left under them.

extension StoreFile {
  static func logPath(of path: String) -> String { CompanionName.path(of: path, "-log") }
  /// The path of the log that recovery writes.
  static func newLogPath(of path: String) -> String { CompanionName.path(of: path, "-log-new") }
  /// See ``PageImages``.
  static func imagesPath(of path: String) -> String { CompanionName.path(of: path, "-pages") }
  /// The path of new images while a checkpoint writes them.
  static func newImagesPath(of path: String) -> String {
    CompanionName.path(of: path, "-pages-new")
  }
  static func ownerPath(of path: String) -> String { CompanionName.path(of: path, "-owner") }

  /// All that may lie beside a store's file.
  static func companionPaths(of path: String) -> [String] {
    [
      logPath(of: path), imagesPath(of: path), newImagesPath(of: path), newLogPath(of: path),
      ownerPath(of: path),
    ]
  }

  // MARK: Owner

  /// Writes a note for other processes that tells which one has the lock. It is used only in their
  /// error messages, so that failing does not matter.
  ///
  /// - Parameter inPlaceOfAnother: whether there was a note, which may be that of a store that has
  ///   the name now.
  func writeOwnerNote(inPlaceOfAnother: Bool) {
    do throws(StorageError) {
      if inPlaceOfAnother { try checkName() }
      let note = try fileSystem.open(StoreFile.ownerPath(of: path), .create)
      try Array(fileSystem.currentOwner().note.utf8).withRawBytes { bytes throws(StorageError) in
        try note.write(bytes, at: 0)
      }
    } catch {}
  }

  /// Removes a log that lies there although the store was closed, and images: what closing did not
  /// come to.
  func removeHistory() throws(StorageError) {
    guard log == nil, meta.isClean else { return }
    let paths = [StoreFile.logPath(of: path), StoreFile.imagesPath(of: path)]
    var isThere = false
    for path in paths where try fileSystem.identifier(of: path) != nil { isThere = true }
    guard isThere else { return }
    // Only when the meta page of the closing is on disk is the log certainly obsolete.
    if isMetaSpare { try settleMeta() }
    isMetaSpare = false
    try removeLog()
  }

  /// Removes what belongs to a file that has no name any more, unless another has it.
  func removeHistoryOfLost() {
    do throws(StorageError) { try removeLog() } catch {}
    removeOwnerNote()
  }

  /// Removes what a process that had the store has left in the middle of something.
  func removeLeftovers() {
    do throws(StorageError) {
      for leftover in [StoreFile.newImagesPath(of: path), StoreFile.newLogPath(of: path)] {
        try checkName()
        try fileSystem.remove(leftover)
      }
      try checkName()
      Leftovers(fileSystem: fileSystem, path: path).remove(copiesOf: identity, beside: file)
    } catch {}
  }

  func removeOwnerNote() {
    do throws(StorageError) {
      guard try nameHolder() != .another else { return }
      try fileSystem.remove(StoreFile.ownerPath(of: path))
    } catch {}
  }

  /// The note of the lock's owner: of a shared store it is in the log.
  static func readOwnerNote(of path: String, in fileSystem: any FileSystem) -> LockOwner {
    do throws(StorageError) {
      let page = try IdentityPage.read(from: try fileSystem.open(path, .read), path: path)
      if page.features.isShared {
        return try LogTurn(
          from: try fileSystem.open(logPath(of: path), .read), Checksum(page.identity)
        ).owner
      }
    } catch {}
    do throws(StorageError) {
      let note = try fileSystem.open(ownerPath(of: path), .read)
      let memory = PageMemory(byteCount: min(try note.byteCount(), 1024))
      let read = try note.readAll(into: memory)
      return try memory.withBytes { bytes throws(StorageError) in
        LockOwner(note: String(decoding: bytes.prefix(read), as: UTF8.self))
      }
    } catch {
      return .unknown
    }
  }

  // MARK: Name

  /// The holder of the name with which the store was opened.
  enum NameHolder {
    case us
    /// The file was deleted or moved away.
    case nobody
    /// The file was deleted or moved away, and another one has the name: its log and the files
    /// beside it must not be touched. The store's own file may have another name, and still belongs
    /// to this store.
    case another
  }

  /// - Throws: ``StorageError/notFound(path:)`` or ``StorageError/alreadyExists(path:)`` unless the
  ///   store still has its name.
  func checkName() throws(StorageError) { try file.checkName(path, in: fileSystem) }

  /// Checks that the store's file still has a name: what is written to it otherwise is on no disk
  /// for long. One that was moved away has another name, and is still the store.
  ///
  /// - Parameter log: is told if its own file has no name.
  /// - Throws: ``StorageError/nameLost(path:)``.
  func checkNames(_ log: LogWriter?) throws(StorageError) {
    if try file.isNameless(path: path, in: fileSystem) { throw .nameLost(path: path) }
    if let log, try log.file.isNameless(path: StoreFile.logPath(of: path), in: fileSystem) {
      log.isNameless.store(true, ordering: .relaxed)
    }
  }

  /// Makes the commits durable whose records are in a log, after a look at the files' names: a
  /// commit that began when its file had none is told so.
  ///
  /// The look comes first since the caches of the processor still have what it needs: `fstat` takes
  /// 0.5 µs here, and 0.9 after the wait for the disk. All of it is 3 % of a commit of 100 µs.
  func syncCommits(in log: LogWriter) throws(StorageError) {
    try checkNames(beforeSyncOf: log)
    try log.sync(for: .commit)
  }

  /// The log's file is not asked for its status: since Linux 6.13 the next write to a file whose
  /// times were asked for changes its inode, so that each sync would write that as well, and take
  /// half as long again. It is asked whether there is a file of that name, from time to time only.
  private func checkNames(beforeSyncOf log: LogWriter) throws(StorageError) {
    try checkNames(nil)
    guard isNameCheckDue else { return }
    if try !fileSystem.isNamed(StoreFile.logPath(of: path)) {
      log.isNameless.store(true, ordering: .relaxed)
    }
  }

  private var isNameCheckDue: Bool {
    let interval = fileSystem.nameCheckInterval
    guard interval > .zero else { return true }
    let now = ContinuousClock.now
    return lastNameCheck.withLock { last in
      if let last, now < last.advanced(by: interval) { return false }
      last = now
      return true
    }
  }

  func nameHolder() throws(StorageError) -> NameHolder {
    guard let found = try fileSystem.identifier(of: path) else { return .nobody }
    return found == file.identifier ? .us : .another
  }
}
