/// What the log's writer and its reader agree on (`docs/file-format.md`). On disk: never changed
/// within a format version.
enum LogFormat {
  /// `\x89 Q L o g CR LF \x1A`: damaged by every transfer that takes the file for text.
  static let fileMagic: UInt64 = 0x1A0A_0D67_6F4C_5189
  /// `Q c o m m i t 1`.
  static let recordMagic: UInt64 = 0x3174_696D_6D6F_6351

  /// The first record begins here: the header shares no disk block with what is overwritten.
  static let recordsStart = 4096
  /// The length of a new log; it doubles as it fills.
  static let initialByteCount = 8192

  enum Header {
    static let magic = 0
    static let major = 8
    static let minor = 10
    static let pageSize = 12
    static let identity = 16
    /// That of the meta pages which demand this log: another log of the same store is none of
    /// this time.
    static let epoch = 32
    static let checksum = 40
    static let byteCount = 48
  }

  enum Record {
    static let magic = 0
    static let epoch = 8
    static let commit = 16
    /// The checksum of the record before; of the first one, a number made of identity and epoch.
    static let previous = 24
    static let byteCount = 32
    /// The last commit known to be on disk when this record was written.
    static let durableThrough = 40
    static let pageEntryCount = 48
    static let pageCount = 52
    static let freePageCount = 56
    static let headerByteCount = 64
    static let trailerByteCount = 8
    /// Records begin at multiples of this, so that they can be looked for.
    static let alignment = 8
  }

  /// One page in a record: its number, flags, ranges; then the ranges; then their bytes.
  enum PageEntry {
    static let id = 0
    static let flags = 4
    static let rangeCount = 6
    /// The stamp of the page that the ranges apply to.
    static let base = 8
    static let headerByteCount = 12
    /// Flag: the ranges apply to a page of zeros, not to the page as it was.
    static let isWhole = 1
    static let rangeByteCount = 4
  }

  static func roundedUp(_ byteCount: Int) -> Int {
    (byteCount + Record.alignment - 1) & ~(Record.alignment - 1)
  }
}

extension MetaPage {
  /// What the page of a closed store says once a log was begun that goes on from there.
  func begun(_ checksum: Checksum) -> MetaPage {
    var begun = self
    begun.epoch += 1
    begun.logOffset = UInt64(LogFormat.recordsStart)
    begun.logChain = checksum.logChainStart(epoch: begun.epoch)
    begun.isClean = false
    return begun
  }
}
