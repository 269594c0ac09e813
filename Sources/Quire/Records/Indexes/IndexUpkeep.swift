import QuireModel
import QuireStorage

/// Keeps the indexes of rows that a transaction changes.
///
/// The keys of new rows wait until all are there or somebody looks at their tree: in order they go
/// in faster than as they come, and a tree that is not there yet is built.
final class IndexUpkeep {
  /// A class, so that a look at one copies nothing.
  private final class Item {
    let index: EntityIndex
    let filter: PartialIndexFilter?
    /// Where the index is among the store's.
    let place: Int

    init(_ index: EntityIndex, _ storage: EntityStorage, at place: Int) throws {
      self.index = index
      filter = try PartialIndexFilter(index, storage.layout)
      self.place = place
    }
  }

  private let transaction: WriteTransaction
  private let indexes: StoreIndexes
  // Private, and no call leads back here while they change.
  /// By the number of the entity, as far as they were asked for.
  @exclusivity(unchecked) private var items: [UInt16: [Item]] = [:]
  /// By the place of the index.
  @exclusivity(unchecked) private var trees: [MutableIndexTree?]
  /// By the place of the index: keys that are in no tree yet.
  @exclusivity(unchecked) private var waiting: [KeyList]
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
    trees = Array(repeating: nil, count: indexes.list.count)
    waiting = Array(repeating: KeyList(), count: indexes.list.count)
  }

  /// Puts a row into its tree and its keys into theirs.
  ///
  /// An index tree is changed only where a key differs from the one of the row before.
  ///
  /// - Parameter isNew: whether it is known that there is no row before.
  /// - Returns: whether there was a row before.
  func put(
    _ row: UnsafeRawBufferPointer, at reference: Reference, isNew: Bool,
    _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws -> Bool {
    let items = try items(of: storage)
    if items.isEmpty { return try rows.put(row, for: reference.key) }
    let isThere = try !isNew && readKeys(at: reference, items, storage, in: rows)
    try makeKeys(of: RowReader(row, layout: storage.layout), reference, items, &newKeys)
    let wasThere = try rows.put(row, for: reference.key)
    for (place, item) in items.enumerated() {
      let isChanged = !isThere || oldKeys[place].bytes != newKeys[place].bytes
      if !isThere {
        try note(newKeys[place].bytes, at: item.place)
      } else if isChanged {
        try remove(oldKeys[place], from: item.place)
        try insert(newKeys[place], into: item.place)
      }
      // Behind the end of a key that is cut another value may stand than before.
      if item.index.isUnique, isChanged || newKeys[place].isCut {
        unchecked.append(
          UniqueKey(index: item.index, key: newKeys[place].bytes, isCut: newKeys[place].isCut))
      }
    }
    return wasThere
  }

  /// Removes a row and its keys, if there is one.
  func remove(
    at reference: Reference, _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws {
    let items = try items(of: storage)
    if !items.isEmpty, try readKeys(at: reference, items, storage, in: rows) {
      for (place, item) in items.enumerated() { try remove(oldKeys[place], from: item.place) }
    }
    _ = try rows.remove(reference.key)
  }

  private func items(of storage: EntityStorage) throws -> [Item] {
    let number = storage.stored.number
    if let items = items[number] { return items }
    let new = try indexes.indexes(of: number).compactMap { index -> Item? in
      guard let place = indexes.place(of: index.number) else { return nil }
      return try Item(index, storage, at: place)
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
    try settle()
    for unique in unchecked where try isDuplicate(unique, entities) { return true }
    return false
  }

  private func isDuplicate(_ unique: UniqueKey, _ entities: StoreEntities) throws -> Bool {
    let index = unique.index.stored
    guard IndexKey.hasAllValues(index.elements, in: unique.key),
      let place = indexes.place(of: index.number), let tree = try existingTree(at: place)
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

  private func note(_ key: [UInt8], at place: Int) throws {
    if key.isEmpty { return }
    waiting[place].append(key)
    if waiting[place].byteCount >= KeyMemory.byteCount { try settle(place) }
  }

  /// Puts all keys that wait into their trees.
  func settle() throws {
    for place in waiting.indices { try settle(place) }
  }

  private func settle(_ place: Int) throws {
    if waiting[place].isEmpty { return }
    // Taken out, as an error leaves nothing to be done but to abort.
    var keys = KeyList()
    swap(&keys, &waiting[place])
    keys.sort()
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if let tree = try existingTree(at: place) {
      try keys.forEach { _ = try tree.put(nothing, for: $0) }
    } else {
      trees[place] = try transaction.buildIndexTree(indexes.list[place].tree) { builder in
        try keys.forEach { try builder.append(nothing, for: $0) }
      }
    }
    keys.removeAll()
    swap(&keys, &waiting[place])
  }

  private func insert(_ key: IndexKeyWriter, into place: Int) throws {
    if key.bytes.isEmpty { return }
    let tree =
      try existingTree(at: place) ?? transaction.createIndexTree(indexes.list[place].tree)
    trees[place] = tree
    try key.bytes.withUnsafeBytes {
      _ = try tree.put(UnsafeRawBufferPointer(start: nil, count: 0), for: $0)
    }
  }

  private func remove(_ key: IndexKeyWriter, from place: Int) throws {
    guard !key.bytes.isEmpty, let tree = try existingTree(at: place) else { return }
    try tree.remove(key.bytes)
  }

  private func existingTree(at place: Int) throws -> MutableIndexTree? {
    try settle(place)
    if let tree = trees[place] { return tree }
    guard let tree = try transaction.mutableIndexTree(indexes.list[place].tree) else { return nil }
    trees[place] = tree
    return tree
  }
}
