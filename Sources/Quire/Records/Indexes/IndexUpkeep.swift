import QuireModel
import QuireStorage

/// Keeps indexes up to date with the rows that a transaction changes.
///
/// The keys of new rows, and of removed ones, are collected until the transaction is complete or
/// their tree is read. Inserted or removed in order they take less time than one by one, and a tree
/// that does not exist yet is built from the bottom.
final class IndexUpkeep {
  let transaction: WriteTransaction
  let indexes: StoreIndexes
  /// By the number of the entity; filled on demand.
  private var items: [UInt16: [Item]] = [:]
  /// By the position of the index.
  private var trees: [MutableIndexTree?]
  /// By the position of the index: keys that are not in their tree yet.
  private let waiting: [KeyList]
  /// By the position of the index: keys to be removed from their tree, before those that wait are
  /// inserted.
  private let leaving: [KeyList]
  private let waitingLimit = KeyMemory.byteCount
  /// By the position of the index: a sorter for more keys than are kept in memory, for a tree that
  /// does not exist yet.
  private var building: [KeySorter?]
  private var oldKeys: [IndexKeyWriter] = []
  private var newKeys: [IndexKeyWriter] = []
  let scratch = RowScratch()
  /// The added keys of constraints, still to be checked.
  var unchecked: [UniqueKey] = []

  struct UniqueKey {
    let index: EntityIndex
    let key: [UInt8]
    let isCut: Bool
  }

  /// - Returns: `nil` if the store has no indexes.
  init?(_ transaction: WriteTransaction, _ entities: StoreEntities) throws {
    indexes = try entities.indexes(in: transaction)
    if indexes.isEmpty { return nil }
    self.transaction = transaction
    trees = Array(repeating: nil, count: indexes.list.count)
    building = Array(repeating: nil, count: indexes.list.count)
    waiting = indexes.list.map { _ in KeyList() }
    leaving = indexes.list.map { _ in KeyList() }
  }

