import QuireStorage
import Synchronization

/// A disk as another process has it: the same files, of which this process has other numbers, so
/// that it does not share what it has open of them. The process can die.
package final class OtherProcess: FileSystem {
  private let disk: any FileSystem
  private let number: UInt64
  // In a struct: a mutex of a function wraps it once more each time that it is read.
  private struct Hooks {
    var read: (@Sendable () -> Void)?
    var change: (@Sendable () -> Void)?
  }
  private let hooks = Mutex(Hooks())
  private let reads = Atomic(0)
  private let changes = Atomic(0)
  /// The number of the change in whose middle the process dies.
  private let end = Atomic(Int.max)

  /// - Parameter number: tells several other processes from each other.
  package init(_ disk: any FileSystem, number: UInt64 = 0) {
    self.disk = disk
    self.number = number
  }

  /// Calls `body` before each read that this process makes; the disk is free to be used by it.
  package func beforeEachRead(_ body: (@Sendable () -> Void)?) { hooks.withLock { $0.read = body } }

  /// Calls `body` before each change that this process makes to the disk, which is free to be used.
  package func beforeEachChange(_ body: (@Sendable () -> Void)?) {
    hooks.withLock { $0.change = body }
  }

  /// The number of reads so far.
  package var readCount: Int { reads.load(ordering: .relaxed) }

  /// Lets the process die in the middle of the next change, or after some more.
  package func die(after count: Int) {
    end.store(changes.load(ordering: .relaxed) + count + 1, ordering: .relaxed)
  }

  package var isDead: Bool {
    changes.load(ordering: .relaxed) >= end.load(ordering: .relaxed)
  }

  fileprivate func noteRead(_ path: String) throws(StorageError) {
    try checkAlive(path)
    reads.add(1, ordering: .relaxed)
    hooks.withLock { $0 }.read?()
  }

  private func checkAlive(_ path: String) throws(StorageError) {
    if isDead { throw OtherProcess.death(path) }
  }

  fileprivate static func death(_ path: String) -> StorageError {
    .io(operation: "use", path: path, code: 0, message: "the process is dead")
  }

  /// Makes a change.
  ///
  /// - Parameter half: what is done of it when the process dies in its middle.
  fileprivate func change(
    _ path: String, half: () throws(StorageError) -> Void = {},
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    try checkAlive(path)
    hooks.withLock { $0 }.change?()
    changes.add(1, ordering: .relaxed)
    guard !isDead else {
      try half()
      throw OtherProcess.death(path)
    }
    try body()
  }

  private func other(_ identifier: FileIdentifier) -> FileIdentifier {
    FileIdentifier(volume: ~identifier.volume ^ (number << 40), number: identifier.number)
  }

  package func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    if mode == .create { try change(path) {} } else { try checkAlive(path) }
    let file = try disk.open(path, mode)
    return OtherFile(file, other(file.identifier), path, self)
  }

  package func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try change(path) { () throws(StorageError) in try disk.publish(temporaryPath, as: path) }
  }

  package func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try change(path) { () throws(StorageError) in try disk.replace(path, by: temporaryPath) }
  }

  package func remove(_ path: String) throws(StorageError) {
    try change(path) { () throws(StorageError) in try disk.remove(path) }
  }

  package func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try checkAlive(path)
    return try disk.identifier(of: path).map(other)
  }

  package func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    try change(path) { () throws(StorageError) in try disk.syncFolder(of: path, for: reason) }
  }

  package func networkType(of path: String) -> String? { disk.networkType(of: path) }

  package func currentOwner() -> LockOwner {
    var owner = disk.currentOwner()
    owner.processName += " \(number)"
    return owner
  }

  package func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try checkAlive(path)
    return try disk.paths(beginningWith: path)
  }
}

private final class OtherFile: File {
  private let file: any File
  private let path: String
  private let process: OtherProcess
  let identifier: FileIdentifier

  init(
    _ file: any File, _ identifier: FileIdentifier, _ path: String, _ process: OtherProcess
  ) {
    self.file = file
    self.identifier = identifier
    self.path = path
    self.process = process
  }

  var nameCount: Int { file.nameCount }
  func currentNameCount() throws(StorageError) -> Int { try file.currentNameCount() }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    try process.noteRead(path)
    return try file.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try process.change(path) { () throws(StorageError) in
      let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
      try file.write(half, at: offset)
    } _: { () throws(StorageError) in
      try file.write(bytes, at: offset)
    }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try process.change(path) { () throws(StorageError) in try file.truncate(to: byteCount) }
  }

  func reserve(to byteCount: Int) throws(StorageError) -> Bool { try file.reserve(to: byteCount) }

  func sync(for reason: SyncReason) throws(StorageError) {
    try process.change(path) { () throws(StorageError) in try file.sync(for: reason) }
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool {
    if process.isDead { throw OtherProcess.death(path) }
    return try file.lock(mode)
  }

  func unlock() { file.unlock() }
  func hasWriter() throws(StorageError) -> Bool? { try file.hasWriter() }
  func wait(_ waits: Bool) { file.wait(waits) }
  func hasWaiter() throws(StorageError) -> Bool { try file.hasWaiter() }
}
