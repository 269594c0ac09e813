import QuireSimulation
import QuireStorage
import Testing

/// Transactions that change more pages than they may have in memory: the pages go to the file, and
/// everything is as in a transaction that has room.
@Suite("Large transactions")
struct LargeTransactionTests {
  private static let pageSize = 512
  private static let limit = 40 * pageSize

  private func open(
    _ files: any FileSystem = MemoryFileSystem(),
    _ change: (inout PageStoreOptions) -> Void = { _ in }
  ) throws -> PageStore {
    var options = PageStoreOptions()
    options.pageSize = Self.pageSize
    options.cacheByteLimit = 64 * Self.pageSize
    options.transactionByteLimit = Self.limit
    options.checkpointsInBackground = false
    change(&options)
    return try PageStore.open("store", options: options, in: files)
  }

  private func value(_ key: Int, _ version: Int, byteCount: Int = 60) -> [UInt8] {
    Step.value(key: key, byteCount: byteCount, version: version)
  }

  private func indexKey(_ key: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(key &* 2_654_435_761 & 0xffff_ffff).bigEndian) { Array($0) }
      + Array("key \(key)".utf8)
  }

  /// Changes every record, and puts as many keys into an index in no order.
  private func fill(
    _ transaction: WriteTransaction, _ keys: Range<Int>, version: Int
  ) throws {
    let records =
      try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
    let index = try transaction.mutableIndexTree("index") ?? transaction.createIndexTree("index")
    for key in keys {
      try records.put(value(key, version), for: Int64(key))
      try index.put(value(key, version, byteCount: 9), for: indexKey(key))
    }
  }

  private func expect(
    _ keys: Range<Int>, version: Int, in snapshot: Snapshot,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let records = try #require(try snapshot.recordTree("records"))
    let index = try #require(try snapshot.indexTree("index"))
    #expect(records.count == keys.count && index.count == keys.count)
    let wrong = try keys.filter { key in
      try records.value(for: Int64(key))?.array != value(key, version)
        || index.value(for: indexKey(key))?.array != value(key, version, byteCount: 9)
    }
    #expect(wrong == [], "keys with other values", sourceLocation: sourceLocation)
  }

  @Test func `change as much as they like, in the memory that they may have`() throws {
    let files = MemoryFileSystem()
    var store = try open(files)
    try store.write { try fill($0, 0..<2_000, version: 1) }
    let held = try store.snapshot()
    for version in 2...4 {
      try store.write { try fill($0, 0..<2_000, version: version) }
      let pageCount = store.statistics.pageCount
      #expect(pageCount * Self.pageSize > 10 * Self.limit)
      // What a commit leaves in memory, and writes into the log: not the leaves that were changed
      // since the last time that pages went to the file.
      #expect(store.statistics.changedByteCount <= Self.limit / 2)
      #expect(store.statistics.logByteCount < Self.limit)
      try expect(0..<2_000, version: version, in: try store.snapshot())
    }
    try expect(0..<2_000, version: 1, in: held)
    #expect(try store.check().isSound)
    try store.close()
    store = try open(files)
    try expect(0..<2_000, version: 4, in: try store.snapshot())
    #expect(try store.check().isSound)
  }

  // Each needs room for what it moves; what the one before it has left behind is such room.
  @Test(arguments: [Durability.full, .ordered, .none])
  func `use the same room again, one after the other`(durability: Durability) throws {
    let files = MemoryFileSystem()
    var store = try open(files) { $0.durability = durability }
    try store.write { try fill($0, 0..<1_000, version: 0) }
    let pageCount = store.statistics.pageCount
    for version in 1...8 {
      if version % 3 == 0 {
        try store.close()
        store = try open(files) { $0.durability = durability }
      }
      try store.write { transaction in
        try fill(transaction, 0..<1_000, version: version)
        let records = try #require(try transaction.mutableRecordTree("records"))
        try records.put(value(1, version, byteCount: 40_000), for: 1)
        try records.put(value(1, version), for: 1)
      }
      try expect(0..<1_000, version: version, in: try store.snapshot())
      #expect(try store.check().isSound)
    }
    #expect(store.statistics.pageCount < 3 * pageCount)
    // But not what a snapshot shows.
    let held = try store.snapshot()
    for version in 9...11 { try store.write { try fill($0, 0..<1_000, version: version) } }
    try expect(0..<1_000, version: 8, in: held)
    try expect(0..<1_000, version: 11, in: try store.snapshot())
    #expect(try store.check().isSound)
  }

  @Test func `show their own changes, wherever these are`() throws {
    let store = try open()
    try store.write { try fill($0, 0..<800, version: 1) }
    try store.write { transaction in
      try fill(transaction, 0..<1_500, version: 2)
      let records = try #require(try transaction.mutableRecordTree("records"))
      let index = try #require(try transaction.mutableIndexTree("index"))
      for key in 0..<1_500 {
        #expect(try records.value(for: Int64(key))?.array == value(key, 2))
        #expect(try index.contains(indexKey(key)))
      }
      for key in stride(from: 0, to: 1_500, by: 2) {
        #expect(try records.remove(Int64(key)) && index.remove(indexKey(key)))
      }
      #expect(records.count == 750 && index.count == 750)
    }
    let records = try #require(try store.snapshot().recordTree("records"))
    for key in 0..<1_500 { #expect(try records.contains(Int64(key)) == (key % 2 == 1)) }
    #expect(try store.check().isSound)
  }

  // The pages on the way down to the cursor's place have other numbers after a while.
  @Test(arguments: [true, false])
  func `do not disturb a cursor in another tree`(isForward: Bool) throws {
    let store = try open()
    try store.write { try fill($0, 0..<1_000, version: 1) }
    try store.write { transaction in
      let records = try #require(try transaction.mutableRecordTree("records"))
      let index = try #require(try transaction.mutableIndexTree("index"))
      let other = try transaction.createRecordTree("other")
      // Every leaf is the transaction's own: whichever has to go, one of these goes.
      for key in 0..<1_000 { try records.put(value(key, 2), for: Int64(key)) }
      for key in 0..<1_000 { try index.put(value(key, 2, byteCount: 9), for: indexKey(key)) }
      var cursor = records.cursor()
      var keys = index.cursor()
      var seen: [Int64] = []
      var seenKeys = 0
      while try isForward ? cursor.next() : cursor.previous() {
        let key = try cursor.key
        seen.append(key)
        #expect(try cursor.storedValue().array == value(Int(key), 2))
        seenKeys += try (isForward ? keys.next() : keys.previous()) ? 1 : 0
        for copy in 0..<4 { try other.put(value(copy, 3), for: Int64(copy) << 32 | key) }
      }
      #expect(seen == (isForward ? Array(0..<1_000) : Array(0..<1_000).reversed()))
      #expect(seenKeys == 1_000)
    }
    #expect(try store.check().isSound)
  }

  @Test func `do not disturb a visit of an index that makes changes elsewhere`() throws {
    let store = try open()
    try store.write { try fill($0, 0..<1_000, version: 1) }
    try store.write { transaction in
      let index = try #require(try transaction.mutableIndexTree("index"))
      let other = try transaction.createRecordTree("other")
      for key in 0..<1_000 { try index.put(value(key, 2, byteCount: 9), for: indexKey(key)) }
      var seen: [[UInt8]] = []
      try index.reading.visitKeys(from: .init(start: nil, count: 0)) { key in
        seen.append(Array(key))
        for copy in 0..<4 {
          try other.put(value(copy, 3), for: Int64(seen.count) << 8 | Int64(copy))
        }
        return true
      }
      #expect(seen == (0..<1_000).map(indexKey).sorted { $0.lexicographicallyPrecedes($1) })
    }
    #expect(try store.check().isSound)
  }

  @Test func `append behind a leaf that has gone to the file`() throws {
    let store = try open()
    try store.write { transaction in
      let records = try transaction.createRecordTree("records")
      let other = try transaction.createIndexTree("other")
      let appender = records.appender()
      for key in 0..<2_000 {
        let wasThere = try value(key, 1, byteCount: 20).withUnsafeBytes {
          try appender.put($0, for: Int64(key))
        }
        #expect(!wasThere)
        try other.put([], for: indexKey(key))
      }
    }
    let records = try #require(try store.snapshot().recordTree("records"))
    #expect(records.count == 2_000)
    for key in 0..<2_000 {
      #expect(try records.value(for: Int64(key))?.array == value(key, 1, byteCount: 20))
    }
    #expect(try store.check().isSound)
  }

  @Test func `take long values, which need none of their memory`() throws {
    let store = try open()
    try store.write { transaction in
      let records = try transaction.createRecordTree("records")
      for key in 0..<60 {
        try records.put(value(key, 1, byteCount: 3_000 + 40 * key), for: Int64(key))
      }
      for key in 0..<60 where key % 3 == 0 {
        try records.put(value(key, 2, byteCount: 2_000), for: Int64(key))
      }
      for key in 0..<60 {
        let expected =
          key % 3 == 0
          ? value(key, 2, byteCount: 2_000) : value(key, 1, byteCount: 3_000 + 40 * key)
        #expect(try records.value(for: Int64(key))?.array == expected)
      }
    }
    #expect(store.statistics.changedByteCount < 2 * Self.limit)
    #expect(try store.check().isSound)
  }

  @Test func `build trees beside others in the memory that they may have`() throws {
    let store = try open()
    try store.write { transaction in
      for number in 0..<12 {
        try transaction.buildRecordTree("tree \(number)") { builder in
          for key in 0..<200 { try builder.append(value(key, number), for: Int64(key)) }
        }
      }
    }
    #expect(store.statistics.changedByteCount < 2 * Self.limit)
    for number in 0..<12 {
      let tree = try #require(try store.snapshot().recordTree("tree \(number)"))
      #expect(try tree.value(for: 199)?.array == value(199, number))
    }
    #expect(try store.check().isSound)
  }

  /// When the removal itself was too much, a page of the dropped tree was taken for a node of it.
  @Test func `drop and rename trees, however full their memory is`() throws {
    for count in 150..<230 {
      let store = try open()
      try store.write { transaction in
        try fill(transaction, 0..<300, version: 1)
        for name in ["gone", "kept"] {
          let records = try transaction.createRecordTree("\(name) records")
          for key in 0..<20 { try records.put(value(key, 1), for: Int64(key)) }
          try transaction.createIndexTree("\(name) index")
        }
      }
      try store.write { transaction in
        // The catalog is changed by the first removal.
        try fill(transaction, 0..<count, version: 2)
        try transaction.dropTree("gone index")
        try fill(transaction, count..<300, version: 2)
        try transaction.dropTree("gone records")
        try transaction.renameTree("kept records", to: "gone records")
      }
      let snapshot = try store.snapshot()
      #expect(
        try snapshot.treeNames().map(\.name) == ["gone records", "index", "kept index", "records"])
      #expect(try snapshot.recordTree("gone records")?.count == 20)
      try expect(0..<300, version: 2, in: snapshot)
      #expect(try store.check().findings == [], "\(count)")
      try store.close()
    }
  }

  @Test func `change nothing if they are given up, and go on afterwards`() throws {
    let files = MemoryFileSystem()
    let store = try open(files)
    try store.write { try fill($0, 0..<900, version: 1) }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write {
        try fill($0, 0..<1_500, version: 2)
        throw Stop()
      }
    }
    try expect(0..<900, version: 1, in: try store.snapshot())
    #expect(try store.check().isSound)
    try store.write { try fill($0, 0..<900, version: 3) }
    try expect(0..<900, version: 3, in: try store.snapshot())
    #expect(try store.check().isSound)
  }

  @Test func `change nothing if the disk is full, and go on when it is not`() throws {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try store.write { try fill($0, 0..<300, version: 1) }
    try store.checkpoint()
    var room = 0
    while true {
      disk.limit(to: disk.state.byteCount + room)
      do {
        try store.write { try fill($0, 0..<300, version: 2) }
        break
      } catch StorageError.noSpaceLeft {
        try expect(0..<300, version: 1, in: try store.snapshot())
      }
      room += 4 * Self.limit
    }
    #expect(room > 0)
    disk.heal()
    try expect(0..<300, version: 2, in: try store.snapshot())
    #expect(try store.check().isSound)
  }

  /// They looked for free pages up to the end of the longer version, where this one has no maps, so
  /// that a sound store was said to be damaged.
  @Test(arguments: [60, 45_000])
  func `use the free pages of a store that was longer, which a held snapshot shows no more`(
    byteCount: Int
  ) throws {
    let store = try open { $0.retainedByteLimit = 0 }
    // Free pages in two places, neither of which has room for a long value.
    let counts = [("first", 600), ("second", 600), ("third", 600), ("fourth", 9), ("last", 6_000)]
    for (name, count) in counts {
      try store.write { transaction in
        let tree = try transaction.createRecordTree(name)
        for key in 0..<count { try tree.put(value(key, 1), for: Int64(key)) }
      }
    }
    let snapshot = try store.snapshot()
    for name in ["last", "third", "first"] { try store.write { try $0.dropTree(name) } }
    #expect(throws: StorageError.self) { try snapshot.treeNames() }
    try store.checkpoint()
    let pageCount = store.statistics.pageCount
    let keys = 0..<(120_000 / byteCount)
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("second"))
      for key in keys { try tree.put(value(key, 2, byteCount: byteCount), for: Int64(key)) }
    }
    #expect(store.statistics.pageCount > pageCount)
    let tree = try #require(try store.snapshot().recordTree("second"))
    for key in keys {
      #expect(try tree.value(for: Int64(key))?.array == value(key, 2, byteCount: byteCount))
    }
    #expect(try store.check().isSound)
    withExtendedLifetime(snapshot) {}
  }

  @Test func `are the same whether pages went to the file or not`() throws {
    let steps: [Step] = [
      .put(.records, keys: 0..<400, byteCount: 50, version: 1),
      .put(.index, keys: 0..<400, byteCount: 20, version: 1),
      .remove(.records, keys: 100..<250), .flip(.index, version: 2),
      .put(.otherRecords, keys: 0..<9, byteCount: 3_000, version: 3),
      .put(.records, keys: 50..<300, byteCount: 90, version: 4), .drop(.otherRecords),
    ]
    var digests: [ContentDigest] = []
    for limit in [0, 64 << 20] {
      let store = try open { $0.transactionByteLimit = limit }
      try store.write { transaction in for step in steps { try step.perform(in: transaction) } }
      #expect(try store.check().isSound)
      digests.append(try ContentDigest(of: try store.snapshot()))
    }
    #expect(digests[0] == digests[1])
  }
}
