/// The parts of the log's format that writer and reader share (`docs/file-format.md`). On disk:
/// never changed within a format version.
enum LogFormat {
  /// Since 1.1 the header has the minimum length of the log, the header of a record has a checksum
  /// of its own, and a record ends with a voucher; a reader of 1.0 ignores all three. Since 2.0 the
  /// header has flags, and a record a seal.
  static let version = FormatVersion(major: 2, minor: 0)
  /// The log of a store of format 1.
  static let oldestMajor: UInt16 = 1

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
    /// The length of the file, which is on disk before a meta page demands the log. Since 1.1.
    static let fileByteCount = 48
    /// Since 2.0.
    static let flags = 56
    static let wholeByteCount = 72
    /// Flag: each commit is synced, and its record is sealed then.
    static let isSealed: UInt64 = 1

    /// What processes that write in turn tell each other; see ``LogTurn``. No checksum of the
    /// header is of it.
    static let turn = 1024

    /// The offset of the checksum of all before it, in a log of that version.
    static func wholeChecksum(_ version: FormatVersion) -> Int {
      version.major == LogFormat.oldestMajor ? 56 : 64
    }
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
    /// The lower half of the checksum of all before it; zeros in a log of format 1.0. Without it, a
    /// search for records would have to read all bytes that each supposed header claims.
    static let headerCheck = 60
    static let headerByteCount = 64
    /// What follows the voucher: the checksum; and the *seal*, which is zero until the record is on
    /// disk and then the checksum once more. It lies where the next record begins, in a block that
    /// is written with it, so that it costs no time at the next sync.
    static let trailerByteCount = checksumByteCount + sealByteCount
    static let checksumByteCount = 8
    static let sealByteCount = 8
    /// The most that follows the page entries: padding, voucher, trailer.
    static let endByteCount = alignment + Voucher.byteCount + trailerByteCount

    static func trailerByteCount(_ version: FormatVersion) -> Int {
      version.major == LogFormat.oldestMajor ? checksumByteCount : trailerByteCount
    }
    /// Records begin at multiples of this, so that they can be looked for.
    static let alignment = 8
  }

  /// The claims of a record, repeated right before its checksum, so that they can be read when the
  /// beginning of the record cannot. Since 1.1.
  enum Voucher {
    static let magic = 0
    static let durableThrough = 8
    /// The length of the file as far as it was known to be on disk; 0 if that is not kept track of.
    static let fileByteCount = 16
    static let check = 24
    static let byteCount = 32
  }

  /// `Q d u r a b l e`.
  static let voucherMagic: UInt64 = 0x656C_6261_7275_6451

  static func roundedUp(_ byteCount: Int) -> Int {
    (byteCount + Record.alignment - 1) & ~(Record.alignment - 1)
  }
}

extension Checksum {
  /// The check of a record's header, which lies after it.
  func ofRecordHeader(_ start: UnsafeRawPointer, epoch: UInt64) -> UInt32 {
    let header = UnsafeRawBufferPointer(start: start, count: LogFormat.Record.headerCheck)
    return UInt32(truncatingIfNeeded: ofLog(header, epoch: epoch))
  }

  /// The check of a voucher.
  func ofVoucher(_ start: UnsafeRawPointer, epoch: UInt64) -> UInt64 {
    ofLog(UnsafeRawBufferPointer(start: start, count: LogFormat.Voucher.check), epoch: epoch)
  }
}

extension MetaPage {
  /// The meta page of a closed store after a log was begun that continues it.
  func begun(_ checksum: Checksum) -> MetaPage {
    var begun = self
    begun.epoch += 1
    begun.logOffset = UInt64(LogFormat.recordsStart)
    begun.logChain = checksum.logChainStart(epoch: begun.epoch)
    begun.isClean = false
    return begun
  }
}
