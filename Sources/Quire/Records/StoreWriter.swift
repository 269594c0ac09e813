import QuireModel
import QuireStorage

/// Writes rows and links in one transaction, and creates trees for their first entries.
final class StoreWriter {
  let transaction: WriteTransaction
  let entities: StoreEntities
  // Sound: private, and not accessed again while they change.
  /// By the entity's number; filled on demand.
  @exclusivity(unchecked) private var rowTrees: [MutableRecordTree?] = []
  /// By the number of the link.
  @exclusivity(unchecked) var linkTrees: [UInt16: MutableIndexTree] = [:]
  @exclusivity(unchecked) private var keys: KeyCounters
  /// Keeps the indexes up to date; set on demand, to `nil` for a store without indexes.
  @exclusivity(unchecked) private var upkeep: IndexUpkeep??

  /// Whether links may be collected. Values that depend on them are then computed at the end.
  var defersLinks: Bool { deferred != nil }

  /// Writes the values outside of rows.
  let external: ExternalDataWriter

  /// Links that are not in their trees yet.
  var deferred: DeferredLinks? {
    didSet { deferredReference = deferred.map { .passUnretained($0) } }
  }
  // Sound: `deferred` holds it.
  private(set) var deferredReference: Unmanaged<DeferredLinks>?
  /// Links that are to be removed from their trees.
  var leaving: DeferredLinks?
  /// Sorters for more links than are kept in memory, for trees that do not exist yet; by the number
  /// of the link.
  var sortedLinks: [UInt16: (link: StoredEntity.Link, sorter: KeySorter)] = [:]
  /// Members to be removed from ordered relationships. Each is read once for all of them.
  var leavingLists: [LinksOfOwner: LeavingList]?
  /// Links that will be written as a whole, as a save has their order: members that are added and
  /// removed meanwhile are in it.
  var arranged: Set<LinksOfOwner> = []

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

  /// Writes the row of an object, replacing the one that it had.
  ///
  /// Saves and imports change rows only by this and ``removeRows(at:in:)``, which also update
  /// whatever is derived from rows.
  ///
  /// - Parameter isNew: whether the key was never used before, so that there is no row.
  /// - Returns: whether there was a row.
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

  /// Replaces the row of an object with one that differs in some slots only.
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

  /// Removes rows of an entity, if they exist; their values outside of rows must be removed before.
  ///
  /// - Parameter keys: strictly ascending.
  func removeRows(at keys: [Int64], in storage: EntityStorage) throws {
    let rows = try rows(of: storage.stored)
    let upkeep = try indexUpkeep()
    try keys.withUnsafeBufferPointer { keys in
      // In portions, as the index keys to be removed are kept in memory.
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

  /// Removes all rows of an entity, and their keys in indexes; their values outside of rows must be
  /// removed before.
  ///
  /// - Returns: `false`, with nothing changed, if an index has rows of other entities as well, or
  ///   if a deferred migration is not finished.
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

  /// Builds all rows of an entity that has none, in the order of their keys, and the empty indexes,
  /// in limited memory for any number of rows.
  ///
  /// - Parameter body: appends the rows, and collects their keys; it must read neither.
  func buildRows(
    of storage: EntityStorage, _ body: (borrowing RecordTreeBuilder) throws -> Void
  ) throws {
    let (name, number) = (storage.stored.rowTree, Int(storage.stored.number))
    if try transaction.recordTree(name) != nil { try transaction.dropTree(name) }
    if number < rowTrees.count { rowTrees[number] = nil }
    let upkeep = try indexUpkeep()
    try upkeep?.beginBuilding(of: storage)
    try beginBuildingLinks(to: storage)
    record(try transaction.buildRecordTree(name, body), storage.stored.number)
    try upkeep?.endBuilding()
    try endBuildingLinks()
  }

  /// Whether two objects have the same values of a constraint, considering only those whose values
  /// were written.
  func hasDuplicates() throws -> Bool { try firstDuplicates() != nil }

  /// The objects with the same values, of the first constraint that is broken.
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
    record(tree, stored.number)
    return tree
  }

  private func openRows(_ number: UInt16) -> MutableRecordTree? {
    Int(number) < rowTrees.count ? rowTrees[Int(number)] : nil
  }

  private func record(_ tree: MutableRecordTree, _ number: UInt16) {
    if rowTrees.count <= Int(number) {
      rowTrees += Array(repeating: nil, count: Int(number) + 1 - rowTrees.count)
    }
    rowTrees[Int(number)] = tree
  }

  /// Whether the row exists. No tree is created.
  func contains(_ reference: Reference) throws -> Bool {
    guard let storage = entities.storage(of: reference),
      let tree = try existingRows(of: storage.stored)
    else { return false }
    return try tree.contains(reference.key)
  }

  /// The version of a row in the transaction; `nil` if there is no such row.
  func version(at reference: Reference) throws -> UInt32? {
    // A save reads the version of each object that it changes, so no references are counted here.
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

  /// Calls `body` with the row in the transaction; the reader is valid within the call.
  ///
  /// - Returns: `nil` if there is no such row.
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

  /// A number of keys of an entity's rows, in order, from a key on.
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
    record(tree, stored.number)
    return tree
  }

  // MARK: Keys

  /// A key that no object of the key space has ever had.
  func takeKey(in space: UInt16) throws -> Int64 { try keys.take(in: space) }

  /// Ensures that a key is never assigned to another object.
  func recordKey(_ key: Int64, in space: UInt16) throws { try keys.record(key, in: space) }

  /// Writes the changed key counters, and the collected keys of indexes. It must be called before
  /// the transaction commits.
  func writeKeys() throws {
    if case .some(let upkeep?) = upkeep { try upkeep.writeWaiting() }
    try external.finish()
    try keys.write()
  }
}
