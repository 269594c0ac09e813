/// What a commit promises, and what the peers are told so that they promise the same.
enum Mode: String, CaseIterable, Codable, Sendable {
  /// A commit that returned is on disk. SQLite: WAL, `synchronous = FULL`. LMDB: its default.
  case full
  /// Commits are not synced, but a power failure leaves a whole older state. SQLite: WAL, `NORMAL`.
  /// LMDB: `MDB_NOSYNC` and `MDB_WRITEMAP`, which promise less.
  case ordered
  /// Nothing is ever synced. SQLite: WAL, `OFF`. LMDB: as in ``ordered``.
  case none
  /// No file. SQLite: `:memory:`. LMDB has no such mode.
  case memory
}
