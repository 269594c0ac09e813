import QuireStorage

extension StoreInspection {
  /// Compares an index with the rows: it must have the key of every row that belongs to it, and no
  /// other key.
  mutating func inspectIndex(_ index: StoredIndex, _ view: StoreView) throws {
    let tree = try view.snapshot.indexTree(index.tree)
    var keyCount = 0
    for number in index.entities {
      guard let storage = view.entities.storage(number: number) else { continue }
      keyCount += try inspectKeys(of: EntityIndex(index, storage), storage, tree, view)
    }
    if index.kind == .unique, let tree {
      var search = DuplicateSearch(index, view.snapshot, view.entities)
      var last: [UInt8]?
      var entries = tree.entries()
      while try entries.next() {
        let key = Array(try entries.key)
        if let last, let (first, second) = try search.duplicates(last, key) {
          findings.append(
            "\(search.name(of: first)) and \(search.name(of: second)) have the same \(index.name), "
              + "which is unique in \(index.entityName)")
        }
        last = key
      }
    }
    if let tree, tree.count > keyCount {
      findings.append(
        "the index \(index.title) has \(tree.count) keys, \(tree.count - keyCount) of which belong "
          + "to no row")
    }
  }

  /// - Returns: the number of keys of rows in the index.
  private mutating func inspectKeys(
    of index: EntityIndex, _ storage: EntityStorage, _ tree: IndexTree?, _ view: StoreView
  ) throws -> Int {
    guard let rows = try view.rows(of: storage) else { return 0 }
    let filter = try PartialIndexFilter(index, storage.layout)
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var key = IndexKeyWriter()
    var count = 0
    var cursor = rows.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: storage.stored.number, key: try cursor.key)
      do {
        let row = try RowReader(try cursor.valueBytes, layout: storage.layout, scratch)
        if try filter?.includes(row) ?? true {
          key.removeAll()
          try index.appendElements(of: row, to: &key)
          key.append(reference)
          if try tree?.contains(key.bytes) ?? false {
            count += 1
          } else {
            findings.append(
              "\(storage.stored.name)/p\(reference.key) is missing in the index "
                + index.stored.title)
          }
        }
      } catch is RowError {
        // Unreadable rows are reported by the inspection of rows.
      }
      isInside = try cursor.next()
    }
    return count
  }
}
