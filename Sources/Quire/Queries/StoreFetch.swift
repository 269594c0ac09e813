import QuireModel
import QuireStorage

/// The part of a fetch that concerns one store: its rows, and the objects of the context that are
/// evaluated instead of some of them.
final class StoreFetch {
  let session: StoreSession
  let view: StoreView
  /// Changed objects, and new ones that will be saved in the store.
  private let pending: [ManagedObject]
  /// The objects with unsaved changes, by the references of their rows.
  let changed: [Reference: ManagedObject]
  /// The references of objects that the context's ancestors have inserted or changed.
  private let inherited: [Reference]
  /// The same, and the references of objects that ancestors have deleted.
  let hidden: Set<Reference>
  /// The concrete entities of the request that the store has, in the order of their numbers.
  let storages: [EntityStorage]
  let target: FetchTarget
  /// Whether a path may lead from a row to an object with unsaved changes.
  let followsChanges: Bool
  /// What candidates are looked up with, made for the first ones.
  var candidateRows: [EntityRows]?

  /// - Parameter state: the view to read; `nil` for the latest one that the session can show.
  init(
    _ session: StoreSession, _ target: FetchTarget, pending: [ManagedObject],
    changed: [Reference: ManagedObject], inherited: [Reference] = [],
    hidden: Set<Reference> = [], in state: StoreView? = nil
  ) throws {
    self.session = session
    self.target = target
    self.pending = pending
    self.changed = changed
    self.inherited = inherited
    self.hidden = hidden
    let view = try state ?? session.latestView()
    self.view = view
    var storages: [EntityStorage] = []
    for index in target.paths.indices where target.paths[index] != nil {
      if let storage = view.entities.byIndex[index] { storages.append(storage) }
    }
    if storages.count > 1 { storages.sort { $0.stored.number < $1.stored.number } }
    self.storages = storages
    followsChanges = !changed.isEmpty && target.followsRelationships
  }

  var pendingCount: Int { pending.count }
  /// The number of objects that are evaluated instead of rows.
  var unsavedCount: Int { pending.count + inherited.count }
  var isPending: Bool { !pending.isEmpty || !inherited.isEmpty }

  /// Whether no unsaved change counts.
  var showsRowsAlone: Bool {
    pending.isEmpty && inherited.isEmpty && changed.isEmpty && hidden.isEmpty
      && view.parentRows == nil && session.context.family == nil
  }

  /// The number of matching rows, if it is known without unsaved changes and without reading a row.
  func rowCount() throws -> Int? {
    if let incremental = view.incremental { return try count(incremental) }
    guard pending.isEmpty, changed.isEmpty, hidden.isEmpty else { return nil }
    if target.predicate != nil {
      guard showsRowsAlone else { return nil }
      return try planning(capacity: .max).coveredCount()
    }
    var count = 0
    for storage in storages { count += try view.count(of: storage) }
    return count
  }

  /// The plan by which rows are found.
  ///
  /// - Parameter capacity: the number of matches that are enough, in the order of the request.
  func plan(capacity: Int) throws -> FetchPlan {
    if let incremental = view.incremental {
      let answer = try ask(incremental, capacity: capacity)
      return FetchPlan(access: .answer(answer, incremental), entityName: target.entityName)
    }
    // Links cannot be searched by the temporary IDs that objects of a child may still have.
    if let family = session.context.family, !family.shownReferences.isEmpty {
      return FetchPlan(access: .scan, entityName: target.entityName)
    }
    return try planning(capacity: capacity).plan()
  }

  func planning(capacity: Int) -> FetchPlanning {
    FetchPlanning(
      storages, of: target, capacity: capacity, in: view, showsRowsAlone: showsRowsAlone)
  }

  /// - Returns: whether to continue.
  func visitMatches(_ visitor: inout some MatchVisitor, _ plan: FetchPlan) throws -> Bool {
    for object in pending {
      guard let paths = target.paths[object.binding.index] else { continue }
      let subject = PendingSubject(
        source: .object(object), session: session, view: view, changed: changed)
      guard try isMatch(subject, paths) else { continue }
      let goesOn = try visitor.visit(
        subject, at: object.reference, sortedBy: paths.sort, object, row: { nil })
      if !goesOn { return false }
    }
    for reference in inherited {
      guard let row = try RowSubject(at: reference, in: view),
        let paths = target.paths[row.binding.index]
      else { continue }
      let subject = PendingSubject(
        source: .row(row), session: session, view: view, changed: changed)
      guard try isMatch(subject, paths) else { continue }
      let goesOn = try visitor.visit(
        subject, at: reference, sortedBy: paths.sort, nil, row: { nil })
      if !goesOn { return false }
    }
    switch plan.access {
    case .scan: break
    case .candidates(let references, let source):
      return try visitCandidates(references, mustExist: source.isIndex, &visitor)
    case .answer(let answer, let rows): return try visit(answer, rows, &visitor)
    case .walk(let walk):
      // The walk gets a copy of the visitor, whose matches are dropped if the walk is given up.
      var copy = visitor
      if try visitRows(on: walk, &copy) {
        visitor = copy
        return true
      }
      visitor.abandonWalk()
      if let fallback = walk.fallback {
        let search = try planning(capacity: .max).candidateSearch()
        if let found = try search.read(fallback, limit: search.limit) {
          return try visitCandidates(found, mustExist: fallback.isIndex, &visitor)
        }
      }
    }
    for storage in storages {
      if try !visitRows(of: storage, &visitor) { return false }
    }
    return true
  }
}
