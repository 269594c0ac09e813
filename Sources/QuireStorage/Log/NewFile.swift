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

  /// What is between a name and a UUID in the name of a file that is to have the former.
  static let infix = "-new-"

  /// - Throws: ``StorageError/noFolder(path:)`` where a file cannot be because its folder is not
  ///   there; an error of the disk.
  init(for target: String, in fileSystem: any FileSystem) throws(StorageError) {
    self.target = target
    self.fileSystem = fileSystem
    process = ProcessMark(fileSystem)
    // Before it is locked, somebody who looks for leftovers may remove it; a few times is bad luck.
    for _ in 0..<8 {
      let path = target + NewFile.infix + StoreIdentity.random().description
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

  /// Gives the file its name, unless something has that name already.
  func publish() throws(StorageError) {
    try process.check()
    try fileSystem.publish(path, as: target)
  }

  /// Gives the file its name in place of a file that has it and is locked by us.
  ///
  /// - Throws: ``StorageError/notFound(path:)`` or ``StorageError/alreadyExists(path:)`` when that
  ///   file has been moved away meanwhile, and nothing or something else has the name: this is
  ///   asked last of all, as no system can do both in one step.
  func replace(_ old: any File) throws(StorageError) {
    try process.check()
    try old.checkName(target, in: fileSystem)
    try fileSystem.replace(target, by: path)
  }

  /// Removes the file, which has no other name yet. What cannot be removed stays until somebody
  /// looks for leftovers.
  func discard() {
    guard process.isCurrent else { return }
    do throws(StorageError) { try fileSystem.remove(path) } catch {}
  }
}

extension File {
  /// - Throws: ``StorageError/notFound(path:)`` when nothing has the name, and
  ///   ``StorageError/alreadyExists(path:)`` when another file has it.
  func checkName(_ path: String, in fileSystem: any FileSystem) throws(StorageError) {
    guard let found = try fileSystem.identifier(of: path) else { throw .notFound(path: path) }
    guard found == identifier else { throw .alreadyExists(path: path) }
  }
}
