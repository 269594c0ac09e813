import QuireSimulation
import QuireStorage
import Synchronization

/// Files in memory that count what is read of them, and refuse to become large: nothing that a
/// small file says of itself may cost more than so much.
final class BoundedDisk: FileSystem {
  private let files = MemoryFileSystem()
  /// The bytes that were read of all files.
  let readByteCount = Atomic(0)
  /// The most that may be read, and the longest that a file may become.
  let readLimit: Int
  let fileLimit: Int

  init(_ content: [String: [UInt8]], readLimit: Int, fileLimit: Int) {
    self.readLimit = readLimit
    self.fileLimit = fileLimit
    for (path, bytes) in content { files.setBytes(bytes, of: path) }
  }

  func bytes(of path: String) -> [UInt8]? { files.bytes(of: path) }

  var isExhausted: Bool { readByteCount.load(ordering: .relaxed) > readLimit }

  func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    BoundedFile(try files.open(path, mode), path: path, self)
  }
  func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try files.publish(temporaryPath, as: path)
  }
  func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try files.replace(path, by: temporaryPath)
  }
  func remove(_ path: String) throws(StorageError) { try files.remove(path) }
  func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try files.identifier(of: path)
  }
  func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {}
  func currentOwner() -> LockOwner { files.currentOwner() }
}

private final class BoundedFile: File {
  private let file: any File
  private let path: String
  private let disk: BoundedDisk

  init(_ file: any File, path: String, _ disk: BoundedDisk) {
    self.file = file
    self.path = path
    self.disk = disk
  }

  var identifier: FileIdentifier { file.identifier }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    // A read costs something, however little comes.
    disk.readByteCount.add(max(buffer.count, 64), ordering: .relaxed)
    guard !disk.isExhausted else { throw failure("read", "more was read than is allowed") }
    return try file.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    guard offset + bytes.count <= disk.fileLimit else { throw .noSpaceLeft(path: path) }
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    guard byteCount <= disk.fileLimit else { throw .noSpaceLeft(path: path) }
    try file.truncate(to: byteCount)
  }

  func sync(for reason: SyncReason) throws(StorageError) { try file.sync(for: reason) }
  func lock(_ mode: LockMode) throws(StorageError) -> Bool { try file.lock(mode) }
  func unlock() { file.unlock() }
  func hasWriter() throws(StorageError) -> Bool? { try file.hasWriter() }
  func wait(_ waits: Bool) { file.wait(waits) }
  func hasWaiter() throws(StorageError) -> Bool { try file.hasWaiter() }

  private func failure(_ operation: String, _ message: String) -> StorageError {
    .io(operation: operation, path: path, code: 0, message: message)
  }
}
