/// How a database is opened, beside what its mode says: as somebody who knows SQLite would, with
/// as much memory as our store beside it has.
struct SQLiteSettings {
  /// The pages that a connection keeps; `nil` for SQLite's default of 2 MB.
  var cacheByteCount: Int? = 64 << 20
  /// Whether other connections use the file. Our store is one process's, so that a file with one
  /// connection is opened in the same way: without shared memory, and locked once.
  var isShared = false

  /// The log's length at which a checkpoint is made: that of our stores.
  private static let checkpointByteCount = 64 << 20
  private static let pageByteCount = 4096

  /// A store of which nearly nothing is read: each further setting would only take time.
  static var opening: SQLiteSettings { SQLiteSettings(cacheByteCount: nil) }

  /// As much cache as our stores have where a million rows are to be resident.
  static var resident: SQLiteSettings { SQLiteSettings(cacheByteCount: 512 << 20) }

  /// The same, with 256 MiB of cache for the peer that is asked for as `tuned`.
  func tuned(_ isTuned: Bool) -> SQLiteSettings {
    var settings = self
    if isTuned { settings.cacheByteCount = 256 << 20 }
    return settings
  }

  /// The statements to run first. In memory there is nothing to set but where sorting is done.
  ///
  /// - Parameter isNew: whether the file is made now. It remembers its journal, so that asking
  ///   again would only cost time.
  func pragmas(_ mode: Mode, isNew: Bool) -> String {
    guard mode != .memory else {
      return cacheByteCount == nil ? "" : "PRAGMA temp_store = MEMORY"
    }
    var pragmas: [String] = []
    // First of all: what comes later opens the file.
    if !isShared { pragmas.append("locking_mode = EXCLUSIVE") }
    if isNew { pragmas.append("journal_mode = WAL") }
    pragmas.append("synchronous = \(SQLiteSettings.synchronous(mode))")
    if let cacheByteCount {
      // A terabyte: the whole file, or as much of it as the library was compiled for.
      pragmas += [
        "cache_size = -\(cacheByteCount >> 10)", "mmap_size = 1099511627776",
        "temp_store = MEMORY",
        "wal_autocheckpoint = \(SQLiteSettings.checkpointByteCount / SQLiteSettings.pageByteCount)",
      ]
    }
    return pragmas.map { "PRAGMA \($0);" }.joined()
  }

  private static func synchronous(_ mode: Mode) -> String {
    switch mode {
    case .full: "FULL"
    case .ordered: "NORMAL"
    case .none, .memory: "OFF"
    }
  }
}
