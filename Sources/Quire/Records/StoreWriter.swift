import QuireModel
import QuireStorage

/// Writes rows and links in one transaction, making trees when their first entry comes.
final class StoreWriter {
  let transaction: WriteTransaction
  let entities: StoreEntities
  // Private, and no call leads back here while they change.
  /// By the entity's number, as far as they were asked for.
  @exclusivity(unchecked) private var rowTrees: [MutableRecordTree?] = []
  /// By the number of the link.
  @exclusivity(unchecked) var linkTrees: [UInt16: MutableIndexTree] = [:]
  @exclusivity(unchecked) private var keys: KeyCounters
  /// What keeps indexes up, once it was asked for; there is none where the store has no index.
  @exclusivity(unchecked) private var upkeep: IndexUpkeep??

  /// Whether links may wait. What depends on them is then worked out in the end.
  var defersLinks: Bool { deferred != nil }

  /// Values that are kept outside of rows.
  let external: ExternalDataWriter

  /// Where links wait that need not be in their trees yet.
  var deferred: DeferredLinks? {
    didSet { deferredReference = deferred.map { .passUnretained($0) } }
  }
  // Sound: held above.
  private(set) var deferredReference: Unmanaged<DeferredLinks>?
  /// Where links wait that need not be out of their trees yet.
  var leaving: DeferredLinks?
  /// What sorts more links than wait, for trees that are not there yet; by the number of the link.
  var sortedLinks: [UInt16: (link: StoredEntity.Link, sorter: KeySorter)] = [:]
  /// The same of lists, each of which is looked through once for all that leave it.
  var leavingLists: [LeavingList.Place: LeavingList]?

  init(
    _ transaction: WriteTransaction, _ entities: StoreEntities,
    deferring deferred: DeferredLinks? = nil
  ) {
    self.transaction = transaction
    self.entities = entities
    keys = KeyCounters(transaction)
    self.deferred = deferred
    deferredReference = deferred.map { .passUnretained($0) }
    external = ExternalDataWriter(transaction)
  }

  // MARK: Rows

  /// Writes the row of an object, in the place of the one that it had.
  ///
  /// With ``removeRows(at:in:)`` the only way in which a save or an import changes rows: what a
  /// store keeps of rows besides follows from here.
  ///
  /// - Parameter isNew: whether the key was never given before, so that there can be none.
  /// - Returns: whether there was one.
  @discardableResult
  func putRow(
    _ row: RowWriter, at reference: Reference, isNew: Bool = false, in storage: EntityStorage
  ) throws -> Bool {
    if !isNew { try removeExternal(at: reference, in: storage, keeping: row.externalValues) }
    let rows = try rows(of: storage.stored)
    let wasThere = try row.withBytes { bytes in
      guard let upkeep = try indexUpkeep() else { return try rows.put(bytes, for: reference.key) }
      return try upkeep.put(bytes, at: reference, isNew: isNew, storage, in: rows)
    }
    guard !isNew || !wasThere else { throw StoreWriter.keyIsTaken(reference, storage) }
    return wasThere
  }

  /// Writes the row of an object over the one that is there, which differs in some slots alone.
  func putPatchedRow(
    _ row: RowWriter, at reference: Reference, in storage: EntityStorage, changing slots: SlotSet
  ) throws {
    guard try indexUpkeep()?.dependsOn(slots, storage) ?? false else {
      let rows = try rows(of: storage.stored)
      try row.withBytes { _ = try rows.put($0, for: reference.key) }
      return
    }
    try putRow(row, at: reference, in: storage)
  }

  static func keyIsTaken(_ reference: Reference, _ storage: EntityStorage) -> PersistenceError {
    StoreSchema.damaged(
      "has a key counter below \(reference.key), a key of \(storage.stored.name) that is taken")
  }

  /// Removes rows of an entity, as far as they are there; what they have outside of them is gone
  /// already.
  ///
  /// - Parameter keys: ascend strictly.
  func removeRows(at keys: [Int64], in storage: EntityStorage) throws {
    let rows = try rows(of: storage.stored)
    let upkeep = try indexUpkeep()
    try keys.withUnsafeBufferPointer { keys in
      // Keys of indexes wait, and should not become too many.
      for start in stride(from: 0, to: keys.count, by: 1024) {
        let run = UnsafeBufferPointer(rebasing: keys[start..<min(start + 1024, keys.count)])
        if let upkeep {
          try upkeep.remove(run: run, storage, in: rows)
        } else {
          try rows.remove(run: run) { _, _ in }
        }
      }
    }
  }

  /// Removes all rows of an entity with their keys in indexes; what they have outside of them is
  /// gone already.
  ///
  /// - Returns: `false`, with nothing changed, when rows of other entities share an index with
  ///   them, or a migration has left rows to be finished.
  /// - Complexity: O(pages) of the trees.
  func removeAllRows(of storage: EntityStorage) throws -> Bool {
    guard storage.stored.unfinished == nil,
      try indexUpkeep()?.removeAll(of: storage) ?? true
    else { return false }
    try rows(of: storage.stored).removeAll()
    return true
  }

  /// Whether an entity has no rows.
  func isEmpty(_ storage: EntityStorage) throws -> Bool {
    try existingRows(of: storage.stored).map { $0.count == 0 } ?? true
  }

