import QuireModel
import QuireStorage

/// Keeps the indexes of rows that a transaction changes.
final class IndexUpkeep {
  private struct Item {
    let index: EntityIndex
    let filter: PartialIndexFilter?
  }

  private let transaction: WriteTransaction
  private let indexes: StoreIndexes
  // Private, and no call leads back here while they change.
  /// By the number of the entity, as far as they were asked for.
  @exclusivity(unchecked) private var items: [UInt16: [Item]] = [:]
  /// By the number of the index.
  @exclusivity(unchecked) private var trees: [UInt16: MutableIndexTree] = [:]
  @exclusivity(unchecked) private var oldKeys: [IndexKeyWriter] = []
  @exclusivity(unchecked) private var newKeys: [IndexKeyWriter] = []
  private let scratch = RowScratch()
  /// The keys of constraints that came.
  @exclusivity(unchecked) private var unchecked: [UniqueKey] = []

  private struct UniqueKey {
    let index: EntityIndex
    let key: [UInt8]
    let isCut: Bool
  }

  /// - Returns: `nil` when the store has no indexes.
  init?(_ transaction: WriteTransaction, _ entities: StoreEntities) throws {
    indexes = try entities.indexes(in: transaction)
    if indexes.isEmpty { return nil }
    self.transaction = transaction
  }

  /// Puts a row into its tree and its keys into theirs.
  ///
  /// An index tree is changed only where a key differs from the one of the row before.
  ///
  /// - Returns: whether there was a row before.
  func put(
    _ row: UnsafeRawBufferPointer, at reference: Reference, _ storage: EntityStorage,
    in rows: MutableRecordTree
  ) throws -> Bool {
    let items = try items(of: storage)
    if items.isEmpty { return try rows.put(row, for: reference.key) }
    let isThere = try readKeys(at: reference, items, storage, in: rows)
    try makeKeys(of: RowReader(row, layout: storage.layout), reference, items, &newKeys)
    try rows.put(row, for: reference.key)
    for place in items.indices {
      let index = items[place].index
      let isChanged = oldKeys[place].bytes != newKeys[place].bytes
      if isChanged {
        try remove(oldKeys[place], from: index)
        try insert(newKeys[place], into: index)
      }
      // Behind the end of a key that is cut another value may stand than before.
      if index.isUnique, isChanged || newKeys[place].isCut {
        unchecked.append(
          UniqueKey(index: index, key: newKeys[place].bytes, isCut: newKeys[place].isCut))
      }
    }
    return isThere
  }

  /// Removes a row and its keys, if there is one.
  func remove(
    at reference: Reference, _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws {
    let items = try items(of: storage)
    if !items.isEmpty, try readKeys(at: reference, items, storage, in: rows) {
      for (place, item) in items.enumerated() {
        try remove(oldKeys[place], from: item.index)
      }
    }
    _ = try rows.remove(reference.key)
  }

  private func items(of storage: EntityStorage) throws -> [Item] {
    let number = storage.stored.number
    if let items = items[number] { return items }
    let new = try indexes.indexes(of: number).map {
      Item(index: $0, filter: try PartialIndexFilter($0, storage.layout))
    }
    items[number] = new
    while newKeys.count < new.count {
      oldKeys.append(IndexKeyWriter())
      newKeys.append(IndexKeyWriter())
    }
    return new
  }

  /// Makes the keys of the row that the tree has; none when it has none.
  ///
  /// - Returns: whether there is a row.
  private func readKeys(
    at reference: Reference, _ items: [Item], _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws -> Bool {
    for place in items.indices { oldKeys[place].removeAll() }
    let found: Void? = try rows.withValue(for: reference.key) { bytes in
      let row = try RowReader(bytes, layout: storage.layout, scratch)
      try makeKeys(of: row, reference, items, &oldKeys)
    }
    return found != nil
  }

  private func makeKeys(
    of row: RowReader, _ reference: Reference, _ items: [Item], _ keys: inout [IndexKeyWriter]
  ) throws {
    for (place, item) in items.enumerated() {
      keys[place].removeAll()
      if let filter = item.filter, try !filter.includes(row) { continue }
      try item.index.appendElements(of: row, to: &keys[place])
      keys[place].append(reference)
    }
  }

  // MARK: Constraints

  /// Whether two objects have the values of one constraint, among those whose values came: to be
  /// asked when all rows are written, as what is there twice meanwhile may not be in the end.
  func hasDuplicates(_ entities: StoreEntities) throws -> Bool {
    defer { unchecked = [] }
    for unique in unchecked where try isDuplicate(unique, entities) { return true }
    return false
  }

  private func isDuplicate(_ unique: UniqueKey, _ entities: StoreEntities) throws -> Bool {
    let index = unique.index.stored
    guard IndexKey.hasAllValues(index.elements, in: unique.key),
      let tree = try existingTree(of: unique.index)
    else { return false }
    let values = Array(unique.key.dropLast(IndexKey.referenceByteCount))
    var keys: [[UInt8]] = []
    var entries = tree.entries(withPrefix: values)
    while try entries.next() { keys.append(Array(try entries.key)) }
    // The row may have changed again, or be gone.
    guard keys.count > 1, keys.contains(unique.key) else { return false }
    if !unique.isCut { return true }
    var wholeKeys: Set<[UInt8]> = []
    for key in keys {
      guard let whole = try wholeKey(key, index, entities) else { continue }
      if !wholeKeys.insert(whole).inserted { return true }
    }
    return false
  }

  /// - Returns: `nil` when a value is absent, which no constraint minds.
  private func wholeKey(
    _ key: [UInt8], _ index: StoredIndex, _ entities: StoreEntities
  ) throws -> [UInt8]? {
    guard let reference = key.withUnsafeBytes({ IndexKey.reference(of: $0) }),
      let storage = entities.storage(of: reference),
      let item = try items(of: storage).first(where: { $0.index.stored.number == index.number })
    else { return nil }
    let rows = try transaction.recordTree(storage.stored.rowTree)
    return try rows?.withValue(for: reference.key) { bytes -> [UInt8]? in
      let row = try RowReader(bytes, layout: storage.layout, scratch)
      return try item.index.hasAllValues(row) ? try item.index.wholeKey(of: row) : nil
    } ?? nil
  }

  // MARK: Trees

  private func insert(_ key: IndexKeyWriter, into index: EntityIndex) throws {
    if key.bytes.isEmpty { return }
    let tree = try existingTree(of: index) ?? transaction.createIndexTree(index.stored.tree)
    trees[index.number] = tree
    try key.bytes.withUnsafeBytes {
      _ = try tree.put(UnsafeRawBufferPointer(start: nil, count: 0), for: $0)
    }
  }

  private func remove(_ key: IndexKeyWriter, from index: EntityIndex) throws {
    guard !key.bytes.isEmpty, let tree = try existingTree(of: index) else { return }
    try tree.remove(key.bytes)
  }

  private func existingTree(of index: EntityIndex) throws -> MutableIndexTree? {
    if let tree = trees[index.number] { return tree }
    guard let tree = try transaction.mutableIndexTree(index.stored.tree) else { return nil }
    trees[index.number] = tree
    return tree
  }
}
