// Whole copies of a store: a backup in another file, and a compacted one in its own place.

extension StoreCore {
  /// Writes one version, page by page, to a new file that is a closed store.
  ///
  /// - Parameter progress: called with the bytes written and the total; returns `false` to end it.
  func backUp(
    _ version: OwnedVersion, to path: String, in fileSystem: any FileSystem,
    progress: (Int, Int) throws -> Bool
  ) throws {
    let new = try NewFile(for: path, in: fileSystem)
    do {
      let copy = StoreCopy(version, identity: identity)
      try copy.write(to: new.file, progress: progress)
      try new.file.makeDurable(for: .backup)
      try new.publish()
    } catch {
      new.discard()
      throw error
    }
    // Another process may open the new store from now on.
    new.file.unlock()
    try fileSystem.confirmName(path, for: .backupFolder)
    Leftovers(fileSystem: fileSystem, path: path).remove(copiesOf: identity, beside: nil)
  }

  /// Rewrites the store without free pages and with full ones, in a new file that takes the old
  /// one's name.
  ///
  /// Writers wait; readers go on, with the old file as long as they hold old snapshots. A file that
  /// has lost its name is left as it is, since another file has the name now, which must not be
  /// replaced.
  func compact(progress: (Int, Int) throws -> Bool) throws {
    if isReadOnly { throw StorageError.readOnly }
    _ = try enter()
    defer { leave() }
    waitForCheckpoint()
    guard let storage else { return }
    try storage.file.checkName(storage.path, in: storage.fileSystem)
    // From here on the old file is a closed store that needs no log.
    if storage.log != nil { try closeLog(storage) }
    let newest = state.withLock { $0.latest }
    let path = storage.path
    let new = try NewFile(for: path, in: storage.fileSystem)
    do {
      try buildCompacted(newest, in: new.file, storage, progress)
      try new.replace(storage.file)
    } catch {
      new.discard()
      throw error
    }
    do throws(StorageError) {
      // Only from here on it is known which of the two files has the name after a crash.
      if options.durability != .none {
        try storage.fileSystem.makeNamesDurable(beside: path, for: .replacementFolder)
      }
      try take(new.file, storage)
    } catch {
      // Later commits might be in the file that does not have the name after a crash.
      throw poison(error)
    }
  }

  /// Builds all trees anew in another file, which is a closed store in the end.
  private func buildCompacted(
    _ newest: OwnedVersion, in file: any File, _ storage: StoreFile,
    _ progress: (Int, Int) throws -> Bool
  ) throws {
    let checksum = Checksum(identity)
    let cache = PageCache(
      file, geometry: geometry, checksum: checksum, validation: .ofTrees,
      reclaimer: Reclaimer(), byteLimit: 0, mapCommit: .creation)
    var options = options
    options.transactionByteLimit = .max
    // Built in memory, with most of it written to the file at once; without a log, as the file is
    // not visible before it is complete.
    let core = StoreCore(
      identity: identity, current: PageSpace.empty(geometry, commit: newest.space.commit),
      options: options)
    let editor = try core.beginWrite()
    editor.makeDirectPages = { _ in DirectPages(file, cache, from: .firstFree) }
    let transaction = WriteTransaction(core, editor)
    try transaction.copyTrees(of: Snapshot(newest.space), progress: progress)
    try transaction.commit()
    let builtVersion = core.state.withLock { $0.latest }
    let built = builtVersion.space
    let rest = DirectPages(file, cache, from: .firstMap)
    var pages: [(PageID, Page)] = []
    built.overlay.forEach { id, word in
      if word.isPage, id.rawValue < built.pageCount { pages.append((id, word.page)) }
    }
    for (id, page) in pages { try rest.put(page, at: id) }
    try rest.flush()
    // The removal of the old log may be lost where the new name is not: it must stay history.
    try StoreCopy(
      builtVersion, identity: identity, epoch: storage.meta.epoch,
      isShared: storage.page.features.isShared
    ).writeHead(to: file)
    if options.durability != .none { try file.makeDurable(for: .replacement) }
    withExtendedLifetime(core) {}
  }

  /// Continues with another file, which has the next commit.
  private func take(_ file: any File, _ old: StoreFile) throws(StorageError) {
    let recovery = try Recovery(
      file, path: old.path, in: old.fileSystem, options: options, validation: .ofTrees,
      registry: registry)
    state.withLock { $0.latest }.space.retireEverything()
    if turns != nil { recovery.space.cache?.witness = self }
    commits.noteDurable(recovery.space.commit)
    durablePageCount = recovery.space.pageCount
    show(recovery.version, of: file.identifier)
    storage = StoreFile(
      file, path: old.path, in: old.fileSystem, page: recovery.page, meta: recovery.meta,
      pageCount: recovery.space.pageCount, isMetaSpare: false, turnOwner: old.turnOwner,
      options: options)
    storage?.reserve.settle()
    mayHaveStrayPages = false
    directRuns = []
    lock(file)
  }
}

extension WriteTransaction {
  /// Builds every tree of another store's snapshot here.
  package func copyTrees(of source: Snapshot, progress: (Int, Int) throws -> Bool) throws {
    let trees = try source.treeNames()
    let total = trees.reduce(0) { $0 + $1.count }
    var done = 0
    // In a damaged file values can share pages; then the copy would have no end.
    var room = Int(source.space.pageCount) * source.space.pageSize
    func advance(_ valueByteCount: Int) throws {
      done += 1
      room -= valueByteCount
      guard room >= 0 else {
        throw StorageError.damaged(
          page: .catalogRoot, reason: "the values in its trees are longer than the store")
      }
      guard done % 4096 == 0 || done == total else { return }
      guard try progress(done, total) else { throw StorageError.cancelled }
    }
    for (name, kind, _) in trees {
      switch kind {
      case .record:
        guard var cursor = try source.recordTree(name)?.cursor() else { continue }
        try buildRecordTree(name) { builder in
          while try cursor.next() {
            let value = try cursor.valueBytes
            try builder.append(value, for: try cursor.key)
            try advance(value.count)
          }
        }
      case .index:
        guard var cursor = try source.indexTree(name)?.cursor() else { continue }
        try buildIndexTree(name) { builder in
          while try cursor.next() {
            let key = try cursor.key
            let value = try cursor.valueBytes
            try builder.append(value, for: key)
            try advance(value.count)
          }
        }
      }
    }
  }
}
