/// A stretch of a log in memory, moved along as it is read.
final class LogWindow {
  private let file: any File
  private let path: String
  private let fileByteCount: Int
  private var memory = PageMemory(byteCount: 0)
  private var start = 0
  private var count = 0

  private static let usualByteCount = 1 << 20

  init(_ file: any File, path: String, byteCount: Int) {
    self.file = file
    self.path = path
    fileByteCount = byteCount
  }

  /// The bytes, valid until the next call; `nil` beyond the end of the file.
  func bytes(at offset: Int, count wanted: Int) throws(StorageError) -> UnsafeRawPointer? {
    guard offset >= 0, offset <= fileByteCount, wanted <= fileByteCount - offset else { return nil }
    if offset < start || offset + wanted > start + count {
      let room = min(max(wanted, LogWindow.usualByteCount), fileByteCount - offset)
      if memory.byteCount < room { memory = PageMemory(byteCount: room) }
      start = offset
      count = 0
      try memory.withBytes { bytes throws(StorageError) in
        try file.readFully(
          at: offset, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<room]), path: path)
      }
      count = room
    }
    return UnsafeRawPointer(memory.base + (offset - start))
  }
}
