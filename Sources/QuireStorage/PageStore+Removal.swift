extension PageStore {
  /// Removes a store's files, whole or not, sound or not; there being none is no error.
  ///
  /// - Throws: ``StorageError/locked(_:)`` when somebody has the store open, in this process or
  ///   another; an error of the disk.
  package static func remove(
    _ path: String, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    let path = fileSystem.destination(of: path)
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
    // The store goes last: a log without its store would be nobody's.
    try fileSystem.remove(StoreFile.logPath(of: path))
    try fileSystem.remove(StoreFile.imagesPath(of: path))
    try fileSystem.remove(StoreFile.imagesPath(of: path) + "-new")
    try fileSystem.remove(StoreFile.newLogPath(of: path))
    try fileSystem.remove(StoreFile.ownerPath(of: path))
    try fileSystem.remove(path)
  }
}
