import QuireStorage

/// One state of a store, to which contexts can be pinned.
///
/// A token of a certain state keeps that state readable, within the memory that a store keeps for
/// it (256 MB of replaced pages): beyond that, the oldest states expire.
public final class QueryGenerationToken: Sendable {
  /// The state at the moment when a context is pinned to it.
  public static let current = QueryGenerationToken(nil, nil)

  let snapshot: Snapshot?
  let identity: StoreIdentity?

  init(_ snapshot: Snapshot?, _ identity: StoreIdentity?) {
    self.snapshot = snapshot
    self.identity = identity
  }
}

extension QueryGenerationToken: Hashable {
  public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
    left.identity == right.identity
      && left.snapshot?.commitNumber == right.snapshot?.commitNumber
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(identity)
    hasher.combine(snapshot?.commitNumber)
  }
}

extension ManagedObjectContext {
  /// The state that the context is pinned to; `nil` when it is not.
  public final var queryGenerationToken: QueryGenerationToken? {
    pinnedView.map { QueryGenerationToken($0.snapshot, store?.identity) }
  }

  /// Pins the context to one state of its store: whatever others save, fetches and faults read
  /// from there. Objects that were read already keep their values until they are refreshed.
  ///
  /// A save of this context, a merge and ``refreshAllObjects()`` move it on to the newest state, to
  /// which it is pinned then; ``reset()`` and `nil` let go of it. A save compares with the newest
  /// state in any case.
  ///
  /// - Parameter token: ``QueryGenerationToken/current``, the token of another context of the same
  ///   store, or `nil`.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when the context has no store,
  ///   the token is another store's, or its state has expired. A fetch throws that, too, when the
  ///   state has expired since.
  public final func setQueryGeneration(from token: QueryGenerationToken?) throws {
    guard let token else {
      pinnedView = nil
      return
    }
    let store = try requiredStore()
    guard let snapshot = token.snapshot else {
      pinnedView = nil
      pinnedView = try latestView()
      return
    }
    guard token.identity == store.identity else {
      throw PersistenceError(
        .persistentStoreOperation,
        "the query generation is another store's: take it from a context of this store")
    }
    let view = StoreView(store.entities, snapshot)
    try checkReadable(view)
    try checkVersion(of: snapshot)
    pinnedView = view
    self.view = view
  }

  /// - Throws: when the view has expired, saying what to do.
  final func checkReadable(_ pinned: StoreView) throws {
    do {
      try pinned.snapshot.checkReadable()
    } catch {
      throw PersistenceError(
        .persistentStoreOperation,
        "the query generation of commit \(pinned.snapshot.commitNumber.rawValue) cannot be read any "
          + "more: pin the context to a newer one by setQueryGeneration(from:)",
        underlying: error)
    }
  }

  /// Brings a pinned context to the newest state.
  final func moveQueryGeneration() throws {
    guard let former = pinnedView else { return }
    pinnedView = nil
    do {
      pinnedView = try latestView()
    } catch {
      pinnedView = former
      throw error
    }
  }
}
