/// What processes that write in turn tell each other in the log's header. Nothing depends on it
/// after a power failure, as the first of them recovers the store.
struct LogTurn: Equatable {
  /// Whether who has its turn is doing something after whose middle the store must be recovered: a
  /// checkpoint, or pages around the log.
  var isBusy = false
  /// Whose turn it is, or was last.
  var owner = LockOwner.unknown

  private static let byteCount = 128
  private static let busyWord = 0
  private static let checkOffset = 8
  private static let noteOffset = 16

  init(owner: LockOwner) { self.owner = owner }

  /// Whether that is so in a log.
  static func isBusy(in log: any File) throws(StorageError) -> Bool {
    try log.word(at: LogFormat.Header.turn + busyWord) ?? 0 != 0
  }

  /// Reads what a log says; of one that is shorter, nothing.
  init(from log: any File, _ checksum: Checksum) throws(StorageError) {
    let memory = PageMemory(byteCount: LogTurn.byteCount)
    memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: memory.byteCount)
    let count = try memory.withBytes { bytes throws(StorageError) in
      try log.read(at: LogFormat.Header.turn, into: bytes)
    }
    defer { withExtendedLifetime(memory) {} }
    guard count == memory.byteCount else { return }
    let start = UnsafeRawPointer(memory.base)
    isBusy = start.u64(at: LogTurn.busyWord) != 0
    let note = UnsafeRawBufferPointer(memory.bytes).dropFirst(LogTurn.noteOffset)
    let whole = UnsafeRawBufferPointer(rebasing: note)
    guard start.u64(at: LogTurn.checkOffset) == checksum.ofLog(whole, epoch: 0) else { return }
    owner = LockOwner(note: String(decoding: note.prefix { $0 != 0 }, as: UTF8.self))
  }

  func write(to log: any File, _ checksum: Checksum) throws(StorageError) {
    let memory = PageMemory(byteCount: LogTurn.byteCount)
    encode(in: memory.base, checksum)
    try log.write(memory, at: LogFormat.Header.turn)
  }

  /// - Parameter start: ``byteCount`` bytes.
  func encode(in start: UnsafeMutableRawPointer, _ checksum: Checksum) {
    start.initializeMemory(as: UInt8.self, repeating: 0, count: LogTurn.byteCount)
    start.setU64(isBusy ? 1 : 0, at: LogTurn.busyWord)
    let room = LogTurn.byteCount - LogTurn.noteOffset
    for (index, byte) in owner.note.utf8.prefix(room - 1).enumerated() {
      start.storeBytes(of: byte, toByteOffset: LogTurn.noteOffset + index, as: UInt8.self)
    }
    let note = UnsafeRawBufferPointer(start: start + LogTurn.noteOffset, count: room)
    start.setU64(checksum.ofLog(note, epoch: 0), at: LogTurn.checkOffset)
  }
}
