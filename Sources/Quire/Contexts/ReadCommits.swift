import QuireStorage

/// Of which commits the rows are that a context has in memory: whether all of them are as they are
/// in the state that it reads.
///
/// An object keeps its row until it is refreshed, while the state moves on with every fetch. Then a
/// row may be older than the state; and newer, if the context has gone back to a query generation.
struct ReadCommits {
  /// Beyond so many, a context that does not merge what others save is not counted for.
  private static let limit = 1000

  /// All rows are those of this commit or of a later one…
  private var oldest: CommitNumber?
  /// …and none is of a later one than this.
  private var newest: CommitNumber?
  /// Commits after the oldest whose rows are in memory as well.
  private var later: Set<CommitNumber> = []

  /// Whether all rows are the state's.
  private(set) var areOfOneState = true

  /// To be called when the context reads another state.
  ///
  /// - Parameter isFirst: whether no row is in memory yet, or all are read again.
  mutating func move(to commit: CommitNumber, isFirst: Bool) {
    if isFirst || oldest == nil {
      (oldest, newest, later) = (commit, commit, [])
    } else if let known = oldest, commit < known {
      (oldest, later) = (commit, [])
    }
    newest = max(newest ?? commit, commit)
    areOfOneState = oldest == commit && newest == commit
  }

  /// To be called when all rows that a commit has changed are in memory or will be read again.
  mutating func insert(_ commits: some Sequence<CommitNumber>) {
    guard var known = oldest, let newest else { return }
    let isAtNewest = areOfOneState || known < newest
    for commit in commits where commit > known { later.insert(commit) }
    while later.remove(CommitNumber(rawValue: known.rawValue + 1)) != nil {
      known = CommitNumber(rawValue: known.rawValue + 1)
    }
    if later.count > Self.limit { later = [] }
    oldest = known
    areOfOneState = isAtNewest && known >= newest
  }
}
