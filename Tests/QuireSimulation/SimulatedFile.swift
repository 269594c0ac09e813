import QuireStorage

/// An open file of a simulated disk. Goes on working when its name goes or becomes another's.
final class SimulatedFile: File {
  let identifier: FileIdentifier
  private let disk: SimulatedDisk
  private let node: Int
  private let path: String

  init(_ disk: SimulatedDisk, node: Int, path: String, volume: UInt64) {
    self.disk = disk
    self.node = node
    self.path = path
    identifier = FileIdentifier(volume: volume, number: UInt64(node))
  }

  func byteCount() throws(StorageError) -> Int {
    try disk.query(path) { $0.contents[node].byteCount }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    let (content, isShort) = try disk.queryContent(path, node: node)
    let wanted = isShort ? buffer.count / 2 : buffer.count
    return content.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    try disk.write([UInt8](bytes), at: offset, node: node, path: path)
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try disk.perform(path) { (state, capacity) throws(StorageError) in
      guard state.byteCount - state.contents[node].byteCount + byteCount <= capacity else {
        throw .noSpaceLeft(path: path)
      }
      state.apply(.truncate(node: node, byteCount: byteCount))
    }
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    try disk.sync(node: node, path: path, for: reason)
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool { try disk.query(path) { _ in true } }
}
