import QuireStorage
import Synchronization

/// A disk as another process has it: the same files, of which this process has other numbers, so
/// that it does not share what it has open of them.
package final class OtherProcess: FileSystem {
  private let disk: any FileSystem
  // In a struct: a mutex of a function wraps it once more each time that it is read.
  private struct Hook {
    var body: (@Sendable () -> Void)?
  }
  private let hook = Mutex(Hook())
  private let reads = Atomic(0)

  package init(_ disk: any FileSystem) { self.disk = disk }

  /// Calls `body` before each read that this process makes; the disk is free to be used by it.
  package func beforeEachRead(_ body: (@Sendable () -> Void)?) { hook.withLock { $0.body = body } }

  /// The number of reads so far.
  package var readCount: Int { reads.load(ordering: .relaxed) }

  fileprivate func noteRead() {
    reads.add(1, ordering: .relaxed)
    hook.withLock { $0 }.body?()
  }

  fileprivate static func other(_ identifier: FileIdentifier) -> FileIdentifier {
    FileIdentifier(volume: ~identifier.volume, number: identifier.number)
  }

  package func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    OtherFile(try disk.open(path, mode), self)
  }

  package func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try disk.publish(temporaryPath, as: path)
  }

  package func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try disk.replace(path, by: temporaryPath)
  }

  package func remove(_ path: String) throws(StorageError) { try disk.remove(path) }

  package func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try disk.identifier(of: path).map(OtherProcess.other)
  }

  package func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    try disk.syncFolder(of: path, for: reason)
  }

  package func currentOwner() -> LockOwner { disk.currentOwner() }

  package func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try disk.paths(beginningWith: path)
  }
}

private final class OtherFile: File {
  private let file: any File
  private let process: OtherProcess

  init(_ file: any File, _ process: OtherProcess) {
    self.file = file
    self.process = process
  }

  var identifier: FileIdentifier { OtherProcess.other(file.identifier) }
  var nameCount: Int { file.nameCount }
  func currentNameCount() throws(StorageError) -> Int { try file.currentNameCount() }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    process.noteRead()
    return try file.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(StorageError) { try file.truncate(to: byteCount) }
  func reserve(to byteCount: Int) throws(StorageError) -> Bool { try file.reserve(to: byteCount) }
  func sync(for reason: SyncReason) throws(StorageError) { try file.sync(for: reason) }
  func lock(_ mode: LockMode) throws(StorageError) -> Bool { try file.lock(mode) }
  func unlock() { file.unlock() }
  func hasWriter() throws(StorageError) -> Bool? { try file.hasWriter() }
}
