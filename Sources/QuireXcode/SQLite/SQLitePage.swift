/// One page of a SQLite file, or the payload gathered from several, read with bounds checks.
///
/// SQLite writes all its numbers big-endian. Every read is checked, since offsets come from the
/// file, which may be damaged.
struct SQLitePage {
  let file: String
  let number: UInt32
  let bytes: [UInt8]

  func byte(at offset: Int) throws(SQLiteError) -> UInt8 {
    guard bytes.indices.contains(offset) else { throw outside(offset) }
    return bytes[offset]
  }

  func integer16(at offset: Int) throws(SQLiteError) -> Int {
    guard offset >= 0, offset <= bytes.count - 2 else { throw outside(offset) }
    return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
  }

  func integer32(at offset: Int) throws(SQLiteError) -> UInt32 {
    guard offset >= 0, offset <= bytes.count - 4 else { throw outside(offset) }
    return bytes.bigEndian32(at: offset)
  }

  /// A SQLite varint: up to nine bytes, seven bits each, the ninth with all eight.
  func varint(at offset: inout Int) throws(SQLiteError) -> Int64 {
    guard let value = bytes.sqliteVarint(at: &offset, limit: bytes.count) else {
      throw outside(offset)
    }
    return value
  }

  func damaged(_ reason: String) -> SQLiteError {
    SQLiteError(file: file, reason: .damaged(page: number, reason))
  }

  private func outside(_ offset: Int) -> SQLiteError {
    damaged("it refers to byte \(offset) of \(bytes.count)")
  }
}

extension [UInt8] {
  /// - Precondition: four bytes are there.
  func bigEndian32(at offset: Int) -> UInt32 {
    UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
      | UInt32(self[offset + 3])
  }

  /// The varint at `offset`, which moves past it; `nil` if it does not end before `limit`.
  func sqliteVarint(at offset: inout Int, limit: Int) -> Int64? {
    guard offset >= 0, limit <= count else { return nil }
    var value: UInt64 = 0
    for position in 0..<9 {
      guard offset < limit else { return nil }
      let byte = self[offset]
      offset += 1
      if position == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { break }
    }
    return Int64(bitPattern: value)
  }
}
