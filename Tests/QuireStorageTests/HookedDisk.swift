import QuireSimulation
import QuireStorage
import Synchronization

/// A simulated disk that lets a test act right before a sync, or when a file got its name: at the
/// one moment that matters, on the thread that does so, with no need of luck.
final class HookedDisk: FileSystem {
  typealias Hook = @Sendable () -> Void

  let disk: SimulatedDisk
  private let hooks = Mutex<[SyncReason: Hook]>([:])

  init(_ disk: SimulatedDisk = SimulatedDisk()) { self.disk = disk }

  /// Calls `hook` before the next sync of that kind, once. The disk is free to be used by it.
  func before(_ reason: SyncReason, _ hook: @escaping Hook) {
    hooks.withLock { $0[reason] = hook }
  }

  /// Calls `hook` when the next file got its name, once.
  func afterPublishing(_ hook: @escaping Hook) { publishingHook.withLock { $0 = hook } }
  private let publishingHook = Mutex<Hook?>(nil)

  /// Calls `hook` before the read with that number from now on, once.
  func beforeRead(_ number: Int, _ hook: @escaping Hook) {
    readHook.withLock { $0 = (number, hook) }
  }
  private let readHook = Mutex<(remaining: Int, hook: Hook)?>(nil)

  /// Lets long reads be made in pieces of so many bytes, each of which counts as one.
  func readInPieces(of byteCount: Int) { piece.withLock { $0 = byteCount } }
  private let piece = Mutex(Int.max)
  fileprivate var pieceByteCount: Int { piece.withLock { $0 } }

  /// Calls `hook` before each read of a log, or piece of one, with its offset, but not for reads
  /// that it makes itself.
  func beforeEachLogRead(_ hook: (@Sendable (Int) -> Void)?) { logReadHook.withLock { $0 = hook } }
  private let logReadHook = Mutex<(@Sendable (Int) -> Void)?>(nil)
  fileprivate func noteLogRead(at offset: Int) {
    let hook = logReadHook.withLock { current in
      defer { current = nil }
      return current
    }
    hook?(offset)
    logReadHook.withLock { $0 = hook }
  }

  fileprivate func noteRead() {
    readHook.withLock { pending -> Hook? in
      pending?.remaining -= 1
      guard let next = pending, next.remaining == 0 else { return nil }
      pending = nil
      return next.hook
    }?()
  }

  /// Lets the next write to the log write everything and say that the disk is full all the same, or
  /// those with such numbers from the next one on.
  func refuseLogWrites(_ numbers: Set<Int> = [0]) { refusals.withLock { $0 = numbers } }

  /// The numbers of writes to a log, from the next one on, that are refused.
  private let refusals = Mutex<Set<Int>>([])

  fileprivate func refusesLogWrite() -> Bool {
    refusals.withLock { numbers in
      let isRefused = numbers.contains(0)
      numbers = Set(numbers.lazy.filter { $0 > 0 }.map { $0 - 1 })
      return isRefused
    }
  }

  /// Whether a hook still waits for its sync.
  var isWaiting: Bool { hooks.withLock { !$0.isEmpty } }

  fileprivate func run(_ reason: SyncReason) {
    hooks.withLock { $0.removeValue(forKey: reason) }?()
  }

  func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    HookedFile(try disk.open(path, mode), path: path, self)
  }

  func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try disk.publish(temporaryPath, as: path)
    publishingHook.withLock { hook in
      defer { hook = nil }
      return hook
    }?()
  }

  func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try disk.replace(path, by: temporaryPath)
  }

  func remove(_ path: String) throws(StorageError) { try disk.remove(path) }

  func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try disk.identifier(of: path)
  }

  func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    run(reason)
    try disk.syncFolder(of: path, for: reason)
  }

  func currentOwner() -> LockOwner { disk.currentOwner() }

  func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try disk.paths(beginningWith: path)
  }

  var forkCount: Int { disk.forkCount }
}

private final class HookedFile: File {
  private let file: any File
  private let path: String
  private let owner: HookedDisk

  init(_ file: any File, path: String, _ owner: HookedDisk) {
    self.file = file
    self.path = path
    self.owner = owner
  }

  var identifier: FileIdentifier { file.identifier }
  var nameCount: Int { file.nameCount }
  func currentNameCount() throws(StorageError) -> Int { try file.currentNameCount() }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    let piece = owner.pieceByteCount
    var done = 0
    repeat {
      owner.noteRead()
      if path.hasSuffix("-log") { owner.noteLogRead(at: offset + done) }
      let end = done + min(piece, buffer.count - done)
      let count = try file.read(
        at: offset + done, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<end]))
      done += count
      if count < piece { break }
    } while done < buffer.count
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try file.write(bytes, at: offset)
    if path.hasSuffix("-log"), owner.refusesLogWrite() { throw .noSpaceLeft(path: path) }
  }

  func truncate(to byteCount: Int) throws(StorageError) { try file.truncate(to: byteCount) }
  func reserve(to byteCount: Int) throws(StorageError) -> Bool {
    try file.reserve(to: byteCount)
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    owner.run(reason)
    try file.sync(for: reason)
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool { try file.lock(mode) }
  func unlock() { file.unlock() }
  func hasWriter() throws(StorageError) -> Bool? { try file.hasWriter() }
  func wait(_ waits: Bool) { file.wait(waits) }
  func hasWaiter() throws(StorageError) -> Bool { try file.hasWaiter() }
}
