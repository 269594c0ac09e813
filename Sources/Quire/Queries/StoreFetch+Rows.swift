import QuireModel
import QuireStorage

// How the rows of the store are visited.
extension StoreFetch {
  func isMatch(_ subject: some PathSubject, _ paths: FetchTarget.Paths) throws -> Bool {
    try isMatch(subject, target.evaluator(), paths.predicate)
  }

  @inline(__always)
  private func isMatch(
    _ subject: some PathSubject, _ evaluator: PredicateEvaluator?, _ paths: [FetchPath]
  ) throws -> Bool {
    guard let evaluator else { return true }
    do {
      if !evaluator.asksPathsAlone {
        return try evaluator.evaluate(
          FetchSubject(subject: subject, evaluator: evaluator, session: session))
      }
      return try evaluator.evaluate(PathsOfSubject(subject: subject, paths: paths))
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  func visitRows(
    of storage: EntityStorage, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard let tree = try view.rows(of: storage), let paths = target.paths[storage.binding.index]
    else { return true }
    if target.predicate == nil, takesRows(visitor) {
      return try takeRows(of: tree, storage, &visitor)
    }
    let number = storage.stored.number
    if target.predicate == nil, takesKeys(visitor) {
      return try takeKeys(of: tree, number, &visitor)
    }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    let check = try RowCheck(target, paths, on: storage, in: view)
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: number, key: try cursor.key)
      if try visitRow(at: reference, &cursor, scratch, storage, paths, check, &visitor) == .enough {
        return false
      }
      isInside = try cursor.next()
    }
    return true
  }

  private func takesRows<Visitor: MatchVisitor>(_ visitor: Visitor) -> Bool { Visitor.takesRows }

  /// All rows, without a look at what is in them.
  private func takeRows(
    of tree: RecordTree, _ storage: EntityStorage, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    let (number, layout) = (storage.stored.number, storage.layout)
    let shape = storage.shape
    let showsAll = changed.isEmpty && hidden.isEmpty
    visitor.begin(storage, count: tree.count)
    var cursor = tree.cursor()
    var entries: [RecordEntry] = []
    var isInside = try cursor.first()
    while isInside {
      guard let owner = try cursor.list(&entries) else {
        let reference = Reference(entity: number, key: try cursor.key)
        if showsAll || isVisible(reference) {
          let row = try RowBytes(try cursor.storedValue(), layout: layout)
          if try !visitor.take(row, at: reference) { return false }
        }
        isInside = try cursor.next()
        continue
      }
      visitor.enterLeaf(owner)
      for entry in entries {
        let reference = Reference(entity: number, key: entry.key)
        guard showsAll || isVisible(reference) else { continue }
        if let start = entry.start, shape.isRight(start, entry.byteCount) {
          if try !visitor.takeInLeaf(start, entry.byteCount, at: reference) { return false }
        } else if let value = try tree.value(for: entry.key) {
          let row = try RowBytes(value, layout: layout)
          if try !visitor.take(row, at: reference) { return false }
        }
      }
      isInside = try cursor.next()
    }
    return true
  }

  /// Whether a row is what the context shows of its object.
  @inline(__always)
  func isVisible(_ reference: Reference) -> Bool {
    (changed.isEmpty || changed[reference] == nil)
      && (hidden.isEmpty || !hidden.contains(reference))
  }

  /// What came of a look at a row.
  private enum Outcome { case noMatch, match, enough }

  /// - Parameter cursor: at the row.
  @inline(__always)
  private func visitRow(
    at reference: Reference, _ cursor: inout RecordCursor, _ scratch: RowScratch,
    _ storage: EntityStorage, _ paths: FetchTarget.Paths, _ check: RowCheck,
    _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    guard isVisible(reference) else { return .noMatch }
    try visitor.countRow()
    let bytes = try cursor.valueBytes
    var isTested = check.filter == nil
    // What is passed over for its fixed part needs no further check than whether it ends right.
    if RowReader.isCurrent(bytes, storage.layout), let start = bytes.baseAddress,
      RowReader.endsRight(bytes, storage.layout)
    {
      if let filter = check.filter, !filter.needsReader {
        guard filter.holds(for: bytes) else { return .noMatch }
        isTested = true
      }
      if isTested, check.evaluator == nil,
        visitor.passes(fixedPart: start, storage.table, sortedBy: paths.sort)
      {
        return .match
      }
    }
    let reader = try RowReader(bytes, layout: storage.layout, scratch)
    if !isTested, let filter = check.filter, !filter.holds(for: reader.bytes) { return .noMatch }
    let row = RowSubject(
      reference: reference, source: .borrowed(reader), storage: storage, view: view)
    guard followsChanges else {
      return try visit(row, at: reference, cursor, storage, paths, check, &visitor)
    }
    return try visit(
      PendingSubject(source: .row(row), session: session, view: view, changed: changed),
      at: reference, cursor, storage, paths, check, &visitor)
  }

