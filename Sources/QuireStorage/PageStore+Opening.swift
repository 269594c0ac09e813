extension PageStore {
  /// Blocks the thread for a time, for waiting until another process closes a file.
  package static func pause(milliseconds: UInt32) { Posix.pause(milliseconds: milliseconds) }

  /// Opens a store, creating it if necessary, and recovers the data of the last process.
  ///
  /// Pages are read, and verified, when they are needed. Opening a file again that this process has
  /// open gives another handle on the same store; durability and limits are then those of the
  /// first.
  ///
  /// - Throws: ``StorageError/locked(_:)`` naming the other process;
  ///   ``StorageError/networkFileSystem(path:type:)`` for a store that is shared;
  ///   ``StorageError/notFound(path:)``, ``StorageError/alreadyExists(path:)``,
  ///   ``StorageError/notAStore(path:reason:)``,
  ///   ``StorageError/unsupportedFormat(found:supported:)``; ``StorageError/damaged(page:reason:)``
  ///   when a page is damaged without which nothing can be read (identity, both meta pages, the
  ///   catalog's root); ``StorageError/logMissing(path:)``,
  ///   ``StorageError/imagesMissing(path:pages:)``, unless it is opened to be read alone: then
  ///   these pages are damaged and the others can be read; ``StorageError/logForeign(path:)``,
  ///   ``StorageError/logDamaged(path:firstLost:lastLost:)``,
  ///   ``StorageError/logCutShort(path:byteCount:atLeast:)``; an error of the disk.
  public static func open(
    _ path: String, options: PageStoreOptions = PageStoreOptions(),
    in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) -> PageStore {
    guard PageGeometry.isLegal(pageSize: options.pageSize) else {
      throw .invalidArgument(
        "pages cannot have \(options.pageSize) bytes: use a power of two from 512 to 32768")
    }
    guard (0...PageGeometry.tailLimit).contains(options.tailByteCount) else {
      throw .invalidArgument(
        "\(options.tailByteCount) bytes of each page cannot be left out: \(PageGeometry.tailLimit) can"
      )
    }
    guard options.isReadOnly || !options.readsUnvouchedPages else {
      throw .invalidArgument("pages that nothing vouches for are read in a read-only store alone")
    }
    // The log belongs beside the file, whatever name the store is opened by.
    let path = fileSystem.destination(of: path)
    // Before a file is made, or marked.
    if options.isShared, !options.isReadOnly { try checkLocks(of: path, options, fileSystem) }
    if options.mustNotExist {
      guard try fileSystem.identifier(of: path) == nil else { throw .alreadyExists(path: path) }
      if !options.isReadOnly { try create(path, options, fileSystem) }
    }
    // The file may be replaced between opening and locking it, or come and go; a few times is bad
    // luck.
    for _ in 0..<8 {
      if let store = try openOnce(path, options, fileSystem) { return store }
    }
    throw .io(
      operation: "open", path: path, code: 0, message: "the file keeps being replaced by another")
  }

  /// - Throws: ``StorageError/networkFileSystem(path:type:)``.
  private static func checkLocks(
    of path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    guard !options.trustsNetworkLocks, let type = fileSystem.networkType(of: path) else { return }
    throw .networkFileSystem(path: path, type: type)
  }

  private static func create(
    _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    try StoreFile.create(
      path, options: options, in: fileSystem, publishing: OpenStores.whileNoneOpens(beside:_:))
  }

  /// - Returns: `nil` if the path names another file by the time the lock is held.
  private static func openOnce(
    _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) -> PageStore? {
    let file: any File
    do throws(StorageError) {
      file = try fileSystem.open(path, options.isReadOnly ? .read : .write)
    } catch .notFound(let missing) {
      guard options.createIfMissing, !options.isReadOnly else { throw .notFound(path: missing) }
      do throws(StorageError) {
        try create(path, options, fileSystem)
      } catch .alreadyExists {
        // Another process has just created it.
      }
      return nil
    }
    do throws(StorageError) {
      let core = try OpenStores.core(for: file.identifier, path, options) {
        () throws(StorageError) in
        try openCore(file, path, options, fileSystem)
      }
      return PageStore(core, path: path, isReadOnly: options.isReadOnly)
    } catch {
      guard try fileSystem.identifier(of: path) == file.identifier else { return nil }
      throw error
    }
  }

  private static func openCore(
    _ file: any File, _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) -> StoreCore {
    if options.isReadOnly, !options.readsUnvouchedPages {
      return try openFollower(file, path, options, fileSystem)
    }
    // Not known of a file that is damaged: the opening says what is wrong with it.
    var isShared: Bool {
      (try? IdentityPage.read(from: file, path: path))?.features.isShared ?? false
    }
    let start = ContinuousClock.now
    while true {
      if !options.isReadOnly, isShared { return try openShared(file, path, options, fileSystem) }
      do throws(StorageError) {
        try lock(file, options.isReadOnly ? .shared : .exclusive, path, fileSystem)
        break
      } catch {
        // Perhaps by another process that is about to share it.
        guard options.isShared, case .locked = error,
          ContinuousClock.now - start < options.turnWaitLimit
        else { throw error }
        Posix.pause(milliseconds: 5)
      }
    }
    // Locked, but is it still the file that the path names? If not, the caller looks again.
    guard try fileSystem.identifier(of: path) == file.identifier else {
      throw .notFound(path: path)
    }
    let recovery = try Recovery(
      file, path: path, in: fileSystem, options: options, validation: .ofTrees)
    guard !options.isReadOnly else { return StoreCore(recovery, file, nil, options: options) }
    if recovery.page.features.isShared {
      // It has become so since.
      recovery.space.retireEverything()
      file.unlock()
      return try openShared(file, path, options, fileSystem)
    }
    let storage = try StoreFile(recovering: recovery, file, path, fileSystem, options)
    let core = StoreCore(recovery, file, storage, options: options)
    try core.completeRecovery(recovery)
    // The process that had the store before died, perhaps while closing the store or giving it its
    // name.
    let note = try fileSystem.identifier(of: StoreFile.ownerPath(of: path))
    if note != nil || !recovery.meta.isClean || file.nameCount > 1 {
      try storage.removeHistory()
      storage.removeLeftovers()
    }
    guard !options.isShared else {
      try storage.becomeShared()
      // From now on the log says whose turn it is.
      storage.removeOwnerNote()
      core.letGoOfFile()
      return try openShared(file, path, options, fileSystem)
    }
    storage.writeOwnerNote(inPlaceOfAnother: note != nil)
    return core
  }

  /// Opens a store that processes write in turn, in the first turn of this one.
  private static func openShared(
    _ file: any File, _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) -> StoreCore {
    try checkLocks(of: path, options, fileSystem)
    guard try file.hasWriter() != nil else {
      throw .invalidArgument(
        "\(path) cannot be shared by processes that write: the system has no locks of open files")
    }
    let turns = StoreTurns(file, path: path, in: fileSystem, options)
    try turns.lock()
    guard turns.file.identifier == file.identifier else { throw .notFound(path: path) }
    let recovery = try Recovery(
      file, path: path, in: fileSystem, options: options, validation: .ofTrees)
    let storage = try StoreFile(
      recovering: recovery, file, path, fileSystem, turnOwner: turns.process, options)
    let follower = StoreFollower(
      recovery, file, try Recovery.Moment(file), path: path, in: fileSystem, options: options)
    let core = StoreCore(recovery, file, storage, follower, turns, options: options)
    try core.completeRecovery(recovery)
    try core.removeRemainsOfTurn(storage)
    core.endTurn()
    return core
  }

  /// A reader takes no lock, so that no writer is kept out, and follows one.
  private static func openFollower(
    _ file: any File, _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) throws(StorageError) -> StoreCore {
    if let core = openBesideWriter(file, path, options, fileSystem) { return core }
    let (recovery, opened, moment) = try Recovery.reading(
      path, in: fileSystem, options: options, validation: .ofTrees)
    guard opened.identifier == file.identifier else { throw .notFound(path: path) }
    let follower = StoreFollower(
      recovery, opened, moment, path: path, in: fileSystem, options: options)
    return StoreCore(recovery, opened, nil, follower, options: options)
  }

  /// A reader of a store that is being written: at the last checkpoint, from which it follows the
  /// log. So only those pages are made of the log that somebody reads.
  ///
  /// - Returns: `nil` if that cannot be done, for whatever reason, which reading the whole store
  ///   tells then.
  private static func openBesideWriter(
    _ file: any File, _ path: String, _ options: PageStoreOptions, _ fileSystem: any FileSystem
  ) -> StoreCore? {
    do throws(StorageError) {
      guard try file.isBeingWritten() else { return nil }
      let moment = try Recovery.Moment(file)
      let recovery = try Recovery(
        file, path: path, in: fileSystem, options: options, validation: .ofTrees, follows: true,
        readsLog: false)
      let follower = StoreFollower(
        recovery, file, moment, path: path, in: fileSystem, options: options)
      let core = StoreCore(recovery, file, nil, follower, options: options)
      if try follower.followFromCheckpoint(recovery.meta, core) { return core }
      core.latestVersion.space.retireEverything()
    } catch {}
    return nil
  }

  private static func lock(
    _ file: any File, _ mode: LockMode, _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    // Some readers take the lock for a moment, to look whether there is a writer.
    for _ in 0..<20 {
      if try file.lock(mode) { return }
      // Readers leave no note: one that is there is of a writer that died.
      guard mode == .exclusive, try file.lock(.shared) else {
        throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
      }
      Posix.pause(milliseconds: 5)
    }
    throw .locked(.readers)
  }
}
