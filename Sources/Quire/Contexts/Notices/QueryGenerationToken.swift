import QuireStorage

/// One state of each store of a coordinator, to which contexts can be pinned.
///
/// A token keeps its state readable, within the memory that a store reserves for that (256 MB of
/// replaced pages): beyond it, the oldest states expire.
public final class QueryGenerationToken: Sendable {
  /// The state at the moment when a context is pinned to it.
  public static let current = QueryGenerationToken([:])

  /// The snapshots by store; none for ``current``.
  let snapshots: [StoreIdentity: Snapshot]

  init(_ snapshots: [StoreIdentity: Snapshot]) { self.snapshots = snapshots }

  private var commits: [StoreIdentity: CommitNumber] { snapshots.mapValues(\.commitNumber) }
}

extension QueryGenerationToken: Hashable {
  public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
    left.commits == right.commits
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(commits) }
}

extension ManagedObjectContext {
  /// The state that the context is pinned to; `nil` when it is not.
  public final var queryGenerationToken: QueryGenerationToken? {
    let pinned = pinnedViews
    if pinned.isEmpty { return nil }
    return QueryGenerationToken(
      Dictionary(uniqueKeysWithValues: pinned.map { ($0.session.identity, $0.view.snapshot) }))
  }

  private var pinnedViews: [(session: StoreSession, view: StoreView)] {
    sessions.compactMap { session in session.pinnedView.map { (session, $0) } }
  }

  private func pin(_ views: [(session: StoreSession, view: StoreView)]) {
    for session in sessions { session.pinnedView = nil }
    for (session, view) in views { session.pinnedView = view }
  }

  /// Pins the context to one state of its stores, from which fetches and faults read, whatever
  /// other contexts save. Objects that were read already keep their values until they are
  /// refreshed.
  ///
  /// A save of this context, a merge and ``refreshAllObjects()`` move it on to the newest state, to
  /// which it is pinned then; ``reset()`` and `nil` unpin it. A save looks for conflicts in the
  /// newest state in any case, and moves on only the stores that it writes to. A store that is
  /// added after the context was pinned is read in its newest state.
  ///
  /// - Parameter token: ``QueryGenerationToken/current``, the token of another context of the same
  ///   stores, or `nil`.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when the context has no store,
  ///   one of its stores is an ``IncrementalStore``, the token is another store's, its state has
  ///   expired, or the context has a parent. A fetch throws it, too, when the state has expired
  ///   since.
  ///   ``PersistenceError/Code/managedObjectContextBusy`` while the context is busy.
  public final func setQueryGeneration(from token: QueryGenerationToken?) throws {
    try requireIdle(for: "setQueryGeneration(from:)")
    guard let token else { return pin([]) }
    guard parent == nil else {
      throw PersistenceError(
        .persistentStoreOperation,
        "a child context sees what its parent sees: pin the first context of the family")
    }
    let sessions = try requiredSessions()
    if let other = sessions.first(where: { $0.store.incremental != nil }) {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store of type \(other.store.type.rawValue) has no states that a context could be pinned "
          + "to: it answers with what it has at the moment")
    }
    guard !token.snapshots.isEmpty else {
      let former = pinnedViews
      pin([])
      do {
        return pin(try sessions.map { ($0, try $0.latestView()) })
      } catch {
        pin(former)
        throw error
      }
    }
    var views: [(session: StoreSession, view: StoreView)] = []
    for (identity, snapshot) in token.snapshots {
      guard let session = sessions.first(where: { $0.identity == identity }) else {
        throw PersistenceError(
          .persistentStoreOperation,
          "the query generation is another store's: take it from a context of this store")
      }
      let view = StoreView(session.entities, snapshot)
      try session.checkReadable(view)
      try session.checkVersion(of: snapshot)
      views.append((session, view))
    }
    pin(views)
    for (session, view) in views {
      session.leaveState()
      session.view = view
    }
  }

  /// Brings a pinned context to the newest state.
  final func moveQueryGeneration() throws {
    let former = pinnedViews
    guard !former.isEmpty else { return }
    pin([])
    do {
      pin(try former.map { ($0.session, try $0.session.latestView()) })
    } catch {
      pin(former)
      throw error
    }
  }
}
