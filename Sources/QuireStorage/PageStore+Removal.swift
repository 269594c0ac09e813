extension PageStore {
  /// Removes a store's files, whole or not, sound or not; there being none is no error.
  ///
  /// - Throws: ``StorageError/locked(_:)`` when somebody has the store open, in this process or
  ///   another; an error of the disk.
  package static func remove(
    _ path: String, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    let path = fileSystem.destination(of: path)
    let file: any File
    do throws(StorageError) {
      file = try fileSystem.open(path, .write)
    } catch .notFound {
      // A crash may have kept the log of a store that was being made, and not the store.
      try removeCompanions(of: path, in: fileSystem)
      return
    }
    guard try file.lock(.exclusive) else {
      throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    // The store goes last: a log without its store would be nobody's.
    try removeCompanions(of: path, in: fileSystem)
    try fileSystem.remove(path)
  }

  private static func removeCompanions(
    of path: String, in fileSystem: any FileSystem
  ) throws(StorageError) {
    try fileSystem.remove(StoreFile.logPath(of: path))
    try fileSystem.remove(StoreFile.imagesPath(of: path))
    try fileSystem.remove(StoreFile.imagesPath(of: path) + "-new")
    try fileSystem.remove(StoreFile.newLogPath(of: path))
    try fileSystem.remove(StoreFile.ownerPath(of: path))
  }
}
