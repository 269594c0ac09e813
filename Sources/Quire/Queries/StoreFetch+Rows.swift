import QuireModel
import QuireStorage

// Visits to the rows of the store.
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
    let rows = EntityRows(
      storage, tree, paths, try RowCheck(target, paths, on: storage, in: view), RowScratch())
    var cursor = tree.cursor()
    var entries: [RecordEntry] = []
    var isInside = try cursor.first()
    while isInside {
      if let leaf = try cursor.listForVisit(&entries) {
        if !countsRows(visitor) { sift(&entries, rows, visitor) }
        if try !visitRows(entries, in: leaf, rows, &visitor) { return false }
      } else if try lookUp(try cursor.key, rows, &visitor) == .enough {
        return false
      }
      isInside = try cursor.next()
    }
    return true
  }

  /// Removes the entries whose rows are no matches, as far as filters tell, or come too late.
  private func sift(
    _ entries: inout [RecordEntry], _ rows: EntityRows, _ visitor: some MatchVisitor
  ) {
    rows.check.sift(&entries, rows.storage.shape)
    // Whether a row is a match has to be known first: evaluating it may be an error.
    guard rows.check.evaluator == nil,
      let bound = visitor.bound(rows.storage.table, sortedBy: rows.paths.sort)
    else { return }
    bound.sift(&entries)
  }

  /// - Parameters:
  ///   - entries: the entries of a leaf; filtered already, unless the visitor counts rows.
  ///   - leaf: keeps the entries in memory, for as long as wanted or until they are visited.
  private func visitRows(
    _ entries: [RecordEntry], in leaf: (owner: AnyObject, mayBeKept: Bool), _ rows: EntityRows,
    _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    // Sound: the owner is held until all entries are visited.
    defer { withExtendedLifetime(leaf.owner) {} }
    let shared = leaf.mayBeKept ? Unmanaged.passUnretained(leaf.owner) : nil
    let number = rows.storage.stored.number
    let isSifted = !countsRows(visitor)
    for entry in entries {
      guard let start = entry.start else {
        if try lookUp(entry.key, rows, &visitor) == .enough { return false }
        continue
      }
      let reference = Reference(entity: number, key: entry.key)
      guard isVisible(reference) else { continue }
      let bytes = UnsafeRawBufferPointer(start: start, count: entry.byteCount)
      let outcome =
        isSifted
        ? try visitFiltered(
          RowReader(current: bytes, rows.storage.layout), at: reference, bytes, shared, rows,
          &visitor)
        : try visitRow(bytes, shared, at: reference, rows, &visitor)
      if outcome == .enough { return false }
    }
    return true
  }

  private func countsRows<Visitor: MatchVisitor>(_ visitor: Visitor) -> Bool { Visitor.countsRows }

  private func takesRows<Visitor: MatchVisitor>(_ visitor: Visitor) -> Bool { Visitor.takesRows }

  /// Takes all rows, without reading their values.
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

  /// Whether the context shows the row itself, not an object with unsaved changes.
  @inline(__always)
  func isVisible(_ reference: Reference) -> Bool {
    (changed.isEmpty || changed[reference] == nil)
      && (hidden.isEmpty || !hidden.contains(reference))
  }

  /// The result of evaluating a row.
  private enum Outcome { case noMatch, match, enough }

  /// The rows of one entity, with the tests to which they are put.
  final class EntityRows {
    let storage: EntityStorage
    let tree: RecordTree
    let paths: FetchTarget.Paths
    let check: RowCheck
    /// Memory for converting rows of older layouts.
    let scratch: RowScratch

    init(
      _ storage: EntityStorage, _ tree: RecordTree, _ paths: FetchTarget.Paths,
      _ check: RowCheck, _ scratch: RowScratch
    ) {
      self.storage = storage
      self.tree = tree
      self.paths = paths
      self.check = check
      self.scratch = scratch
    }
  }

  /// - Returns: `nil` when there is no such row.
  private func lookUp(
    _ key: Int64, _ rows: EntityRows, _ visitor: inout some MatchVisitor
  ) throws -> Outcome? {
    guard let value = try rows.tree.value(for: key) else { return nil }
    let reference = Reference(entity: rows.storage.stored.number, key: key)
    guard isVisible(reference) else { return .noMatch }
    // Sound: the owner is held until the row is visited.
    defer { withExtendedLifetime(value.owner) {} }
    return try visitRow(
      value.bytes, .passUnretained(value.owner), at: reference, rows, &visitor)
  }

  /// - Parameter owner: keeps the bytes; `nil` if they are kept until the row is visited only.
  @inline(__always)
  private func visitRow(
    _ bytes: UnsafeRawBufferPointer, _ owner: Unmanaged<AnyObject>?, at reference: Reference,
    _ rows: EntityRows, _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    try visitor.countRow()
    let (storage, check) = (rows.storage, rows.check)
    var isTested = check.filter == nil
    // A row that is rejected by its fixed part need not be checked further than that its end is
    // valid.
    if let filter = check.filter, !filter.needsReader, RowReader.isCurrent(bytes, storage.layout),
      RowReader.endsRight(bytes, storage.layout)
    {
      guard filter.holds(for: bytes) else { return .noMatch }
      isTested = true
    }
    let reader = try RowReader(bytes, layout: storage.layout, rows.scratch)
    if !isTested, let filter = check.filter, !filter.holds(for: reader.bytes) { return .noMatch }
    return try visitFiltered(reader, at: reference, bytes, owner, rows, &visitor)
  }

  /// - Parameters:
  ///   - reader: of a row that has passed the filter.
  ///   - bytes: the row as the tree has it, which may be of an older layout.
  ///   - owner: as above.
  @inline(__always)
  private func visitFiltered(
    _ reader: RowReader, at reference: Reference, _ bytes: UnsafeRawBufferPointer,
    _ owner: Unmanaged<AnyObject>?, _ rows: EntityRows, _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    let row = RowSubject(
      reference: reference, source: .borrowed(reader), storage: rows.storage, view: view)
    guard followsChanges else {
      return try visit(row, reader, at: reference, bytes, owner, rows, &visitor)
    }
    return try visit(
      PendingSubject(source: .row(row), session: session, view: view, changed: changed), reader,
      at: reference, bytes, owner, rows, &visitor)
  }

  @inline(__always)
  private func visit(
    _ subject: some PathSubject, _ reader: RowReader, at reference: Reference,
    _ bytes: UnsafeRawBufferPointer, _ owner: Unmanaged<AnyObject>?, _ rows: EntityRows,
    _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    guard try isMatch(subject, rows.check.evaluator, rows.check.paths) else { return .noMatch }
    let goesOn = try visitor.visit(
      subject, at: reference, sortedBy: rows.paths.sort, nil
    ) {
      guard let owner else {
        return try RowBytes(StoredValue(copying: bytes), layout: rows.storage.layout)
      }
      return try RowBytes(
        bytes, owner.takeUnretainedValue(), readBy: reader, layout: rows.storage.layout)
    }
    return goesOn ? .match : .enough
  }
}

