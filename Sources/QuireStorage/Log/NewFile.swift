/// A file in the making, under a name of its own until it is whole: a new store, a copy, or what
/// takes a store's place.
///
/// It is locked from the beginning, so that it is not taken for what a process that died has left
/// (``Leftovers``); dropping it gives the lock back.
struct NewFile {
  /// The name of its own.
  let path: String
  let file: any File
  /// The name that it is to have.
  private let target: String
  private let fileSystem: any FileSystem
  private let process: ProcessMark

  /// The text between the final name and a UUID in the name of an unfinished file.
  static let infix = "-new-"
  /// The number of bytes that such a name has after the final one.
  static let suffixByteCount = infix.utf8.count + 36

  /// What the names of unfinished files begin with that are to become `path`.
  static func prefix(of path: String) -> String {
    CompanionName.stem(of: path, suffixByteCount: suffixByteCount) + infix
  }

  /// - Throws: ``StorageError/noFolder(path:)`` where a file cannot be because its folder is not
  ///   there; an error of the disk.
  init(for target: String, in fileSystem: any FileSystem) throws(StorageError) {
    self.target = target
    self.fileSystem = fileSystem
    process = ProcessMark(fileSystem)
    // Before it is locked, another process may remove it as a leftover; a few times is bad luck.
    for _ in 0..<8 {
      let path = CompanionName.path(
        of: target, NewFile.infix + StoreIdentity.random().description)
      let file: any File
      do throws(StorageError) {
        file = try fileSystem.open(path, .create)
      } catch .notFound {
        throw .noFolder(path: target)
      }
      guard try file.lock(.exclusive), try fileSystem.identifier(of: path) == file.identifier
      else { continue }
      self.path = path
      self.file = file
      return
    }
    throw .locked(.unknown)
  }

  /// Renames the file to its final name, unless the name is taken.
  func publish() throws(StorageError) {
    try process.check()
    try fileSystem.publish(path, as: target)
  }

  /// Renames the file to its final name, replacing a file that has it and is locked by this
  /// process.
  ///
  /// - Throws: ``StorageError/notFound(path:)`` or ``StorageError/alreadyExists(path:)`` if that
  ///   file was moved away in the meantime, and nothing or something else has the name. This is
  ///   checked last, as no system can check and replace in one step.
  func replace(_ old: any File) throws(StorageError) {
    try process.check()
    try old.checkName(target, in: fileSystem)
    try fileSystem.replace(target, by: path)
  }

  /// Removes the file, which has no other name yet. If that fails, it is removed later as a
  /// leftover.
  func discard() {
    guard process.isCurrent else { return }
    do throws(StorageError) { try fileSystem.remove(path) } catch {}
  }
}

extension File {
  /// Whether the file has no name, so that it ends when it is closed.
  ///
  /// - Parameter path: a name that it had: file systems which do not count names say 0 of all
  ///   files.
  func isNameless(path: String, in fileSystem: any FileSystem) throws(StorageError) -> Bool {
    guard try currentNameCount() == 0 else { return false }
    return try fileSystem.identifier(of: path) != identifier
  }

  /// - Throws: ``StorageError/notFound(path:)`` when nothing has the name, and
  ///   ``StorageError/alreadyExists(path:)`` when another file has it.
  func checkName(_ path: String, in fileSystem: any FileSystem) throws(StorageError) {
    guard let found = try fileSystem.identifier(of: path) else { throw .notFound(path: path) }
    guard found == identifier else { throw .alreadyExists(path: path) }
  }
}
