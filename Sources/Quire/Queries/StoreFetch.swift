import QuireModel
import QuireStorage

/// The part of a fetch that one store has: its rows, and the objects of the context that stand for
/// some of them.
struct StoreFetch {
  let session: StoreSession
  private let view: StoreView
  /// Changed objects, and new ones that the store will have.
  private let pending: [ManagedObject]
  /// The objects that stand for rows, with their unsaved changes.
  private let changed: [Reference: ManagedObject]
  /// Where the context's ancestors have inserted and changed objects.
  private let inherited: [Reference]
  /// The same, and where they have deleted objects.
  private let hidden: Set<Reference>
  /// The concrete entities of the request that the store has, in the order of their numbers.
  private let storages: [EntityStorage]
  private let target: FetchTarget
  /// Whether a path leads from a row to another, for which a changed object may stand.
  private let followsChanges: Bool

  init(
    _ session: StoreSession, _ target: FetchTarget, pending: [ManagedObject],
    changed: [Reference: ManagedObject], inherited: [Reference] = [],
    hidden: Set<Reference> = []
  ) throws {
    self.session = session
    self.target = target
    self.pending = pending
    self.changed = changed
    self.inherited = inherited
    self.hidden = hidden
    let view = try session.latestView()
    self.view = view
    storages = target.paths.indices
      .compactMap { target.paths[$0] == nil ? nil : view.entities.byIndex[$0] }
      .sorted { $0.stored.number < $1.stored.number }
    followsChanges = !changed.isEmpty && target.followsRelationships
  }

  var isPending: Bool { !pending.isEmpty || !inherited.isEmpty }

  /// How many rows there are, when there is no predicate and nothing unsaved; otherwise `nil`.
  func rowCount() throws -> Int? {
    guard target.evaluator == nil, pending.isEmpty, changed.isEmpty, hidden.isEmpty else {
      return nil
    }
    var count = 0
    for storage in storages { count += try view.count(of: storage) }
    return count
  }

  /// - Returns: whether to go on.
  func visitMatches(_ visitor: inout some MatchVisitor) throws -> Bool {
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
    for storage in storages {
      if try !visitRows(of: storage, &visitor) { return false }
    }
    return true
  }

  private func isMatch(_ subject: some PathSubject, _ paths: FetchTarget.Paths) throws -> Bool {
    guard let evaluator = target.evaluator else { return true }
    do {
      return try evaluator.evaluate(PathsOfSubject(subject: subject, paths: paths.predicate))
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  private func visitRows(
    of storage: EntityStorage, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard let tree = try view.rows(of: storage), let paths = target.paths[storage.binding.index]
    else { return true }
    let number = storage.stored.number
    let layout = storage.layout
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: number, key: try cursor.key)
      if changed.isEmpty || changed[reference] == nil,
        hidden.isEmpty || !hidden.contains(reference)
      {
        let row = RowSubject(
          reference: reference,
          source: .borrowed(try RowReader(try cursor.valueBytes, layout: layout, scratch)),
          storage: storage, view: view)
        let goesOn =
          followsChanges
          ? try visit(
            PendingSubject(source: .row(row), session: session, view: view, changed: changed),
            at: reference, cursor, storage, paths, &visitor)
          : try visit(row, at: reference, cursor, storage, paths, &visitor)
        if !goesOn { return false }
      }
      isInside = try cursor.next()
    }
    return true
  }

  @inline(__always)
  private func visit(
    _ subject: some PathSubject, at reference: Reference, _ cursor: RecordCursor,
    _ storage: EntityStorage, _ paths: FetchTarget.Paths, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard try isMatch(subject, paths) else { return true }
    return try visitor.visit(subject, at: reference, sortedBy: paths.sort, nil) {
      try Row(try cursor.storedValue(), layout: storage.layout)
    }
  }
}
