import Synchronization

/// The files of the operating system.
public final class DiskFileSystem: FileSystem {
  /// The files of this system. All values of the type are alike.
  public init() {}

  public func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    try DiskFile(path, mode)
  }

  public func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try Posix.publish(temporaryPath, as: path)
  }

  public func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try Posix.replace(path, by: temporaryPath)
  }

  public func remove(_ path: String) throws(StorageError) {
    try Posix.remove(path)
  }

  public func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try Posix.identifier(of: path)
  }

  public func isNamed(_ path: String) throws(StorageError) -> Bool { Posix.isNamed(path) }

  public var nameCheckInterval: Duration { .milliseconds(1) }

  public func destination(of path: String) -> String { Posix.destination(of: path) }

  public func networkType(of path: String) -> String? { NetworkFileSystem.type(of: path) }

  public func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    try Posix.syncFolder(of: path)
  }

  public func currentOwner() -> LockOwner { Posix.currentOwner() }

  public func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try Posix.paths(beginningWith: path)
  }
}

/// A file of the operating system, with a descriptor of its own. Of no use in a child made by
/// `fork`, where the descriptor was closed, and its number may be another file's.
private final class DiskFile: File {
  let identifier: FileIdentifier
  let nameCount: Int
  private let path: String
  private let descriptor: Int32
  private let forkCount = ForkCount.current
  private let isLocked = Atomic(false)

  init(_ path: String, _ mode: FileMode) throws(StorageError) {
    let descriptor = try OpenDescriptors.shared.add { () throws(StorageError) in
      try Posix.open(path, mode)
    }
    do throws(StorageError) {
      let status = try Posix.status(descriptor, path)
      guard status.isRegular else { throw .notAStore(path: path, reason: "it is not a file") }
      (identifier, nameCount) = (status.identifier, status.nameCount)
    } catch {
      OpenDescriptors.shared.close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    guard forkCount == ForkCount.current else { return }
    // A process that another thread is starting has a copy of the descriptor until its program
    // runs, and closing this one would leave the lock to it.
    unlock()
    OpenDescriptors.shared.close(descriptor)
  }

  /// The descriptor, in the process that opened the file.
  private func usable() throws(StorageError) -> Int32 {
    guard forkCount == ForkCount.current else { throw .forked }
    return descriptor
  }

  func currentNameCount() throws(StorageError) -> Int {
    try Posix.status(usable(), path).nameCount
  }

  func byteCount() throws(StorageError) -> Int { try Posix.byteCount(usable(), path) }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    try Posix.read(usable(), path, at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try Posix.write(usable(), path, bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try Posix.truncate(usable(), path, to: byteCount)
  }

  func reserve(to byteCount: Int) throws(StorageError) -> Bool {
    try Posix.reserve(usable(), path, to: byteCount)
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    try Posix.sync(usable(), path)
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool {
    guard try Posix.lock(usable(), path, mode) else { return false }
    isLocked.store(true, ordering: .releasing)
    return true
  }

  func unlock() {
    guard forkCount == ForkCount.current else { return }
    if isLocked.exchange(false, ordering: .acquiringAndReleasing) { Posix.unlock(descriptor) }
  }

  func hasWriter() throws(StorageError) -> Bool? { Posix.hasWriter(try usable()) }
  func hasWaiter() throws(StorageError) -> Bool { Posix.hasWaiter(try usable()) }

  func wait(_ waits: Bool) {
    if forkCount == ForkCount.current { Posix.wait(descriptor, waits) }
  }
}
