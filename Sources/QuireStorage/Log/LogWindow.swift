/// A stretch of a log in memory, moved along as it is read.
final class LogWindow {
  private let file: any File
  private let path: String
  private let fileByteCount: Int
  private var memory = PageMemory(byteCount: 0)
  private var start = 0
  private var count = 0

  /// How much is read at once: twice as much each time, up to the limit.
  private var step: Int
  private static let largestStep = 1 << 20
  /// For a look elsewhere.
  private let aside = PageMemory(byteCount: LogFormat.Record.headerByteCount)

  /// - Parameter step: how much to begin with, where little may be wanted.
  init(_ file: any File, path: String, byteCount: Int, step: Int = largestStep) {
    self.file = file
    self.path = path
    self.step = step
    fileByteCount = byteCount
  }

  /// The bytes, valid until the next call; `nil` beyond the end of the file.
  func bytes(at offset: Int, count wanted: Int) throws(StorageError) -> UnsafeRawPointer? {
    guard offset >= 0, offset <= fileByteCount, wanted <= fileByteCount - offset else { return nil }
    if offset < start || offset + wanted > start + count {
      let room = min(max(wanted, step), fileByteCount - offset)
      step = min(2 * step, LogWindow.largestStep)
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

  /// The bytes of a record's header, valid until the next call; what was read of the log stays.
  func header(at offset: Int) throws(StorageError) -> UnsafeRawPointer? {
    guard offset >= 0, aside.byteCount <= fileByteCount - offset else { return nil }
    if offset >= start, offset + aside.byteCount <= start + count {
      return UnsafeRawPointer(memory.base + (offset - start))
    }
    try aside.withBytes { bytes throws(StorageError) in
      try file.readFully(at: offset, into: bytes, path: path)
    }
    return UnsafeRawPointer(aside.base)
  }
}
