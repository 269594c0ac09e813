import QuireSimulation
import QuireStorage
import Testing

/// What record nodes do with their bases and widths, against a sorted dictionary; every node is
/// inspected after every change.
@Suite struct `Record nodes` {
  @Test(arguments: [512, 4096], RecordKeys.allCases)
  func `every change leaves every node in order`(pageSize: Int, keys: RecordKeys) throws {
    let seed = UInt64(pageSize) &* 19 &+ UInt64(keys.rawValue)
    print("record nodes: seed \(seed), keys \(keys), page size \(pageSize)")
    var run = try RecordRun(seed: seed, keys: keys, pageSize: pageSize)
    for _ in 0..<Amount.of(sampled: 1, exhaustive: 20) {
      for _ in 0..<Amount.of(debug: 40, release: 150) { try run.change(removing: 1) }
      for _ in 0..<Amount.of(debug: 30, release: 120) { try run.change(removing: 5) }
    }
    try run.compareSeeks()
    while !run.model.isEmpty { try run.change(removing: 10) }
    try run.compareSeeks()
  }

  /// One key far away makes every difference of its node wider than the page has room for.
  @Test(arguments: [512, 4096])
  func `a key far from all others goes before and behind a full node`(pageSize: Int) throws {
    let outliers: [Int64] = [.min, -1_000_000, 0, 70_000, 5_000_000_000, .max]
    // Nodes of large pages have many keys, and an optimiser to go through them.
    // Those of small pages have their outliers on either side in debug as well.
    let step = Amount.of(debug: pageSize == 512 ? 2 : 4, release: 1)
    for outlier in stride(from: 0, to: outliers.count, by: step).map({ outliers[$0] }) {
      let lengths = pageSize == 512 ? Amount.of(debug: [0, 7], release: [0, 1, 7]) : [1]
      for length in isExhaustive ? [0, 1, 7] : lengths {
        var run = try RecordRun(seed: 1, keys: .dense, pageSize: pageSize)
        let count = pageSize / 3
        for number in 0..<count where number % 7 != 3 {
          try run.put(Int64(1000 + number), .init(repeating: 9, count: length), isChecked: false)
        }
        try run.put(outlier, [1, 2, 3])
        for number in 0..<count where number % 7 == 3 {
          try run.put(Int64(1000 + number), .init(repeating: 8, count: length), isChecked: false)
        }
        try run.compareSeeks()
        try run.remove(outlier)
        for number in 0..<count where number % 5 != 0 {
          try run.remove(Int64(1000 + number), isChecked: false)
        }
        try run.compareSeeks()
      }
    }
  }

  @Test func `differences as wide as each width allows are found`() throws {
    for base in [Int64.min, -5, 0, Int64.max - 0x1_0001_0000] {
      var run = try RecordRun(seed: 3, keys: .edges, pageSize: 512)
      for difference in [0, 1, 0xFFFE, 0xFFFF, 0x1_0000, 0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000] {
        try run.put(base + Int64(difference), [1])
      }
      try run.put(.max, [])
      try run.put(.min, [])
      try run.compareSeeks()
    }
  }

  /// SQLite has 36.9 such rows in a page; Quire had 36 before keys were differences.
  @Test func `keys in ascending order leave full pages and little else`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let tree = try transaction.createRecordTree("records")
      for key in 0..<38_000 as Range<Int64> {
        try tree.put([UInt8](repeating: 1, count: 100), for: key)
      }
    }
    let report = try store.check()
    #expect(report.isSound)
    #expect(report.pageCount < 1000 + 10)
  }
}

/// How keys are drawn, each kind to be hard on bases and widths in its own way.
enum RecordKeys: Int, CaseIterable, Sendable {
  case dense, descending, edges, sparse, clusters

