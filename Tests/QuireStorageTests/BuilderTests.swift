import QuireSimulation
import QuireStorage
import Testing

@Suite("Trees built from sorted input")
struct BuilderTests {
  /// Where a store is: in memory, or in a file, with pages of that size.
  struct Place: Sendable, CustomTestStringConvertible {
    var isFile: Bool
    var pageSize: Int
    var testDescription: String { "\(isFile ? "file" : "memory"), pages of \(pageSize)" }

    func open(in fileSystem: any FileSystem = MemoryFileSystem()) throws -> PageStore {
      guard isFile else { return .inMemory(pageSize: pageSize) }
      var options = PageStoreOptions()
      options.pageSize = pageSize
      options.cacheByteLimit = 64 * pageSize
      return try PageStore.open("store", options: options, in: fileSystem)
    }
  }

  static let places = [false, true].flatMap { isFile in
    [512, 4096].map { Place(isFile: isFile, pageSize: $0) }
  }

  /// Values of all kinds of lengths: empty, short, at the limit of what stays in a leaf, long.
  private func value(_ generator: inout SeededGenerator, pageSize: Int) -> [UInt8] {
    switch generator.below(60) {
    case 0: generator.bytes(pageSize * 2 + generator.below(pageSize))
    case 1: generator.bytes(pageSize / 4 - 12 + generator.below(12))
    case 2: []
    default: generator.bytes(generator.below(120))
    }
  }

