import CLMDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An LMDB file with its one unnamed table, used as a C program would use it.
///
/// Everything that is not said here is LMDB's default. In particular the system reads ahead.
final class LMDBEnvironment {
  fileprivate let handle: OpaquePointer
  private(set) var table: MDB_dbi = 0

  /// The map is address space, not memory: large enough for every N that a disk holds.
  private static let mapByteCount = 8 << 30

  /// Opens a file that promises what `mode` says, with byte strings or native integers for keys.
  convenience init(_ path: String, _ mode: Mode, _ keys: KeyKind) throws {
    let isNew = !FileManager.default.fileExists(atPath: path)
    try self.init(path, mode)
    // The unnamed table is always there; what its keys are is written once, when it is empty. An
    // opening for reading then needs no write transaction.
    let transaction = try LMDBTransaction(self, reading: !isNew)
    table = try transaction.openTable(keys == .integers ? UInt32(MDB_INTEGERKEY) : 0)
    try transaction.commit()
  }

  /// Opens a file that is there, and begins the transaction that is to read it.
  static func reading(_ path: String, _ mode: Mode) throws -> (LMDBTransaction, MDB_dbi) {
    let transaction = try LMDBEnvironment(path, mode).beginReading()
    return (transaction, try transaction.openTable(0))
  }

  private init(_ path: String, _ mode: Mode) throws {
    var handle: OpaquePointer?
    try LMDBEnvironment.check(mdb_env_create(&handle), "mdb_env_create")
    guard let handle else { throw BenchmarkError("LMDB: no environment") }
    self.handle = handle
    try LMDBEnvironment.check(
      mdb_env_set_mapsize(handle, LMDBEnvironment.mapByteCount), "mdb_env_set_mapsize")
    let flags = try LMDBEnvironment.flags(mode) | UInt32(MDB_NOSUBDIR)
    try LMDBEnvironment.check(mdb_env_open(handle, path, flags, 0o644), "mdb_env_open")
  }

  deinit { mdb_env_close(handle) }

  private static func flags(_ mode: Mode) throws -> UInt32 {
    switch mode {
    case .full: 0
    // What is not synced is written through the map: the faster way where all of it fits into the
    // memory, and no less safe as long as the program writes nowhere else.
    case .ordered, .none: UInt32(MDB_NOSYNC) | UInt32(MDB_WRITEMAP)
    case .memory: throw BenchmarkError("LMDB has no store in memory")
    }
  }

  func beginReading() throws -> LMDBTransaction { try LMDBTransaction(self, reading: true) }

  /// Runs `body` in one write transaction; waits while another thread has it.
  func write(_ body: (LMDBTransaction) throws -> Void) throws {
    let transaction = try LMDBTransaction(self, reading: false)
    try body(transaction)
    try transaction.commit()
  }

  static func check(_ code: Int32, _ what: String) throws {
    guard code != MDB_SUCCESS else { return }
    throw BenchmarkError("LMDB: \(String(cString: mdb_strerror(code))) in \(what)")
  }

  static var version: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }
}

/// A transaction; one that is dropped without commit is aborted.
final class LMDBTransaction {
  private var handle: OpaquePointer?
  /// LMDB leaves it to us that it is not closed before its transactions have ended.
  private let environment: LMDBEnvironment

  fileprivate init(_ environment: LMDBEnvironment, reading: Bool) throws {
    self.environment = environment
    let flags = reading ? UInt32(MDB_RDONLY) : 0
    try LMDBEnvironment.check(
      mdb_txn_begin(environment.handle, nil, flags, &handle), "mdb_txn_begin")
  }

  deinit { if let handle { mdb_txn_abort(handle) } }

  fileprivate func openTable(_ flags: UInt32) throws -> MDB_dbi {
    var table: MDB_dbi = 0
    try LMDBEnvironment.check(mdb_dbi_open(handle, nil, flags, &table), "mdb_dbi_open")
    return table
  }

  func commit() throws {
    let code = mdb_txn_commit(handle)
    handle = nil
    try LMDBEnvironment.check(code, "mdb_txn_commit")
  }

  /// Shows the newest commit, as a transaction begun now would, at less cost.
  func renew() throws {
    mdb_txn_reset(handle)
    try LMDBEnvironment.check(mdb_txn_renew(handle), "mdb_txn_renew")
  }

  @inline(__always)
  func put(
    _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer, in table: MDB_dbi
  ) throws {
    var (key, value) = (MDB_val(key), MDB_val(value))
    try LMDBEnvironment.check(mdb_put(handle, table, &key, &value, 0), "mdb_put")
  }

  /// - Returns: `nil` when the key is not there; else bytes valid until the transaction ends.
  @inline(__always)
  func value(
    for key: UnsafeRawBufferPointer, in table: MDB_dbi
  ) throws -> UnsafeRawBufferPointer? {
    var (key, value) = (MDB_val(key), MDB_val())
    let code = mdb_get(handle, table, &key, &value)
    if code == MDB_NOTFOUND { return nil }
    try LMDBEnvironment.check(code, "mdb_get")
    return value.bytes
  }

  func cursor(_ table: MDB_dbi) throws -> LMDBCursor {
    var cursor: OpaquePointer?
    try LMDBEnvironment.check(mdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
    guard let cursor else { throw BenchmarkError("LMDB: no cursor") }
    return LMDBCursor(cursor, self)
  }
}

/// A cursor. In a write transaction it must go before the commit.
final class LMDBCursor {
  private let handle: OpaquePointer
  private let transaction: LMDBTransaction
  private var key = MDB_val()
  private var value = MDB_val()

  fileprivate init(_ handle: OpaquePointer, _ transaction: LMDBTransaction) {
    self.handle = handle
    self.transaction = transaction
  }

  deinit { mdb_cursor_close(handle) }

  /// - Returns: the next entry, at first the first one, or `nil` after the last one.
  @inline(__always)
  func next() throws -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    let code = mdb_cursor_get(handle, &key, &value, MDB_NEXT)
    if code == MDB_NOTFOUND { return nil }
    try LMDBEnvironment.check(code, "mdb_cursor_get")
    return (key.bytes, value.bytes)
  }

  /// Puts an entry behind all others; its key has to be the greatest.
  @inline(__always)
  func append(_ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer) throws {
    self.key = MDB_val(key)
    self.value = MDB_val(value)
    try LMDBEnvironment.check(
      mdb_cursor_put(handle, &self.key, &self.value, UInt32(MDB_APPEND)), "mdb_cursor_put")
  }
}

extension MDB_val {
  @inline(__always)
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  fileprivate var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }
}
