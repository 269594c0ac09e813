import QuireStorage

/// An open file of a simulated disk. Goes on working when its name goes or becomes another's.
final class SimulatedFile: File {
  let identifier: FileIdentifier
  let nameCount: Int
  private let disk: SimulatedDisk
  private let node: Int
  private let path: String
  private let forkCount: Int

  init(_ disk: SimulatedDisk, node: Int, _ nameCount: Int, path: String, volume: UInt64) {
    self.nameCount = nameCount
    forkCount = disk.forkCount
    self.disk = disk
    self.node = node
    self.path = path
    identifier = FileIdentifier(volume: volume, number: UInt64(node))
  }

  deinit {
    unlock()
    wait(false)
  }

  /// A child of `fork` has its parent's files no more.
  private func checkProcess() throws(StorageError) {
    if forkCount != disk.forkCount { throw .forked }
  }

  func currentNameCount() throws(StorageError) -> Int {
    try checkProcess()
    return try disk.query(path) { disk in disk.names.values.count { $0 == node } }
  }

  func byteCount() throws(StorageError) -> Int {
    try checkProcess()
    return try disk.query(path) { $0.contents[node].byteCount }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    try checkProcess()
    let (content, isShort) = try disk.queryContent(path, node: node)
    let wanted = isShort ? buffer.count / 2 : buffer.count
    return content.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try checkProcess()
    try disk.write([UInt8](bytes), at: offset, node: node, path: path)
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try checkProcess()
    try disk.perform(path) { (state, capacity) throws(StorageError) in
      guard state.byteCount - state.room(of: node) + byteCount <= capacity else {
        throw .noSpaceLeft(path: path)
      }
      state.apply(.truncate(node: node, byteCount: byteCount))
    }
  }

  /// No operation, as nothing is written that a crash could lose.
  func reserve(to byteCount: Int) throws(StorageError) -> Bool {
    try checkProcess()
    guard disk.reservesRoom else { return false }
    guard disk.reserve(byteCount, for: node) else { throw .noSpaceLeft(path: path) }
    return true
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    try checkProcess()
    try disk.sync(node: node, path: path, for: reason)
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool {
    try checkProcess()
    return try disk.lock(mode, node: node, by: ObjectIdentifier(self), path: path)
  }

  func hasWriter() throws(StorageError) -> Bool? {
    try checkProcess()
    return try disk.hasWriter(node: node, besides: ObjectIdentifier(self), path: path)
  }

  func wait(_ waits: Bool) {
    if forkCount == disk.forkCount { disk.wait(waits, node: node, by: ObjectIdentifier(self)) }
  }

  func hasWaiter() throws(StorageError) -> Bool {
    disk.hasWaiter(node: node, besides: ObjectIdentifier(self))
  }

  func unlock() {
    if forkCount == disk.forkCount { disk.unlock(node: node, by: ObjectIdentifier(self)) }
  }
}