  @Test(arguments: places, [0, 1, 2, 40, Amount.of(debug: 900, release: 6_000)])
  func `a built tree has what was appended`(place: Place, count: Int) throws {
    let seed = UInt64(place.pageSize + count)
    var generator = SeededGenerator(seed: seed)
    let fileSystem = MemoryFileSystem()
    let store = try place.open(in: fileSystem)
    var records: [(Int64, [UInt8])] = []
    var index: [([UInt8], [UInt8])] = []
    for number in 0..<count {
      records.append((Int64(number * 3 - 50), value(&generator, pageSize: place.pageSize)))
      let key = Array("key \(1_000_000 + number)".utf8) + generator.bytes(generator.below(9))
      index.append((key, value(&generator, pageSize: place.pageSize)))
    }
    try store.write { transaction in
      try transaction.buildRecordTree("records") { builder in
        for (key, value) in records { try builder.append(value, for: key) }
      }
      try transaction.buildIndexTree("index", fill: 0.7) { builder in
        for (key, value) in index { try builder.append(value, for: key) }
      }
      // The transaction sees what it has built.
      let tree = try #require(try transaction.recordTree("records"))
      #expect(tree.count == count)
      if let (key, value) = records.last { #expect(try tree.value(for: key)?.array == value) }
    }
    try compare(store, records, index)

    // Such trees are trees like others.
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("records"))
      for number in stride(from: 0, to: count, by: 2) { try tree.remove(records[number].0) }
      try tree.put([1, 2, 3], for: -1000)
    }
    records = records.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    records.insert((-1000, [1, 2, 3]), at: 0)
    try compare(store, records, index)
    guard place.isFile else { return }
    try store.close()
    try compare(try place.open(in: fileSystem), records, index)
  }

  private func compare(
    _ store: PageStore, _ records: [(Int64, [UInt8])], _ index: [([UInt8], [UInt8])]
  ) throws {
    let report = try store.check()
    #expect(report.isSound, "\(report)")
    let snapshot = try store.snapshot()
    var cursor = try #require(try snapshot.recordTree("records")).cursor()
    for (key, value) in records {
      #expect(try cursor.next())
      #expect(try cursor.key == key)
      #expect(try cursor.storedValue().array == value)
    }
    #expect(try cursor.next() == false)
    var places = try #require(try snapshot.indexTree("index")).cursor()
    for (key, value) in index.reversed() {
      #expect(try places.previous())
      #expect(try [UInt8](places.key) == key)
      #expect(try places.storedValue().array == value)
    }
    #expect(try places.previous() == false)
  }

  @Test func `a large tree goes around the log`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try Place(isFile: true, pageSize: 512).open(in: fileSystem)
    let count: Int64 = Amount.of(debug: 15_000, release: 50_000)
    try store.write { transaction in
      try transaction.buildRecordTree("records") { builder in
        for key in 0..<count {
          try builder.append([UInt8](repeating: UInt8(key & 0xFF), count: 60), for: key)
        }
      }
    }
    #expect(store.statistics.logByteCount < 600_000)
    #expect(store.statistics.pageCount > Int(count) / 50 * 7)
    #expect(try store.check().isSound)
  }

  @Test(arguments: places)
  func `keys out of order are an error that ends the transaction`(place: Place) throws {
    let store = try place.open()
    let before = store.statistics
    #expect(throws: StorageError.self) {
      try store.write { transaction in
        try transaction.buildRecordTree("records") { builder in
          try builder.append([], for: 7)
          try builder.append([], for: 7)
        }
      }
    }
    #expect(throws: StorageError.self) {
      try store.write { transaction in
        // Catching the error does not help: half a tree is none.
        try? transaction.buildIndexTree("index") { builder in
          try builder.append([], for: [2])
          try builder.append([], for: [1])
        }
      }
    }
    #expect(store.statistics == before)
    #expect(try store.check().isSound)
  }

  @Test func `an aborted build leaves nothing, not even in the file`() throws {
    struct Stop: Error {}
    let fileSystem = MemoryFileSystem()
    let store = try Place(isFile: true, pageSize: 512).open(in: fileSystem)
    try store.write { try $0.createRecordTree("other").put([1], for: 1) }
    let before = store.statistics.pageCount
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.buildRecordTree("records") { builder in
          for key in 0..<20_000 as Range<Int64> {
            try builder.append([UInt8](repeating: 1, count: 60), for: key)
          }
          throw Stop()
        }
      }
    }
    #expect(store.statistics.pageCount == before)
    try store.write { try #require(try $0.mutableRecordTree("other")).put([2], for: 2) }
    try store.close()
    #expect(fileSystem.bytes(of: "store")?.count == before * 512)
  }

  @Test(arguments: places)
  func `a tree is replaced by one that is built beside it`(place: Place) throws {
    let store = try place.open()
    try store.write { transaction in
      try transaction.buildRecordTree("records") { builder in
        for key in 0..<5000 as Range<Int64> { try builder.append([0, 1, 2, 3], for: key) }
      }
    }
    let old = try store.snapshot()
    try store.write { transaction in
      let source = try #require(try transaction.recordTree("records"))
      var cursor = source.cursor()
      try transaction.buildRecordTree("new") { builder in
        while try cursor.next() {
          try builder.append([9] + (try cursor.storedValue().array), for: try cursor.key)
        }
      }
      try transaction.dropTree("records")
      try transaction.renameTree("new", to: "records")
    }
    let new = try store.snapshot()
    #expect(try old.recordTree("records")?.value(for: 4999)?.array == [0, 1, 2, 3])
    #expect(try new.recordTree("records")?.value(for: 4999)?.array == [9, 0, 1, 2, 3])
    #expect(try new.treeNames().map(\.name) == ["records"])
    #expect(try store.check().isSound)
  }

  // Two megabytes of each sorted run were the transaction's, so that a large batch insertion took
  // as many times that as it had runs.
  @Test func `trees that a transaction drops again take none of its memory`() throws {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.cacheByteLimit = 64 * 512
    // Far less than all pages of the trees.
    options.transactionByteLimit = 100 * 512
    let store = try PageStore.open("store", options: options, in: MemoryFileSystem())
    let (runCount, count) = (20, 2_000)
    func key(_ number: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt64(number &* 7919).bigEndian) { Array($0) }
    }
    try store.write { transaction in
      for run in 0..<runCount {
        let tree = try transaction.buildTemporaryIndexTree("run \(run)") { builder in
          for number in 0..<count { try builder.append([], for: key(number * runCount + run)) }
        }
        #expect(tree.count == count)
      }
      for run in 0..<runCount {
        let tree = try #require(try transaction.indexTree("run \(run)"))
        #expect(try tree.contains(key(run)) && !tree.contains(key(run + 1)))
        try transaction.dropTree("run \(run)")
      }
      try transaction.createIndexTree("kept").put([1], for: key(1))
    }
    #expect(try store.snapshot().treeNames().map(\.name) == ["kept"])
    #expect(try store.check().isSound)
    try store.close()
  }
}
