import QuireStorage

// Checks of constraints for added keys.
extension IndexUpkeep {
  /// The objects with the same values of a constraint, among those whose values were added. It is
  /// called when all rows are written, as a value may exist twice in between.
  ///
  /// - Returns: the objects of the first constraint that is broken, in the order of their
  ///   references; `nil` if none is.
  func firstDuplicates(
    _ entities: StoreEntities
  ) throws -> (index: StoredIndex, objects: [Reference])? {
    defer { unchecked = [] }
    try writeWaiting()
    for unique in unchecked {
      let objects = try duplicates(unique, entities)
      if objects.count > 1 { return (unique.index.stored, objects) }
    }
    return nil
  }

  private func duplicates(_ unique: UniqueKey, _ entities: StoreEntities) throws -> [Reference] {
    let index = unique.index.stored
    guard IndexKey.hasAllValues(index.elements, in: unique.key),
      let position = indexes.position(of: index.number), let tree = try existingTree(at: position)
    else { return [] }
    let values = Array(unique.key.dropLast(IndexKey.referenceByteCount))
    var keys: [[UInt8]] = []
    var entries = tree.entries(withPrefix: values)
    while try entries.next() { keys.append(Array(try entries.key)) }
    // The row may have been changed again, or removed.
    guard keys.count > 1, keys.contains(unique.key) else { return [] }
    func references(_ keys: [[UInt8]]) -> [Reference] {
      keys.compactMap { key in key.withUnsafeBytes { IndexKey.reference(of: $0) } }.sorted()
    }
    if !unique.isCut { return references(keys) }
    var keysByValue: [[UInt8]: [[UInt8]]] = [:]
    for key in keys {
      guard let whole = try wholeKey(key, index, entities) else { continue }
      keysByValue[whole, default: []].append(key)
    }
    let groups = keysByValue.values.filter { $0.count > 1 }.map(references)
    return groups.min { $0[0] < $1[0] } ?? []
  }

  /// - Returns: `nil` if a value is absent: a constraint does not apply then.
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
}
