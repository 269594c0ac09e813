import QuireStorage

/// The members of an ordered relationship as a store has them.
struct StoredOrder {
  var members: [Reference]
  /// The positions of their links, and the commit that has these; `nil` for what a parent context
  /// has, or a store of another make.
  var links: (positions: [UInt64], commit: CommitNumber)?
}
