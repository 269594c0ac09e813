import CSQLite

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection of the peer, used as a C program would use it: prepared statements, values in
/// place.
final class SQLiteDatabase {
  let handle: OpaquePointer

  /// Opens a database that promises what `mode` says.
  ///
  /// Everything else is SQLite's default: 4 KiB pages, 2 MB of cache, a checkpoint each 1,000
  /// pages.
  ///
  /// - Parameter tuned: whether it gets 256 MiB of cache, 4 GiB of mapped memory (or as much as it
  ///   was compiled for), and a checkpoint each 64 MiB.
  init(_ path: String, _ mode: Mode, tuned: Bool = false) throws {
    var handle: OpaquePointer?
    let isNew = access(path, F_OK) != 0
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(mode == .memory ? ":memory:" : path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close(handle)
      throw BenchmarkError("SQLite cannot open \(path): \(code)")
    }
    self.handle = handle
    if mode != .memory {
      // The file remembers its journal, so that asking again would only cost the peer time.
      if isNew { try execute("PRAGMA journal_mode = WAL") }
      try execute("PRAGMA synchronous = \(SQLiteDatabase.synchronous(mode))")
    }
    if tuned {
      try execute(
        "PRAGMA cache_size = -262144; PRAGMA mmap_size = 4294967296;"
          + "PRAGMA wal_autocheckpoint = 16384")
    }
  }

  deinit { sqlite3_close_v2(handle) }

  /// How long a connection waits for another one's write transaction, in milliseconds.
  func waitForOthers(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  private static func synchronous(_ mode: Mode) -> String {
    switch mode {
    case .full: "FULL"
    case .ordered: "NORMAL"
    case .none, .memory: "OFF"
    }
  }

  /// Runs statements that need no values.
  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
  }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw error(sql)
    }
    return SQLiteStatement(statement, self)
  }

  /// Runs `body` in one transaction.
  func transaction(_ body: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    try body()
    try execute("COMMIT")
  }

  /// The one integer that a query answers with.
  func integer(_ sql: String) throws -> Int {
    let statement = try prepare(sql)
    guard try statement.step() else { throw BenchmarkError("no answer to \(sql)") }
    return statement.integer(0)
  }

  func error(_ what: String) -> BenchmarkError {
    BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(what)")
  }

  static var version: String { String(cString: sqlite3_libversion()) }
}

/// A prepared statement. Bound bytes are not copied: they stay with the caller until the step is
/// done.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let database: SQLiteDatabase

  init(_ handle: OpaquePointer, _ database: SQLiteDatabase) {
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Binding, from 1

  func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }
  func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }
  func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
  }
  func bind(_ index: Int32, text: UnsafeBufferPointer<UInt8>) {
    text.withMemoryRebound(to: CChar.self) {
      _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), nil)
    }
  }

  // MARK: Running

  /// - Returns: whether there is a row.
  @inline(__always)
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.error("a step")
    }
  }

  /// Runs a statement that answers nothing, and makes it ready for the next values.
  @inline(__always)
  func run() throws {
    _ = try step()
    reset()
  }

  func reset() { sqlite3_reset(handle) }

  // MARK: Reading, from 0

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// The bytes of a blob, valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// The bytes of a text, valid until the next step.
  func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(handle, column)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
