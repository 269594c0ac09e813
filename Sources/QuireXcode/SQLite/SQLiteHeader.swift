/// The first hundred bytes of a SQLite file.
struct SQLiteHeader {
  enum TextEncoding: UInt32 { case utf8 = 1, utf16LittleEndian = 2, utf16BigEndian = 3 }

  static let byteCount = 100
  /// "SQLite format 3" and a zero.
  static let magic: [UInt8] = Array("SQLite format 3\0".utf8)

  let pageSize: Int
  /// The bytes of a page that hold content: extensions may reserve some at its end.
  let usableSize: Int
  let textEncoding: TextEncoding
  /// The number of pages, when the header's own count can be trusted.
  let pageCount: UInt32?

  init(_ bytes: [UInt8], file: String) throws(SQLiteError) {
    func fail(_ reason: SQLiteError.Reason) -> SQLiteError {
      SQLiteError(file: file, reason: reason)
    }
    guard bytes.count >= Self.byteCount else {
      throw fail(.notADatabase(bytes.isEmpty ? "it is empty" : "it has \(bytes.count) bytes"))
    }
    guard bytes.starts(with: Self.magic) else {
      throw fail(.notADatabase("it does not begin with “SQLite format 3”"))
    }
    guard let pageSize = Self.pageSize(bytes) else {
      throw fail(.damaged(page: 1, "the page size is not a power of two from 512 to 65536"))
    }
    // Byte 18 is the version that a writer must know; byte 19 is that for readers.
    guard bytes[19] == 1 || bytes[19] == 2 else {
      throw fail(.unsupported("it asks for file format \(bytes[19]), and 1 and 2 are known"))
    }
    usableSize = pageSize - Int(bytes[20])
    guard usableSize >= 480 else {
      throw fail(.damaged(page: 1, "it reserves \(bytes[20]) bytes of each page of \(pageSize)"))
    }
    guard bytes[21] == 64, bytes[22] == 32, bytes[23] == 32 else {
      throw fail(.damaged(page: 1, "the payload fractions are not 64, 32 and 32"))
    }
    let schemaFormat = bytes.bigEndian32(at: 44)
    guard schemaFormat <= 4 else {
      throw fail(.unsupported("it asks for schema format \(schemaFormat), and 4 is the last known"))
    }
    // Zero is what a database without any table says.
    let encoding = bytes.bigEndian32(at: 56)
    guard let textEncoding = TextEncoding(rawValue: encoding == 0 ? 1 : encoding) else {
      throw fail(.damaged(page: 1, "there is no text encoding \(encoding)"))
    }
    self.pageSize = pageSize
    self.textEncoding = textEncoding
    // Old versions of SQLite do not keep the count. They do not keep the number that vouches for it
    // either, so it differs from the change counter.
    let count = bytes.bigEndian32(at: 28)
    pageCount = count > 0 && bytes.bigEndian32(at: 24) == bytes.bigEndian32(at: 92) ? count : nil
  }

  private static func pageSize(_ bytes: [UInt8]) -> Int? {
    let raw = Int(bytes[16]) << 8 | Int(bytes[17])
    let size = raw == 1 ? 65536 : raw
    return size >= 512 && size & (size - 1) == 0 ? size : nil
  }
}
