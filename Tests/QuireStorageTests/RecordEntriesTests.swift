import QuireStorage
import Testing

/// Entries of a leaf that are listed at once must be those that a cursor visits one by one.
@Suite struct RecordEntriesTests {
  private let store = PageStore.inMemory(pageSize: 512)

  /// Even keys; every ninth value is too long for its leaf.
  private func fill() throws {
    try store.write { transaction in
      let tree = try transaction.createRecordTree("tree")
      for key in Int64(1)...200 {
        try tree.put(Self.value(of: 2 * key), for: 2 * key)
      }
    }
  }

  private static func value(of key: Int64) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: key), count: key % 18 == 0 ? 700 : Int(key % 23))
  }

  private func tree() throws -> RecordTree {
    try #require(try store.snapshot().recordTree("tree"))
  }

  @Test(arguments: [Int64.min, 1, 2, 3, 177, 400])
  func `from wherever a cursor is, all entries that follow are listed`(start: Int64) throws {
    try fill()
    let tree = try tree()
    var cursor = tree.cursor()
    var entries: [RecordEntry] = []
    var found: [Int64] = []
    var leafCount = 0
    var isInside = try cursor.seek(to: start)
    while isInside {
      let owner = try #require(try cursor.list(&entries))
      leafCount += 1
      for entry in entries {
        found.append(entry.key)
        let value = Self.value(of: entry.key)
        if let start = entry.start {
          withExtendedLifetime(owner) {
            #expect(
              UnsafeRawBufferPointer(start: start, count: entry.byteCount).elementsEqual(value))
          }
        } else {
          #expect(try tree.value(for: entry.key)?.array == value)
          #expect(value.count == 700)
        }
      }
      #expect(try cursor.key == entries.last?.key)
      isInside = try cursor.next()
    }
    #expect(found == (1...200).map { 2 * $0 }.filter { $0 >= start })
    #expect(start > 3 || leafCount > 5)
  }

  @Test func `a leaf that may still change is not handed out`() throws {
    try fill()
    try store.write { transaction in
      try #require(try transaction.mutableRecordTree("tree")).put([1], for: 2)
      var cursor = try #require(try transaction.recordTree("tree")).cursor()
      try cursor.first()
      var entries: [RecordEntry] = []
      #expect(try cursor.list(&entries) == nil && entries.isEmpty)
      #expect(try cursor.key == 2)
      #expect(try cursor.next())
    }
  }

  @Test func `a cursor that is nowhere lists nothing`() throws {
    try fill()
    var cursor = try tree().cursor()
    var entries: [RecordEntry] = []
    #expect(throws: StorageError.self) { try cursor.list(&entries) }
  }

  @Test func `a value that is kept stays, whatever happens to its row and its snapshot`() throws {
    try fill()
    var kept: [(key: Int64, bytes: UnsafeRawBufferPointer, owner: AnyObject)] = []
    do {
      let tree = try tree()
      for key in Int64(1)...401 {
        let isThere = try tree.withKeepableValue(for: key) {
          kept.append((key, $0, $1.takeUnretainedValue()))
        }
        #expect(isThere == (key % 2 == 0 && key <= 400))
      }
    }
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("tree"))
      for key in Int64(1)...200 { try tree.put([1, 2, 3], for: 2 * key) }
      // What may still change is copied.
      var own: (bytes: UnsafeRawBufferPointer, owner: AnyObject)?
      let reading = try #require(try transaction.recordTree("tree"))
      let isThere = try reading.withKeepableValue(for: 2) {
        own = ($0, $1.takeUnretainedValue())
      }
      try tree.put([4, 5, 6], for: 2)
      let value = try #require(own)
      withExtendedLifetime(value.owner) {
        #expect(isThere && value.bytes.elementsEqual([1, 2, 3]))
      }
    }
    #expect(kept.map(\.key) == (1...200).map { 2 * $0 })
    for value in kept {
      withExtendedLifetime(value.owner) {
        #expect(value.bytes.elementsEqual(Self.value(of: value.key)), "\(value.key)")
      }
    }
  }
}
