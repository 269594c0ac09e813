import CSQLite

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection of the peer, used as a C program would use it that knows SQLite: prepared
/// statements, values in place, transactions around what belongs together.
final class SQLiteDatabase {
  let handle: OpaquePointer
  // Prepared at their first use. Plain handles: a statement keeps its connection, which would then
  // keep itself.
  private var transactionStatements: [TransactionSQL: OpaquePointer] = [:]

  /// Opens a database that promises what `mode` says.
  init(_ path: String, _ mode: Mode, _ settings: SQLiteSettings = SQLiteSettings()) throws {
    // Built with SQLITE_OMIT_AUTOINIT it does not do so by itself; a second call does nothing.
    sqlite3_initialize()
    var handle: OpaquePointer?
    let isNew = access(path, F_OK) != 0
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(mode == .memory ? ":memory:" : path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close(handle)
      throw BenchmarkError("SQLite cannot open \(path): \(code)")
    }
    self.handle = handle
    // For a write transaction of another connection, in milliseconds, and for the first and the
    // last one, which have the database to themselves for a moment.
    sqlite3_busy_timeout(handle, 60_000)
    try execute(settings.pragmas(mode, isNew: isNew))
  }

  deinit {
    for statement in transactionStatements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Runs statements that need no values.
  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
  }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    SQLiteStatement(try prepareHandle(sql), self)
  }

  private func prepareHandle(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    // Statements are kept, which is what the flag is for.
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement
    else { throw error(sql) }
    return statement
  }

  /// Runs `body` in one transaction that writes.
  @inline(__always)
  func transaction(_ body: () throws -> Void) throws {
    try run(.write)
    try body()
    try run(.commit)
  }

  /// Runs `body` in one transaction that reads: one snapshot, and no lock for each statement.
  @inline(__always)
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try run(.read)
    let result = try body()
    try run(.commit)
    return result
  }

  private enum TransactionSQL: String {
    case read = "BEGIN"
    case write = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
  }

  private func run(_ sql: TransactionSQL) throws {
    var statement = transactionStatements[sql]
    if statement == nil {
      statement = try prepareHandle(sql.rawValue)
      transactionStatements[sql] = statement
    }
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw error(sql.rawValue) }
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

  /// How many rows the last statement changed.
  var changeCount: Int { Int(sqlite3_changes64(handle)) }

  static var version: String { String(cString: sqlite3_libversion()) }

  /// What it was compiled with, without the options that every build has.
  static var compileOptions: String {
    let usual = ["DEFAULT_", "MAX_", "MALLOC_SOFT_LIMIT", "SYSTEM_MALLOC", "ATOMIC_INTRINSICS"]
    var options: [String] = []
    while let text = sqlite3_compileoption_get(Int32(options.count)) {
      options.append(String(cString: text))
    }
    return options.filter { option in !usual.contains { option.hasPrefix($0) } }
      .joined(separator: " ")
  }
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
