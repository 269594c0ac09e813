import QuireModel

// Fetches from incremental stores.
extension StoreFetch {
  /// Asks the store for the rows of the request. The predicate and the order are left out if a path
  /// may refer to an object with unsaved changes, which the store does not know.
  func ask(_ rows: IncrementalRows, capacity: Int) throws -> IncrementalRows.Answer {
    try rows.fetch(request(capacity: capacity))
  }

  /// - Parameter capacity: the number of matches that are enough.
  private func request(capacity: Int) -> IncrementalStoreFetch {
    let isTheirs =
      !target.followsRelationships || changed.isEmpty && hidden.isEmpty && view.parentRows == nil
    // Some of the first rows may be skipped, as their objects are evaluated instead.
    let (limit, isTooMany) = capacity.addingReportingOverflow(changed.count + hidden.count)
    return IncrementalStoreFetch(
      entityNames: storages.map(\.binding.entity.name),
      predicate: isTheirs ? target.predicate : nil,
      sortDescriptors: isTheirs ? target.sortDescriptors : [],
      limit: isTheirs && capacity < .max && !isTooMany ? limit : 0)
  }

  /// The number of matching rows, if no unsaved change counts and the store can count without
  /// naming the rows.
  func count(_ rows: IncrementalRows) throws -> Int? {
    guard pendingCount == 0, changed.isEmpty, hidden.isEmpty, view.parentRows == nil else {
      return nil
    }
    return try rows.count(request(capacity: .max))
  }

  /// - Returns: whether to continue.
  func visit(
    _ answer: IncrementalRows.Answer, _ rows: IncrementalRows, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    let isFiltered = target.predicate == nil || answer.handled.contains(.predicate)
    var rest = answer.references[...]
    while !rest.isEmpty {
      let batch = rest.prefix(IncrementalRows.batchCount)
      rest = rest.dropFirst(batch.count)
      let references = batch.filter(isVisible)
      if !isFiltered || visitor.readsKeys { try rows.read(references) }
      for reference in references {
        try visitor.countRow()
        if try !visit(reference, rows, isFiltered: isFiltered, &visitor) { return false }
      }
    }
    return true
  }

  private func visit(
    _ reference: Reference, _ rows: IncrementalRows, isFiltered: Bool,
    _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard let storage = view.entities.storage(of: reference),
      let paths = target.paths[storage.binding.index]
    else { return true }
    if isFiltered, !visitor.readsKeys {
      let subject = UnreadSubject(reference: reference, storage: storage, view: view)
      return try visitor.visit(subject, at: reference, sortedBy: [], nil) {
        rows.known(reference)?.bytes
      }
    }
    // The row may be gone since the store named it.
    guard let row = try RowSubject(at: reference, in: view) else { return true }
    let subject = PendingSubject(source: .row(row), session: session, view: view, changed: changed)
    if !isFiltered, try !isMatch(subject, paths) { return true }
    return try visitor.visit(subject, at: reference, sortedBy: paths.sort, nil) {
      rows.known(reference)?.bytes
    }
  }
}

/// A row that is read only when one of its values is needed.
private struct UnreadSubject: PathSubject {
  let reference: Reference
  let storage: EntityStorage
  let view: StoreView

  var binding: EntityBinding { storage.binding }
  var key: SubjectKey { .row(reference) }

  var objectIdentity: OpaqueIdentity {
    OpaqueIdentity(
      ManagedObjectID(
        entity: storage.binding.entity, store: storage.identity, key: reference.key))
  }

  private func subject(of row: RowSubject) -> UnreadSubject {
    UnreadSubject(reference: row.reference, storage: row.storage, view: view)
  }

  private func row() throws -> RowSubject? { try RowSubject(at: reference, in: view) }

  func managedObject(in session: StoreSession) throws -> ManagedObject {
    try session.object(at: reference)
  }

  func attribute(_ slot: Int) throws -> AttributeValue? { try row()?.attribute(slot) }
  func one(_ slot: Int) throws -> UnreadSubject? { try row()?.one(slot).map(subject) }
  func members(_ slot: Int) throws -> [UnreadSubject] {
    try row()?.members(slot).map(subject) ?? []
  }
}
