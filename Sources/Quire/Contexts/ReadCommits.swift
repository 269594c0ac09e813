import QuireStorage

/// Of which commits the rows are that a context has in memory: whether all of them are as they are
/// in the state that it reads.
///
/// An object keeps its row until it is refreshed, while the state moves on with every fetch. Then a
/// row may be older than the state; and newer, if the context has gone back to a query generation.
package struct ReadCommits {
  /// How many commits are remembered that others, which were not read, separate from the oldest.
  /// Beyond them, rows are taken for older than the state until all are read again.
  package static let limit = 1000

  /// The state that the context reads; `nil` before the first.
  private var state: CommitNumber?
  /// All rows are those of this commit or of a later one…
  private var oldest = CommitNumber(rawValue: 0)
  /// …and none is of a later one than this.
  private var newest = CommitNumber(rawValue: 0)
  /// Commits after the oldest whose rows are in memory as well.
  private var later: Set<CommitNumber> = []

  package init() {}

  /// Whether all rows are the state's.
  package var areOfOneState: Bool {
    guard let state else { return true }
    return oldest >= state && newest <= state
  }

  /// To be called when the context reads another state.
  ///
  /// - Parameter isFirst: whether no row is in memory yet, or all are read again.
  package mutating func move(to commit: CommitNumber, isFirst: Bool) {
    if isFirst || state == nil {
      (oldest, newest, later) = (commit, commit, [])
    } else if commit < oldest {
      (oldest, later) = (commit, [])
    }
    newest = max(newest, commit)
    state = commit
  }

  /// To be called when a row comes into memory that is of an older commit, and nobody knows which.
  package mutating func insertOlder() {
    (oldest, later) = (CommitNumber(rawValue: 0), [])
  }

  /// To be called when all rows that commits have changed are in memory, or will be read again.
  package mutating func insert(_ commits: some Sequence<CommitNumber>) {
    guard state != nil else { return }
    for commit in commits where commit > oldest {
      later.insert(commit)
      newest = max(newest, commit)
    }
    while later.remove(CommitNumber(rawValue: oldest.rawValue + 1)) != nil {
      oldest = CommitNumber(rawValue: oldest.rawValue + 1)
    }
    if later.count > Self.limit { later = [] }
  }
}
