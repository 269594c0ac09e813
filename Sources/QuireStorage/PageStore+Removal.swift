extension PageStore {
  /// Removes a store's files, complete or damaged; it is no error if there are none.
  ///
  /// - Parameters:
  ///   - identity: the identity of the store to remove; `nil` for any.
  ///   - followsLink: whether a symbolic link of that name is followed; if not, the link is
  ///     removed.
  /// - Throws: ``StorageError/locked(_:)`` if the store is open in this process or another;
  ///   ``StorageError/notFound(path:)`` or ``StorageError/alreadyExists(path:)`` if the file, or
  ///   another one of that name, is moved at the same moment; an error of the disk.
  package static func remove(
    _ path: String, of identity: StoreIdentity? = nil, followsLink: Bool = true,
    in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    let destination = fileSystem.destination(of: path)
    if !followsLink, !destination.utf8.elementsEqual(path.utf8) { try fileSystem.remove(path) }
    let path = followsLink ? destination : path
    let file: (any File)?
    do throws(StorageError) {
      file = try fileSystem.open(path, .write)
    } catch .notFound {
      // A crash may have kept the name of the log and lost that of the store. The next store of
      // that name would take the log for its own.
      file = nil
    }
    if let file, try !file.lock(.exclusive) {
      throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    defer { withExtendedLifetime(file) {} }
    if let identity, let file {
      let found = try IdentityPage.read(from: file, path: path).identity
      guard found == identity else { throw .alreadyExists(path: path) }
    }
    // The store's file last, so that no log remains without its store.
    for companion in StoreFile.companionPaths(of: path) {
      try checkName(path, of: file, fileSystem)
      try fileSystem.remove(companion)
    }
    Leftovers(fileSystem: fileSystem, path: path).remove(copiesOf: nil, beside: file)
    try checkName(path, of: file, fileSystem)
    if file != nil { try fileSystem.remove(path) }
  }

  /// Checks that the name is still that of the locked file, or still free.
  private static func checkName(
    _ path: String, of file: (any File)?, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    if let file { return try file.checkName(path, in: fileSystem) }
    guard try fileSystem.identifier(of: path) == nil else { throw .alreadyExists(path: path) }
  }

  /// Destroys a store: after a crash it exists completely, or not at all.
  ///
  /// A damaged store is removed as well. It is no error if there is none.
  ///
  /// - Parameter isForced: whether a file that is no store is removed as well.
  /// - Throws: ``StorageError/locked(_:)`` if the store is open in this process or another;
  ///   ``StorageError/notAStore(path:reason:)``; an error of the disk.
  package static func destroy(
    _ path: String, isForced: Bool, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    let path = fileSystem.destination(of: path)
    var isClosed = false
    do throws(StorageError) {
      try checkLock(path, fileSystem)
      // A store that a crash has left in two files is made one of one file first: that can go in
      // one step.
      var options = PageStoreOptions()
      options.createIfMissing = false
      if try fileSystem.identifier(of: StoreFile.logPath(of: path)) == nil {
        options.isReadOnly = true
      }
      try open(path, options: options, in: fileSystem).close()
      isClosed = true
    } catch .notFound {
      // There may be a log without its store all the same.
    } catch .notAStore(let path, let reason) {
      guard isForced else { throw .notAStore(path: path, reason: reason) }
    } catch .damaged, .logMissing, .imagesMissing, .logForeign, .logDamaged, .logCutShort,
      .unsupportedFormat, .unsupportedFeature, .noSpaceLeft
    {
      // It cannot be repaired, and need not be.
    } catch let error where error.isOfSyncWithoutSpace {
      // Nor need it be recovered, to make room.
    }
    // The log must not come back without its store.
    if isClosed { try fileSystem.makeNamesDurable(beside: path, for: .replacementFolder) }
    try remove(path, in: fileSystem)
    try fileSystem.confirmName(path, for: .replacementFolder)
  }

  /// Opening a store again that this process has open would be no error.
  private static func checkLock(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    let file = try fileSystem.open(path, .write)
    if try file.lock(.exclusive) { return }
    // Readers leave no note: one that is there is of a writer that died.
    if try file.lock(.shared) { throw .locked(.readers) }
    throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
  }
}
