/// What processes that write in turn tell each other in the log's header. Nothing depends on it
/// after a power failure, as the first of them recovers the store.
struct LogTurn {
  /// Something in whose middle the store must be recovered if the process dies that has its turn.
  enum Work: Int, CaseIterable {
    case checkpoint, directPages

    fileprivate var offset: Int { LogFormat.Header.turn + 8 * rawValue }
  }

  /// Whose turn it is, or was last.
  var owner = LockOwner.unknown

  private static let byteCount = 128
  private static let replacedOffset = 16
  private static let checkOffset = 24
  private static let noteOffset = 32

  init(owner: LockOwner) { self.owner = owner }

  /// Whether a process was doing something when it was last looked at.
  static func isBusy(in log: any File) throws(StorageError) -> Bool {
    for work in Work.allCases where try log.word(at: work.offset) ?? 0 != 0 { return true }
    return false
  }

  /// Whether a recovery puts, or has put, a copy in the place of a log. Readers ask for this: what
  /// names the file has, they would have to ask together with its times, and the writer would wait
  /// for it (``Posix/byteCount(_:_:)``).
  static func isReplaced(_ log: any File) throws(StorageError) -> Bool {
    try log.word(at: LogFormat.Header.turn + replacedOffset) ?? 0 != 0
  }

  /// If that cannot be said, readers find the file without a name a little later.
  static func noteReplaced(_ log: any File) {
    do throws(StorageError) {
      try withUnsafeBytes(of: UInt64(1).littleEndian) { word throws(StorageError) in
        try log.write(word, at: LogFormat.Header.turn + replacedOffset)
      }
    } catch {}
  }

  static func note(_ work: Work, _ isBusy: Bool, in log: any File) throws(StorageError) {
    try withUnsafeBytes(of: UInt64(isBusy ? 1 : 0).littleEndian) { word throws(StorageError) in
      try log.write(word, at: work.offset)
    }
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
    let note = UnsafeRawBufferPointer(memory.bytes).dropFirst(LogTurn.noteOffset)
    let whole = UnsafeRawBufferPointer(rebasing: note)
    guard start.u64(at: LogTurn.checkOffset) == checksum.ofLog(whole, epoch: 0) else { return }
    owner = LockOwner(note: String(decoding: note.prefix { $0 != 0 }, as: UTF8.self))
  }

  /// Writes the owner alone.
  func write(to log: any File, _ checksum: Checksum) throws(StorageError) {
    let memory = PageMemory(byteCount: LogTurn.byteCount)
    encode(in: memory.base, checksum)
    defer { withExtendedLifetime(memory) {} }
    try log.write(
      UnsafeRawBufferPointer(rebasing: memory.bytes[LogTurn.checkOffset...]),
      at: LogFormat.Header.turn + LogTurn.checkOffset)
  }

  /// - Parameter start: ``byteCount`` bytes.
  func encode(in start: UnsafeMutableRawPointer, _ checksum: Checksum) {
    start.initializeMemory(as: UInt8.self, repeating: 0, count: LogTurn.byteCount)
    let room = LogTurn.byteCount - LogTurn.noteOffset
    for (index, byte) in owner.note.utf8.prefix(room - 1).enumerated() {
      start.storeBytes(of: byte, toByteOffset: LogTurn.noteOffset + index, as: UInt8.self)
    }
    let note = UnsafeRawBufferPointer(start: start + LogTurn.noteOffset, count: room)
    start.setU64(checksum.ofLog(note, epoch: 0), at: LogTurn.checkOffset)
  }
}
