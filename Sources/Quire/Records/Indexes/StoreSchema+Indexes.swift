import QuireModel
import QuireStorage

// The indexes in the schema. A store with indexes has an object format of its own, so that a
// version of Quire that would not update them refuses it.
extension StoreSchema {
  /// The format of a store that has indexes. On disk, for ever.
  static let formatWithIndexes: UInt32 = 3
  static let indexesKey = Array("indexes".utf8)

  /// The value of the key `indexes`; `nil` when there are none.
  var indexBytes: [UInt8]? {
    if indexes.isEmpty { return nil }
    var writer = ByteWriter()
    writer.append(lastIndexNumber)
    writer.append(UInt32(indexes.count))
    for index in indexes { index.write(to: &writer) }
    return writer.bytes
  }

  /// Writes indexes and format, and nothing else of the schema.
  func writeIndexes(to tree: MutableIndexTree) throws {
    try writeFormat(to: tree)
    if let bytes = indexBytes {
      try tree.put(bytes, for: StoreSchema.indexesKey)
    } else {
      try tree.remove(StoreSchema.indexesKey)
    }
  }

  mutating func readIndexes(in tree: IndexTree) throws {
    guard let value = try tree.value(for: StoreSchema.indexesKey) else { return }
    (lastIndexNumber, indexes) = try StoreSchema.decodeIndexes(value)
  }

  static func decodeIndexes(_ value: StoredValue) throws -> (last: UInt16, list: [StoredIndex]) {
    do throws(ByteReaderError) {
      return try value.withBytes { bytes throws(ByteReaderError) in
        var reader = ByteReader(bytes)
        let last = try reader.read(UInt16.self)
        var list: [StoredIndex] = []
        for _ in 0..<(try reader.readCount(minimumWidth: 20)) {
          let index = try StoredIndex(from: &reader)
          guard index.number <= last, !list.contains(where: { $0.number == index.number }) else {
            throw reader.failure("indexes of different numbers")
          }
          list.append(index)
        }
        guard !list.isEmpty, reader.isAtEnd else { throw reader.failure("indexes and an end") }
        return (last, list)
      }
    } catch {
      throw damaged("has unreadable indexes at byte \(error.offset): no \(error.expected)")
    }
  }

  // MARK: Other indexes

  /// The work that gives a store the indexes that its schema has.
  struct IndexChanges {
    /// Indexes whose trees are to be built.
    var added: [StoredIndex] = []
    /// Indexes whose trees are to be dropped.
    var dropped: [StoredIndex] = []

    var isEmpty: Bool { added.isEmpty && dropped.isEmpty }
  }

  /// Replaces the indexes with those of a model.
  ///
  /// - Parameter kept: an existing index whose tree a new index can use; `nil` if there is none.
  ///   Its second argument has the numbers of existing indexes that are used already.
  /// - Throws: an error if the store has no numbers left for indexes.
  @discardableResult
  mutating func takeIndexes(
    of model: ManagedObjectModel, keeping kept: (StoredIndex, [UInt16]) -> StoredIndex?
  ) throws(PersistenceError) -> IndexChanges {
    var numbers: [String: Int] = [:]
    for entity in entities { numbers[entity.name] = Int(entity.number) }
    let wanted = StoredIndex.wanted(by: model, numbers: numbers)
    if wanted.isEmpty, indexes.isEmpty { return IndexChanges() }
    var changes = IndexChanges()
    var keptNumbers: [UInt16] = []
    var list: [StoredIndex] = []
    for index in wanted {
      if let old = kept(index, keptNumbers) {
        keptNumbers.append(old.number)
        list.append(index.numbered(old.number))
      } else {
        let new = index.numbered(try takeIndexNumber())
        list.append(new)
        changes.added.append(new)
      }
    }
    changes.dropped = indexes.filter { !keptNumbers.contains($0.number) }
    indexes = list
    // Without indexes there is no tree that a reused number could confuse.
    if list.isEmpty { lastIndexNumber = 0 }
    return changes
  }

  /// Replaces the indexes with those of a model, which apart from indexes must be the store's.
  mutating func takeIndexes(
    of model: ManagedObjectModel
  ) throws(PersistenceError) -> IndexChanges {
    let old = indexes
    // Mostly the indexes are the same, in the same order.
    var next = 0
    return try takeIndexes(of: model) { index, _ in
      let position =
        old[next...].firstIndex(where: index.isSame) ?? old.firstIndex(where: index.isSame)
      guard let position else { return nil }
      next = position + 1
      return old[position]
    }
  }
}
