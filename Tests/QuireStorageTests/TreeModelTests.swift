import QuireSimulation
import QuireStorage
import Testing

/// Random operations on trees, compared with sorted dictionaries that do the same.
@Suite struct `Trees against a sorted dictionary` {
  @Test(arguments: [512, 4096], KeyShape.allCases)
  func `every answer is the model's`(pageSize: Int, shape: KeyShape) throws {
    let seed = UInt64(pageSize) &* 31 &+ UInt64(shape.rawValue)
    let store = PageStore.inMemory(pageSize: pageSize)
    var run = ModelRun(store: store, seed: seed, shape: shape)
    for _ in 0..<(isExhaustive ? 400 : 60) { try run.transaction() }
    try run.finish()
  }
}

/// The same with files: checkpoints, closing and opening again come in between.
@Suite struct `Stores in files against a sorted dictionary` {
  @Test(arguments: [512, 4096], [KeyShape.random, .longPrefix, .longest])
  func `closing and opening again changes nothing`(pageSize: Int, shape: KeyShape) throws {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.checkpointByteLimit = 64 << 10
    let seed = UInt64(pageSize) &* 131 &+ UInt64(shape.rawValue)
    var run = ModelRun(
      store: try .open("store", options: options, in: fileSystem), seed: seed, shape: shape)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<(isExhaustive ? 200 : 40) {
      try run.transaction()
      switch generator.below(12) {
      case 0: try run.store.checkpoint()
      case 1, 2:
        try run.dropSnapshots()
        try run.store.close()
        #expect(fileSystem.paths == ["store"])
        run.store = try .open("store", options: options, in: fileSystem)
        try run.compareAll()
      case 3:
        // Dropped without being closed, as a crash of the process would: the log is recovered.
        try run.dropSnapshots()
        run.store = .inMemory()
        run.store = try .open("store", options: options, in: fileSystem)
        try run.compareAll()
      default: break
      }
    }
    try run.finish()
    try run.store.close()
  }
}

/// How keys are drawn.
enum KeyShape: Int, CaseIterable, Sendable {
  case sequential, reverse, random, longPrefix, edges, longest

  func recordKey(_ generator: inout SeededGenerator, _ counter: Int) -> Int64 {
    switch self {
    case .sequential: Int64(counter)
    case .reverse: Int64(-counter)
    case .random: Int64(generator.below(5000))
    case .longPrefix: Int64.max - Int64(generator.below(3000))
    case .edges: [Int64.min, -1, 0, 1, .max][generator.below(5)] &+ Int64(generator.below(9))
    case .longest: Int64(bitPattern: generator.next())
    }
  }

  func indexKey(
    _ generator: inout SeededGenerator, _ counter: Int, limit: Int
  ) -> [UInt8] {
    func bigEndian(_ value: Int) -> [UInt8] {
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    switch self {
    case .sequential: return bigEndian(counter)
    case .reverse: return bigEndian(Int(Int32.max) - counter)
    case .random: return generator.bytes(generator.below(20))
    case .longPrefix:
      return [UInt8](repeating: 7, count: limit - 8) + bigEndian(generator.below(2000))
    case .edges:
      return (0..<generator.below(6)).map { _ in [0, 0xFF, 0x7F, 0x80][generator.below(4)] }
    case .longest: return generator.bytes(limit)
    }
  }
}

/// A store with one record tree and one index tree, beside what they should hold.
struct ModelRun {
  var store: PageStore
  private var generator: SeededGenerator
  private let shape: KeyShape
  private let seed: UInt64
  private var counter = 0
  private(set) var contents = Contents()
  private var held: [(snapshot: Snapshot, contents: Contents)] = []

  struct Contents: Equatable {
    var records: [Int64: [UInt8]] = [:]
    var index: [[UInt8]: [UInt8]] = [:]
  }

  init(store: PageStore, seed: UInt64, shape: KeyShape) {
    self.store = store
    self.seed = seed
    self.shape = shape
    generator = SeededGenerator(seed: seed)
    print("model run: seed \(seed), shape \(shape), page size \(store.pageSize)")
  }

  private mutating func value() -> [UInt8] {
    switch generator.below(40) {
    case 0: return generator.bytes(store.pageSize * 3 + generator.below(store.pageSize))
    case 1: return generator.bytes(store.pageSize / 4 - 12 + generator.below(12))
    case 2: return []
    default: return generator.bytes(generator.below(40))
    }
  }

  /// A transaction of some operations, committed or aborted; snapshots are held and compared later.
  mutating func transaction() throws {
    let before = contents
    let transaction = try store.beginWrite()
    let records =
      try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
    let index = try transaction.mutableIndexTree("index") ?? transaction.createIndexTree("index")
    let isDraining = generator.below(4) == 0
    for _ in 0..<generator.below(60) {
      counter += 1
      switch generator.below(isDraining ? 20 : 6) {
      case 0, 1:
        let (key, value) = (shape.recordKey(&generator, counter), value())
        let existed = try records.put(value, for: key)
        #expect(existed == (contents.records.updateValue(value, forKey: key) != nil))
      case 2, 3:
        let key = shape.indexKey(&generator, counter, limit: store.keyByteLimit)
        let value = value()
        let existed = try index.put(value, for: key)
        #expect(existed == (contents.index.updateValue(value, forKey: key) != nil))
      default:
        try removeSomething(records, index)
      }
    }
    if generator.below(60) == 0 {
      try records.removeAll()
      contents.records = [:]
    }
    if generator.below(5) == 0 { try compare(transaction, contents) }
    if generator.below(6) == 0 {
      transaction.abort()
      contents = before
    } else {
      try transaction.commit()
    }
    if generator.below(4) == 0 { held.append((try store.snapshot(), contents)) }
    if held.count > 5 {
      let (snapshot, contents) = held.remove(at: generator.below(held.count))
      try compare(snapshot, contents)
    }
    if counter % 10 == 0 { try expectSound() }
  }

