/// What a commit promises, and what the peer is told so that it promises the same.
enum Mode: String, CaseIterable, Sendable {
  /// A commit that returned is on disk. SQLite: WAL, `synchronous = FULL`.
  case full
  /// Commits are not synced, but a power failure leaves a whole older state. SQLite: WAL, `NORMAL`.
  case ordered
  /// Nothing is ever synced. SQLite: WAL, `OFF`.
  case none
  /// No file. SQLite: `:memory:`.
  case memory
}