  @inline(__always)
  private func visit(
    _ subject: some PathSubject, at reference: Reference, _ cursor: RecordCursor,
    _ storage: EntityStorage, _ paths: FetchTarget.Paths, _ check: RowCheck,
    _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    guard try isMatch(subject, check.evaluator, check.paths) else { return .noMatch }
    let goesOn = try visitor.visit(subject, at: reference, sortedBy: paths.sort, nil) {
      try RowBytes(try cursor.storedValue(), layout: storage.layout)
    }
    return goesOn ? .match : .enough
  }
}

// MARK: - By an index

extension StoreFetch {
  /// An entity, and a cursor in its rows.
  private final class RowLookup {
    let storage: EntityStorage
    let paths: FetchTarget.Paths
    let check: RowCheck
    var cursor: RecordCursor

    init(
      _ storage: EntityStorage, _ paths: FetchTarget.Paths, _ check: RowCheck,
      _ cursor: RecordCursor
    ) {
      self.storage = storage
      self.paths = paths
      self.check = check
      self.cursor = cursor
    }
  }

  private func lookups() throws -> [RowLookup] {
    var lookups: [RowLookup] = []
    lookups.reserveCapacity(storages.count)
    for storage in storages {
      guard let tree = try view.rows(of: storage), let paths = target.paths[storage.binding.index]
      else { continue }
      lookups.append(
        RowLookup(
          storage, paths, try RowCheck(target, paths, on: storage, in: view), tree.cursor()))
    }
    return lookups
  }

  private func lookUp(
    _ reference: Reference, mustExist: Bool, _ lookups: [RowLookup], _ scratch: RowScratch,
    _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    // There are few entities.
    guard let lookup = lookups.first(where: { $0.storage.stored.number == reference.entity })
    else { return .noMatch }
    // A link may be left of an object that nobody told of another's deletion, which took no action.
    guard try lookup.cursor.seek(to: reference.key), try lookup.cursor.key == reference.key else {
      if !mustExist { return .noMatch }
      throw PersistenceError(
        .persistentStoreOpen,
        "an index leads to \(lookup.storage.stored.name)/p\(reference.key), which "
          + "does not exist: the store is damaged")
    }
    return try visitRow(
      at: reference, &lookup.cursor, scratch, lookup.storage, lookup.paths, lookup.check, &visitor)
  }

  /// - Returns: whether to go on.
  func visitCandidates(
    _ references: [Reference], mustExist: Bool, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    if references.isEmpty { return true }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    let lookups = try lookups()
    for reference in references {
      if try lookUp(reference, mustExist: mustExist, lookups, scratch, &visitor) == .enough {
        return false
      }
    }
    return true
  }

  /// - Returns: whether the walk came to its end.
  func visitRows(on walk: IndexWalk, _ visitor: inout some MatchVisitor) throws -> Bool {
    guard let tree = try view.indexTree(walk.search.index.stored) else { return true }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    let lookups = try lookups()
    var entries = tree.entries(
      from: walk.range.lower, to: walk.range.upper, reversed: walk.isReversed)
    var group: [UInt8] = []
    var (matchCount, rowCount) = (0, 0)
    while try entries.next() {
      let key = Array(try entries.key)
      guard let reference = IndexKey.reference(of: UnsafeRawBufferPointer(try entries.key)) else {
        continue
      }
      let end = IndexKey.end(ofFirst: walk.groupElementCount, walk.search.elements, in: key)
      if !key[..<end].elementsEqual(group) {
        // Whatever follows comes after all of these.
        if matchCount >= walk.capacity { return true }
        group = Array(key[..<end])
      }
      rowCount += 1
      if rowCount > walk.rowLimit { return false }
      if try lookUp(reference, mustExist: true, lookups, scratch, &visitor) == .match {
        matchCount += 1
      }
    }
    return true
  }
}
