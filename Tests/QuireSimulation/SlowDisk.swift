import QuireStorage
import Synchronization

/// A disk whose syncs take long, as measured by what others do meanwhile: a sync returns when so
/// many records have been written to a log since it was asked for, or when a moment has passed, as
/// the writers may be waiting for this very sync.
///
/// Real disks do so under load, and a network's always: dozens of commits pass while a checkpoint
/// waits for its pages.
package final class SlowDisk: FileSystem {
  private let disk: any FileSystem
  private let recordCount: Int
  private let patience: Duration
  private let isSlow: @Sendable (SyncReason) -> Bool
  private let written = Atomic(0)

  /// - Parameters:
  ///   - recordCount: the number of records after which a sync returns.
  ///   - patience: the time after which it returns all the same.
  ///   - isSlow: whether syncs for that purpose take long.
  package init(
    _ disk: any FileSystem, recordCount: Int, patience: Duration = .milliseconds(3),
    _ isSlow: @escaping @Sendable (SyncReason) -> Bool = { _ in true }
  ) {
    self.disk = disk
    self.recordCount = recordCount
    self.patience = patience
    self.isSlow = isSlow
  }

  fileprivate func noteWrite(to path: String) {
    if path.hasSuffix("-log") { written.add(1, ordering: .relaxed) }
  }

  fileprivate func delay(_ reason: SyncReason) {
    guard isSlow(reason) else { return }
    let start = written.load(ordering: .relaxed)
    let end = ContinuousClock.now + patience
    while ContinuousClock.now < end {
      if written.load(ordering: .relaxed) - start >= recordCount { return }
      Threads.pause()
    }
  }

  package func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    SlowFile(try disk.open(path, mode), path: path, self)
  }

  package func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try disk.publish(temporaryPath, as: path)
  }

  package func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try disk.replace(path, by: temporaryPath)
  }

  package func remove(_ path: String) throws(StorageError) { try disk.remove(path) }

  package func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    try disk.identifier(of: path)
  }

  package func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    delay(reason)
    try disk.syncFolder(of: path, for: reason)
  }

  package func currentOwner() -> LockOwner { disk.currentOwner() }

  package func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try disk.paths(beginningWith: path)
  }

  package func destination(of path: String) -> String { disk.destination(of: path) }

  package var forkCount: Int { disk.forkCount }
}

private final class SlowFile: File {
  private let file: any File
  private let path: String
  private let owner: SlowDisk

  init(_ file: any File, path: String, _ owner: SlowDisk) {
    self.file = file
    self.path = path
    self.owner = owner
  }

  var identifier: FileIdentifier { file.identifier }
  var nameCount: Int { file.nameCount }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    try file.read(at: offset, into: buffer)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try file.write(bytes, at: offset)
    owner.noteWrite(to: path)
  }

  func truncate(to byteCount: Int) throws(StorageError) { try file.truncate(to: byteCount) }
  func reserve(to byteCount: Int) throws(StorageError) -> Bool {
    try file.reserve(to: byteCount)
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    owner.delay(reason)
    try file.sync(for: reason)
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool { try file.lock(mode) }
  func unlock() { file.unlock() }
  func hasWriter() throws(StorageError) -> Bool? { try file.hasWriter() }
  func wait(_ waits: Bool) { file.wait(waits) }
  func hasWaiter() throws(StorageError) -> Bool { try file.hasWaiter() }
}
