import QuireModel

// How a store of another make is asked.
extension StoreFetch {
  /// Asks the store for what the request wants, as far as its answer is the context's: where a path
  /// leads from one object to another that may be changed here, the store cannot tell.
  func ask(_ rows: IncrementalRows, capacity: Int) throws -> IncrementalRows.Answer {
    try rows.fetch(request(capacity: capacity))
  }

  /// - Parameter capacity: how many matches are enough.
  private func request(capacity: Int) -> IncrementalStoreFetch {
    let isTheirs =
      !target.followsRelationships || changed.isEmpty && hidden.isEmpty && view.parentRows == nil
    // Of the first rows, some may be passed over for their objects.
    let (limit, isTooMany) = capacity.addingReportingOverflow(changed.count + hidden.count)
    return IncrementalStoreFetch(
      entityNames: storages.map(\.binding.entity.name),
      predicate: isTheirs ? target.predicate : nil,
      sortDescriptors: isTheirs ? target.sortDescriptors : [],
      limit: isTheirs && capacity < .max && !isTooMany ? limit : 0)
  }

  /// How many rows match, when nothing unsaved counts and the store can say it without naming them.
  func count(_ rows: IncrementalRows) throws -> Int? {
    guard pendingCount == 0, changed.isEmpty, hidden.isEmpty, view.parentRows == nil else {
      return nil
    }
    return try rows.count(request(capacity: .max))
  }

  /// - Returns: whether to go on.
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
    // It may have gone since the store has named it.
    guard let row = try RowSubject(at: reference, in: view) else { return true }
    let subject = PendingSubject(source: .row(row), session: session, view: view, changed: changed)
    if !isFiltered, try !isMatch(subject, paths) { return true }
    return try visitor.visit(subject, at: reference, sortedBy: paths.sort, nil) {
      rows.known(reference)?.bytes
    }
  }
}

/// A row of which nothing is read unless it is asked for.
private struct UnreadSubject: PathSubject {
  let reference: Reference
  let storage: EntityStorage
  let view: StoreView

  var binding: EntityBinding { storage.binding }

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
