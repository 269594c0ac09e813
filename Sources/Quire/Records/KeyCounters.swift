import QuireStorage

/// The last key assigned in each key space, in one transaction.
struct KeyCounters {
  private let transaction: WriteTransaction
  /// By key space; filled on demand.
  private var counters: [Counter?] = []

  private struct Counter {
    var lastKey: Int64
    var isChanged = false
  }

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// A key that no object of the key space has ever had.
  mutating func take(in space: UInt16) throws -> Int64 {
    let key = try last(in: space) + 1
    guard key <= Reference.maximumKey else {
      throw PersistenceError(
        .persistentStoreSave, "the store has given all \(Reference.maximumKey) keys of an entity")
    }
    counters[Int(space)] = Counter(lastKey: key, isChanged: true)
    return key
  }

  /// Ensures that a key is never assigned to another object.
  mutating func record(_ key: Int64, in space: UInt16) throws {
    if key > (try last(in: space)) {
      counters[Int(space)] = Counter(lastKey: key, isChanged: true)
    }
  }

  mutating func last(in space: UInt16) throws -> Int64 {
    if counters.count <= Int(space) {
      counters += Array(repeating: nil, count: Int(space) + 1 - counters.count)
    }
    if let counter = counters[Int(space)] { return counter.lastKey }
    var key: Int64 = 0
    if let value = try transaction.recordTree(StoreSchema.keysTree)?.value(for: Int64(space)) {
      key = try KeyCounters.checked(value, space: Int64(space))
    }
    counters[Int(space)] = Counter(lastKey: key)
    return key
  }

  /// The last assigned key in a counter of a store.
  ///
  /// - Throws: an error if the number cannot be a key.
  static func checked(_ value: StoredValue, space: Int64) throws(PersistenceError) -> Int64 {
    guard let last = value.integer(Int64.self) else {
      throw StoreSchema.damaged(
        "has a counter of keys, that of key space \(space), without a number")
    }
    guard (0...Reference.maximumKey).contains(last) else {
      throw StoreSchema.damaged(
        "counts keys of key space \(space) up to \(last), and they end at \(Reference.maximumKey)")
    }
    return last
  }

  /// Writes the changed counters. It must be called before the transaction commits.
  mutating func write() throws {
    guard counters.contains(where: { $0?.isChanged ?? false }) else { return }
    let tree =
      try transaction.mutableRecordTree(StoreSchema.keysTree)
      ?? transaction.createRecordTree(StoreSchema.keysTree)
    for (space, counter) in counters.enumerated() {
      guard let counter, counter.isChanged else { continue }
      let bytes = withUnsafeBytes(of: counter.lastKey.littleEndian) { Array($0) }
      try tree.put(bytes, for: Int64(space))
      counters[space]?.isChanged = false
    }
  }
}