  func key(_ generator: inout SeededGenerator, _ counter: Int) -> Int64 {
    switch self {
    case .dense: Int64(generator.below(600))
    case .descending: Int64(-counter * [1, 1, 1, 3000][generator.below(4)])
    case .edges:
      [Int64.min, -0x1_0000, 0, 0xFFFF, 0xFFFF_FFFF, .max - 4][generator.below(6)]
        + Int64(generator.below(5))
    case .sparse: Int64(bitPattern: generator.next())
    case .clusters:
      (Int64(generator.below(5)) << [14, 20, 33, 60][generator.below(4)])
        + Int64(generator.below(40))
    }
  }
}

/// A record tree beside the dictionary that it should be.
private struct RecordRun {
  let store: PageStore
  let keys: RecordKeys
  let seed: UInt64
  var model: [Int64: [UInt8]] = [:]
  private var generator: SeededGenerator
  private var changeCount = 0

  init(seed: UInt64, keys: RecordKeys, pageSize: Int) throws {
    self.seed = seed
    self.keys = keys
    store = .inMemory(pageSize: pageSize)
    generator = SeededGenerator(seed: seed)
    try store.write { _ = try $0.createRecordTree("records") }
  }

  /// - Parameter share: of ten changes, how many remove something.
  mutating func change(removing share: Int) throws {
    if generator.below(10) < share, let key = model.keys.sorted().randomElement(using: &generator) {
      return try remove(key)
    }
    let longest = store.pageSize / 4 - 6
    let length = [0, 1, generator.below(longest + 1), longest, longest + 50][generator.below(5)]
    let value = [UInt8](repeating: UInt8(generator.below(256)), count: length)
    try put(keys.key(&generator, changeCount), value)
  }

  mutating func put(_ key: Int64, _ value: [UInt8], isChecked: Bool = true) throws {
    model[key] = value
    try store.write { _ = try $0.mutableRecordTree("records")?.put(value, for: key) }
    if isChecked { try inspect() }
  }

  mutating func remove(_ key: Int64, isChecked: Bool = true) throws {
    let isThere = model.removeValue(forKey: key) != nil
    try store.write {
      let wasThere = try $0.mutableRecordTree("records")?.remove(key)
      #expect(wasThere == isThere, "seed \(seed)")
    }
    if isChecked { try inspect() }
  }

  private mutating func inspect() throws {
    let report = try store.check()
    #expect(report.isSound, "seed \(seed): \(report)")
    changeCount += 1
    if changeCount % 8 == 0 || model.count < 4 { try compare() }
  }

  private func compare() throws {
    try store.read { snapshot in
      let tree = try #require(try snapshot.recordTree("records"))
      #expect(tree.count == model.count)
      var cursor = tree.cursor()
      for key in model.keys.sorted() {
        guard try cursor.next(), try cursor.key == key,
          try model[key]?.elementsEqual(cursor.storedValue().array) == true
        else { return #expect(Bool(false), "seed \(seed): key \(key) differs") }
      }
      #expect(try !cursor.next(), "seed \(seed)")
    }
  }

  /// Looks for every key, and for keys beside it.
  mutating func compareSeeks() throws {
    try compare()
    let snapshot = try store.snapshot()
    let tree = try #require(try snapshot.recordTree("records"))
    let sorted = model.keys.sorted()
    var cursor = tree.cursor()
    var wanted: [Int64] = [.min, .max, 0, 0x1_0000]
    for key in sorted {
      wanted += [key &- 1, key, key &+ 1, key &+ 0x1_0000, key &+ 0x1_0000_0000]
    }
    for key in wanted {
      #expect(try tree.value(for: key)?.array == model[key], "seed \(seed)")
      #expect(
        try (cursor.seek(to: key) ? cursor.key : nil) == sorted.first { $0 >= key }, "seed \(seed)")
      #expect(
        try (cursor.seek(atOrBefore: key) ? cursor.key : nil) == sorted.last { $0 <= key },
        "seed \(seed)")
    }
    withExtendedLifetime(cursor) {}
  }
}
