import QuireModel
import QuireStorage

/// The part of a fetch that one store has: its rows, and the objects of the context that stand for
/// some of them.
final class StoreFetch {
  let session: StoreSession
  let view: StoreView
  /// Changed objects, and new ones that the store will have.
  private let pending: [ManagedObject]
  /// The objects that stand for rows, with their unsaved changes.
  let changed: [Reference: ManagedObject]
  /// Where the context's ancestors have inserted and changed objects.
  private let inherited: [Reference]
  /// The same, and where they have deleted objects.
  let hidden: Set<Reference>
  /// The concrete entities of the request that the store has, in the order of their numbers.
  let storages: [EntityStorage]
  let target: FetchTarget
  /// Whether a path leads from a row to another, for which a changed object may stand.
  let followsChanges: Bool

  /// - Parameter state: what is read; `nil` for the last state that the session can show.
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
  /// How many objects are asked instead of their rows.
  var unsavedCount: Int { pending.count + inherited.count }
  var isPending: Bool { !pending.isEmpty || !inherited.isEmpty }

  /// Whether nothing unsaved counts.
  var showsRowsAlone: Bool {
    pending.isEmpty && inherited.isEmpty && changed.isEmpty && hidden.isEmpty
      && view.parentRows == nil && session.context.family == nil
  }

  /// How many rows match, when nothing unsaved counts and no row need be read for it.
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

  /// How rows are found.
  ///
  /// - Parameter capacity: how many matches are enough, in the order of the request.
  func plan(capacity: Int) throws -> FetchPlan {
    if let incremental = view.incremental {
      let answer = try ask(incremental, capacity: capacity)
      return FetchPlan(access: .answer(answer, incremental), entityName: target.entityName)
    }
    // Links are not found by the temporary IDs that objects of a child may show.
    if let family = session.context.family, !family.shownReferences.isEmpty {
      return FetchPlan(access: .scan, entityName: target.entityName)
    }
    return try planning(capacity: capacity).plan()
  }

  func planning(capacity: Int) -> FetchPlanning {
    FetchPlanning(
      storages, of: target, capacity: capacity, in: view, showsRowsAlone: showsRowsAlone)
  }

  /// - Returns: whether to go on.
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
      // A walk that is given up has not happened.
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
