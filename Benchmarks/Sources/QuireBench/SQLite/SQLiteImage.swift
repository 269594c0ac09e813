import CSQLite

/// The bytes of a database, to begin others with.
final class SQLiteImage {
  private let bytes: UnsafeMutablePointer<UInt8>
  private let byteCount: Int64

  /// Keeps what some statements make in an empty database, in pages of 1 KiB: a table without rows
  /// takes one.
  init(_ sql: String) throws {
    let database = try SQLiteDatabase("", .memory)
    try database.execute("PRAGMA page_size = 1024")
    try database.transaction { try database.execute(sql) }
    var byteCount: Int64 = 0
    guard let bytes = sqlite3_serialize(database.handle, "main", &byteCount, 0) else {
      throw BenchmarkError("SQLite: no memory for an image")
    }
    self.bytes = bytes
    self.byteCount = byteCount
  }

  deinit { sqlite3_free(bytes) }

  /// Makes an empty database in memory a copy of it, which grows as it needs.
  func copy(into database: SQLiteDatabase) throws {
    guard let copy = sqlite3_malloc64(UInt64(byteCount)) else {
      throw BenchmarkError("SQLite: no memory for a copy")
    }
    copy.copyMemory(from: bytes, byteCount: Int(byteCount))
    // The connection frees it.
    let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
    let code = sqlite3_deserialize(
      database.handle, "main", copy.assumingMemoryBound(to: UInt8.self), byteCount, byteCount,
      flags)
    guard code == SQLITE_OK else { throw database.error("sqlite3_deserialize") }
  }
}