  /// Snapshots end with their store.
  mutating func dropSnapshots() throws {
    for (snapshot, contents) in held { try compare(snapshot, contents) }
    held = []
  }

  private mutating func removeSomething(
    _ records: MutableRecordTree, _ index: MutableIndexTree
  ) throws {
    if generator.below(8) == 0 {
      let key = shape.recordKey(&generator, counter)
      #expect(try records.remove(key) == (contents.records.removeValue(forKey: key) != nil))
    } else if generator.below(2) == 0 {
      var cursor = records.cursor()
      guard try cursor.seek(to: shape.recordKey(&generator, counter)) || cursor.first() else {
        return
      }
      let key = try cursor.key
      #expect(try records.remove(key))
      #expect(contents.records.removeValue(forKey: key) != nil)
    } else {
      var cursor = index.cursor()
      let wanted = shape.indexKey(&generator, counter, limit: store.keyByteLimit)
      guard try cursor.seek(to: wanted) || cursor.last() else { return }
      // Straight from the cursor, which lends it although the tree changes.
      let key = try cursor.key
      #expect(contents.index.removeValue(forKey: [UInt8](key)) != nil)
      #expect(try index.remove(key))
      withExtendedLifetime(cursor) {}
    }
  }

  mutating func finish() throws {
    for (snapshot, contents) in held { try compare(snapshot, contents) }
    try compare(try store.snapshot(), contents)
    try expectSound()
  }

  mutating func compareAll() throws {
    try compare(try store.snapshot(), contents)
    try expectSound()
  }

  func expectSound() throws {
    let report = try store.check()
    #expect(report.isSound, "seed \(seed): \(report)")
  }

  /// Compares everything that can be asked with the model.
  mutating func compare(_ reader: some TreeReader, _ contents: Contents) throws {
    guard let records = try reader.recordTree("records"), let index = try reader.indexTree("index")
    else {
      #expect(contents == Contents())
      return
    }
    try compareRecords(records, contents.records)
    try compareIndex(index, contents.index)
  }

  private mutating func compareRecords(
    _ tree: RecordTree, _ expected: [Int64: [UInt8]]
  ) throws {
    let keys = expected.keys.sorted()
    #expect(tree.count == keys.count)
    #expect(try tree.firstKey == keys.first)
    #expect(try tree.lastKey == keys.last)
    var found: [Int64] = []
    var cursor = tree.cursor()
    while try cursor.next() {
      let key = try cursor.key
      found.append(key)
      #expect(try [UInt8](cursor.valueBytes) == expected[key])
    }
    #expect(found == keys, "seed \(seed)")
    #expect(try !cursor.next())
    found = []
    while try cursor.previous() { found.append(try cursor.key) }
    #expect(found == keys.reversed(), "seed \(seed)")
    for _ in 0..<20 {
      counter += 1
      let key = shape.recordKey(&generator, generator.below(counter))
      #expect(try tree.value(for: key)?.array == expected[key])
      #expect(try tree.contains(key) == (expected[key] != nil))
      #expect(
        try (cursor.seek(to: key) ? cursor.key : nil) == keys.first { $0 >= key })
      #expect(
        try (cursor.seek(atOrBefore: key) ? cursor.key : nil) == keys.last { $0 <= key })
    }
  }

  private mutating func compareIndex(
    _ tree: IndexTree, _ expected: [[UInt8]: [UInt8]]
  ) throws {
    let keys = expected.keys.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(tree.count == keys.count)
    var found: [[UInt8]] = []
    var cursor = tree.cursor()
    while try cursor.next() {
      let key = try [UInt8](cursor.key)
      found.append(key)
      #expect(try [UInt8](cursor.valueBytes) == expected[key])
    }
    #expect(found == keys, "seed \(seed)")
    found = []
    while try cursor.previous() { found.append(try [UInt8](cursor.key)) }
    #expect(found == keys.reversed(), "seed \(seed)")
    for _ in 0..<20 {
      counter += 1
      let key = shape.indexKey(
        &generator, generator.below(counter), limit: store.keyByteLimit)
      #expect(try tree.value(for: key)?.array == expected[key])
      #expect(
        try (cursor.seek(to: key) ? [UInt8](cursor.key) : nil)
          == keys.first { !$0.lexicographicallyPrecedes(key) })
      #expect(
        try (cursor.seek(atOrBefore: key) ? [UInt8](cursor.key) : nil)
          == keys.last { !key.lexicographicallyPrecedes($0) })
    }
  }
}
