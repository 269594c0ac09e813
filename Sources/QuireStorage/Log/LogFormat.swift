/// What the log's writer and its reader agree on (`docs/file-format.md`). On disk: never changed
/// within a format version.
enum LogFormat {
  /// `\x89 Q L o g CR LF \x1A`: damaged by every transfer that takes the file for text.
  static let fileMagic: UInt64 = 0x1A0A_0D67_6F4C_5189
  /// `Q c o m m i t 1`.
  static let recordMagic: UInt64 = 0x3174_696D_6D6F_6351

  /// The first record begins here: the header shares no disk block with what is overwritten.
  static let recordsStart = 4096
  /// The length of a new log; it doubles from here to `largestStep`, then grows by that.
  static let initialByteCount = 8192
  static let largestStep = 4 << 20

  enum Header {
    static let magic = 0
    static let major = 8
    static let minor = 10
    static let pageSize = 12
    static let identity = 16
    static let checksum = 32
    static let byteCount = 40
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
    static let imageCount = 48
    static let pageCount = 52
    static let headerByteCount = 56
    /// Before each page: its number and four zero bytes.
    static let imagePrefixByteCount = 8
    static let trailerByteCount = 8

    static func byteCount(imageCount: Int, pageSize: Int) -> Int {
      headerByteCount + imageCount * (imagePrefixByteCount + pageSize) + trailerByteCount
    }
  }
}