  /// Makes all rows of an entity that has none, in the order of their keys, and the indexes that
  /// are empty: in little memory, however many there are.
  ///
  /// - Parameter body: appends the rows, and notes their keys; looks at neither.
  func buildRows(
    of storage: EntityStorage, _ body: (borrowing RecordTreeBuilder) throws -> Void
  ) throws {
    let (name, number) = (storage.stored.rowTree, Int(storage.stored.number))
    if try transaction.recordTree(name) != nil { try transaction.dropTree(name) }
    if number < rowTrees.count { rowTrees[number] = nil }
    let upkeep = try indexUpkeep()
    try upkeep?.beginBuilding(of: storage)
    try beginBuildingLinks(to: storage)
    note(try transaction.buildRecordTree(name, body), storage.stored.number)
    try upkeep?.endBuilding()
    try endBuildingLinks()
  }

  /// Whether two objects have values that a constraint wants to be unique, among those that were
  /// written.
  func hasDuplicates() throws -> Bool { try firstDuplicates() != nil }

  /// The objects that have them, of the first constraint that is broken.
  func firstDuplicates() throws -> (index: StoredIndex, objects: [Reference])? {
    guard case .some(let upkeep?) = upkeep else { return nil }
    return try upkeep.firstDuplicates(entities)
  }

  func indexUpkeep() throws -> IndexUpkeep? {
    if let upkeep { return upkeep }
    let upkeep = try IndexUpkeep(transaction, entities)
    self.upkeep = .some(upkeep)
    return upkeep
  }

  func rows(of stored: StoredEntity) throws -> MutableRecordTree {
    if let tree = openRows(stored.number) { return tree }
    let tree =
      try transaction.mutableRecordTree(stored.rowTree)
      ?? transaction.createRecordTree(stored.rowTree)
    note(tree, stored.number)
    return tree
  }

  private func openRows(_ number: UInt16) -> MutableRecordTree? {
    Int(number) < rowTrees.count ? rowTrees[Int(number)] : nil
  }

  private func note(_ tree: MutableRecordTree, _ number: UInt16) {
    if rowTrees.count <= Int(number) {
      rowTrees += Array(repeating: nil, count: Int(number) + 1 - rowTrees.count)
    }
    rowTrees[Int(number)] = tree
  }

  /// Whether the row exists; makes no tree.
  func contains(_ reference: Reference) throws -> Bool {
    guard let storage = entities.storage(of: reference),
      let tree = try existingRows(of: storage.stored)
    else { return false }
    return try tree.contains(reference.key)
  }

  /// The version of a row as the transaction has it; `nil` when there is no such row.
  func version(at reference: Reference) throws -> UInt32? {
    // A save asks for that of each object that it changes: nothing is counted for it.
    let number = Int(reference.entity)
    if number < rowTrees.count, rowTrees[number] != nil,
      let storage = entities.uncountedStorage(of: reference)
    {
      var version: UInt32?
      let found: Void? = try rowTrees[number]?.withValue(for: reference.key) { bytes in
        version = storage._withUnsafeGuaranteedRef { RowReader.version(of: bytes, $0.layout) }
      }
      if found == nil { return nil }
      if let version { return version }
    }
    return try withRow(reference) { $0.version }
  }

  /// Calls `body` with the row as the transaction has it; the reader is valid within the call.
  ///
  /// - Returns: `nil` when there is no such row.
  func withRow<R>(_ reference: Reference, _ body: (RowReader) throws -> R) throws -> R? {
    guard let storage = entities.storage(of: reference),
      let tree = try existingRows(of: storage.stored)
    else { return nil }
    return try tree.withValue(for: reference.key) { bytes in
      if RowReader.isCurrent(bytes, storage.layout) {
        return try body(try RowReader(current: bytes, storage.layout))
      }
      let scratch = RowScratch()
      defer { withExtendedLifetime(scratch) {} }
      return try body(try RowReader(bytes, layout: storage.layout, scratch))
    }
  }

  /// The keys of some rows of an entity, in order.
  func keys(of storage: EntityStorage, from first: Int64, limit: Int) throws -> [Int64] {
    guard let tree = try existingRows(of: storage.stored) else { return [] }
    var keys: [Int64] = []
    var cursor = tree.cursor()
    var isInside = try cursor.seek(to: first)
    while isInside, keys.count < limit {
      keys.append(try cursor.key)
      isInside = try cursor.next()
    }
    withExtendedLifetime(cursor) {}
    return keys
  }

  private func existingRows(of stored: StoredEntity) throws -> MutableRecordTree? {
    if let tree = openRows(stored.number) { return tree }
    guard let tree = try transaction.mutableRecordTree(stored.rowTree) else { return nil }
    note(tree, stored.number)
    return tree
  }

  // MARK: Keys

  /// A key that no object of the key space ever had.
  func takeKey(in space: UInt16) throws -> Int64 { try keys.take(in: space) }

  /// Makes sure that `key` is never given to another object.
  func noteKey(_ key: Int64, in space: UInt16) throws { try keys.note(key, in: space) }

  func lastKey(in space: UInt16) throws -> Int64 { try keys.last(in: space) }

  /// Writes the key counters that changed, and what waits to be put into indexes; to be called
  /// before the transaction commits.
  func writeKeys() throws {
    if case .some(let upkeep?) = upkeep { try upkeep.settle() }
    try external.finish()
    try keys.write()
  }
}