// MARK: - By an index

extension StoreFetch {
  private func entityRows() throws -> [EntityRows] {
    var found: [EntityRows] = []
    found.reserveCapacity(storages.count)
    let scratch = RowScratch()
    for storage in storages {
      guard let tree = try view.rows(of: storage), let paths = target.paths[storage.binding.index]
      else { continue }
      let check = try RowCheck(target, paths, on: storage, in: view)
      found.append(EntityRows(storage, tree, paths, check, scratch))
    }
    return found
  }

  private func lookUp(
    _ reference: Reference, mustExist: Bool, _ rows: [EntityRows],
    _ visitor: inout some MatchVisitor
  ) throws -> Outcome {
    // A linear search, as there are few entities.
    guard let rows = rows.first(where: { $0.storage.stored.number == reference.entity })
    else { return .noMatch }
    // A link may be left over where a deletion rule took no action.
    guard let outcome = try lookUp(reference.key, rows, &visitor) else {
      if !mustExist { return .noMatch }
      throw PersistenceError(
        .persistentStoreOpen,
        "an index refers to \(rows.storage.stored.name)/p\(reference.key), which "
          + "does not exist: the store is damaged")
    }
    return outcome
  }

  /// - Returns: whether to continue.
  func visitCandidates(
    _ references: [Reference], mustExist: Bool, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    if references.isEmpty { return true }
    let rows = try candidateRows ?? entityRows()
    candidateRows = rows
    for reference in references {
      if try lookUp(reference, mustExist: mustExist, rows, &visitor) == .enough {
        return false
      }
    }
    return true
  }

  /// - Returns: `false` if the walk reached its limit of rows and is given up.
  func visitRows(on walk: IndexWalk, _ visitor: inout some MatchVisitor) throws -> Bool {
    guard let tree = try view.indexTree(walk.search.index.stored) else { return true }
    let rows = try entityRows()
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
        // All keys that follow come after these matches.
        if matchCount >= walk.capacity { return true }
        group = Array(key[..<end])
      }
      rowCount += 1
      if rowCount > walk.rowLimit { return false }
      if try lookUp(reference, mustExist: true, rows, &visitor) == .match {
        matchCount += 1
      }
    }
    return true
  }
}