  /// Puts a row into its tree, and its keys into the trees of the indexes.
  ///
  /// An index tree is changed only if the key differs from that of the former row.
  ///
  /// - Parameter isNew: whether it is known that there is no former row.
  /// - Returns: whether there was a former row.
  func put(
    _ row: UnsafeRawBufferPointer, at reference: Reference, isNew: Bool,
    _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws -> Bool {
    let items = try items(of: storage)
    if items.isEmpty { return try rows.put(row, for: reference.key) }
    let isThere = try !isNew && readKeys(at: reference, items, storage, in: rows)
    try makeKeys(of: RowReader(row, layout: storage.layout), reference, items, &newKeys)
    let wasThere = try rows.put(row, for: reference.key)
    for (number, item) in items.enumerated() {
      let isChanged = !isThere || oldKeys[number].bytes != newKeys[number].bytes
      if !isThere {
        try record(newKeys[number].bytes, at: item.position)
      } else if isChanged {
        try remove(oldKeys[number], from: item.position)
        try insert(newKeys[number], into: item.position)
      }
      // The value of a cut key may have changed after the end of the key.
      if item.index.isUnique, isChanged || newKeys[number].isCut {
        unchecked.append(
          UniqueKey(index: item.index, key: newKeys[number].bytes, isCut: newKeys[number].isCut))
      }
    }
    return wasThere
  }

  /// Collects the keys of a new row that is put into its tree by other means, under a free key.
  ///
  /// - Parameters:
  ///   - items: the indexes of the row's entity.
  ///   - isUnchecked: whether constraints are checked by other means.
  func record(
    _ row: UnsafeRawBufferPointer, at reference: Reference, _ items: [Item], _ layout: RowLayout,
    isUnchecked: Bool = false
  ) throws {
    guard let start = row.baseAddress else { return }
    for item in Uncounted(items) {
      let isAppended = item._withUnsafeGuaranteedRef { item in
        item.append(start, reference, to: item.waiting)
      }
      if isAppended {
        let isFull = item._withUnsafeGuaranteedRef { $0.waiting.byteCount >= waitingLimit }
        if isFull { try writeWaiting(item._withUnsafeGuaranteedRef { $0.position }) }
        continue
      }
      let item = item.takeUnretainedValue()
      let reader = RowReader(checked: row, layout)
      if let filter = item.filter, try !filter.includes(reader) { continue }
      newKeys[0].removeAll()
      try item.index.appendElements(of: reader, to: &newKeys[0])
      newKeys[0].append(reference)
      if item.index.isUnique, !isUnchecked {
        unchecked.append(
          UniqueKey(index: item.index, key: newKeys[0].bytes, isCut: newKeys[0].isCut))
      }
      try record(newKeys[0].bytes, at: item.position)
    }
  }

  /// Whether a change of some slots may change keys of an entity's rows.
  func dependsOn(_ slots: SlotSet, _ storage: EntityStorage) throws -> Bool {
    try items(of: storage).contains { item in
      item.filter != nil
        || item.index.fields.contains { slots.contains(storage.slotByField[$0]) }
    }
  }

  /// Removes rows of an entity and their keys, if they exist.
  ///
  /// - Parameter run: keys of rows, ascending; a moderate number.
  func remove(
    run: UnsafeBufferPointer<Int64>, _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws {
    let items = try items(of: storage)
    // Waiting keys go in first, as the rows to be removed may have some of them.
    for item in items where !waiting[item.position].isEmpty { try writeWaiting(item.position) }
    let shape = storage.shape
    try rows.remove(run: run) { key, row in
      let reference = Reference(entity: storage.stored.number, key: key)
      guard let start = row.baseAddress else { return }
      let isRight = shape.isRight(start, row.count)
      for item in items {
        if isRight, item.append(start, reference, to: leaving[item.position]) { continue }
        let reader = try RowReader(row, layout: storage.layout, scratch)
        if let filter = item.filter, try !filter.includes(reader) { continue }
        oldKeys[0].removeAll()
        try item.index.appendElements(of: reader, to: &oldKeys[0])
        oldKeys[0].append(reference)
        leaving[item.position].append(oldKeys[0].bytes)
      }
    }
    for item in items where leaving[item.position].byteCount >= waitingLimit {
      try writeWaiting(item.position)
    }
  }

  /// Removes all keys of an entity's rows.
  ///
  /// - Returns: `false`, with nothing changed, if an index has rows of other entities as well.
  func removeAll(of storage: EntityStorage) throws -> Bool {
    let items = try items(of: storage)
    guard items.allSatisfy({ $0.index.stored.entities == [storage.stored.number] }) else {
      return false
    }
    for item in items { try existingTree(at: item.position)?.removeAll() }
    return true
  }

  func items(of storage: EntityStorage) throws -> [Item] {
    let number = storage.stored.number
    if let items = items[number] { return items }
    let new = try indexes.indexes(of: number).compactMap { index -> Item? in
      guard let position = indexes.position(of: index.number) else { return nil }
      return try Item(index, storage, at: position, waiting[position])
    }
    items[number] = new
    while newKeys.count < new.count {
      oldKeys.append(IndexKeyWriter())
      newKeys.append(IndexKeyWriter())
    }
    return new
  }

  /// Makes the keys of the row in the tree; empty ones if there is no row.
  ///
  /// - Returns: whether there is a row.
  private func readKeys(
    at reference: Reference, _ items: [Item], _ storage: EntityStorage, in rows: MutableRecordTree
  ) throws -> Bool {
    for number in items.indices { oldKeys[number].removeAll() }
    let found: Void? = try rows.withValue(for: reference.key) { bytes in
      let row = try RowReader(bytes, layout: storage.layout, scratch)
      try makeKeys(of: row, reference, items, &oldKeys)
    }
    return found != nil
  }

  private func makeKeys(
    of row: RowReader, _ reference: Reference, _ items: [Item], _ keys: inout [IndexKeyWriter]
  ) throws {
    for (number, item) in items.enumerated() {
      keys[number].removeAll()
      if let filter = item.filter, try !filter.includes(row) { continue }
      try item.index.appendElements(of: row, to: &keys[number])
      keys[number].append(reference)
    }
  }

  // MARK: Trees

  /// Collects any number of keys of an entity's new rows, in sorted runs, until ``endBuilding()``:
  /// for trees that do not exist yet, and that are not read before.
  ///
  /// Otherwise a tree would be built from the first keys and then get the others in runs. Each run
  /// would change most of its pages, all of which the transaction keeps in memory.
  func beginBuilding(of storage: EntityStorage) throws {
    for item in try items(of: storage) where waiting[item.position].isEmpty {
      guard try openTree(at: item.position) == nil else { continue }
      let tree = indexes.list[item.position].tree
      building[item.position] = KeySorter(transaction, tree + "/run")
    }
  }

  /// Builds the trees of the collected keys.
  func endBuilding() throws {
    for position in building.indices {
      guard let sorter = building[position] else { continue }
      building[position] = nil
      if sorter.isEmpty { continue }
      try sorter.take(waiting[position])
      try sorter.build(indexes.list[position].tree)
    }
  }

  private func record(_ key: [UInt8], at position: Int) throws {
    if key.isEmpty { return }
    waiting[position].append(key)
    if waiting[position].byteCount >= waitingLimit { try writeWaiting(position) }
  }

  /// Removes all keys to be removed from their trees, and inserts those that wait.
  func writeWaiting() throws {
    for position in waiting.indices { try writeWaiting(position) }
  }

  private func writeWaiting(_ position: Int) throws {
    try removeLeaving(position)
    if waiting[position].isEmpty { return }
    if let building = building[position] { return try building.take(waiting[position]) }
    // After an error the transaction can only be aborted.
    let keys = waiting[position]
    keys.sort()
    defer { keys.removeAll() }
    if let tree = try openTree(at: position) {
      try keys.forEachRun { try tree.put(run: $0) }
    } else {
      trees[position] = try transaction.buildIndexTree(indexes.list[position].tree) { builder in
        var next = 0
        try builder.append(keys: {
          guard next < keys.count else { return nil }
          defer { next += 1 }
          return keys[next]
        })
      }
    }
  }

  private func removeLeaving(_ position: Int) throws {
    let keys = leaving[position]
    if keys.isEmpty { return }
    keys.sort()
    defer { keys.removeAll() }
    if let tree = try openTree(at: position) { try keys.forEachRun { try tree.remove(run: $0) } }
  }

  private func insert(_ key: IndexKeyWriter, into position: Int) throws {
    if key.bytes.isEmpty { return }
    let tree =
      try existingTree(at: position) ?? transaction.createIndexTree(indexes.list[position].tree)
    trees[position] = tree
    try key.bytes.withUnsafeBytes {
      _ = try tree.put(UnsafeRawBufferPointer(start: nil, count: 0), for: $0)
    }
  }

  private func remove(_ key: IndexKeyWriter, from position: Int) throws {
    guard !key.bytes.isEmpty, let tree = try existingTree(at: position) else { return }
    try tree.remove(key.bytes)
  }

  func existingTree(at position: Int) throws -> MutableIndexTree? {
    try writeWaiting(position)
    return try openTree(at: position)
  }

  /// The tree without the keys that wait and without those to be removed.
  func treeWithoutWaiting(at position: Int) throws -> MutableIndexTree? {
    try removeLeaving(position)
    return try openTree(at: position)
  }

  /// The tree without the keys that wait, but still with those to be removed.
  func openTree(at position: Int) throws -> MutableIndexTree? {
    if let tree = trees[position] { return tree }
    guard let tree = try transaction.mutableIndexTree(indexes.list[position].tree) else {
      return nil
    }
    trees[position] = tree
    return tree
  }
}
