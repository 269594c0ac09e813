import QuireSimulation
import QuireStorage
import Testing

/// What index nodes do with their prefixes, against a sorted array; every node is inspected after
/// every change.
@Suite struct `Index nodes` {
  @Test(arguments: [512, 4096], IndexKeys.allCases)
  func `every change leaves every node in order`(pageSize: Int, keys: IndexKeys) throws {
    let seed = UInt64(pageSize) &* 17 &+ UInt64(keys.rawValue)
    print("index nodes: seed \(seed), keys \(keys), page size \(pageSize)")
    var run = try IndexRun(seed: seed, keys: keys, pageSize: pageSize)
    for _ in 0..<Amount.of(sampled: 1, exhaustive: 20) {
      let count = Amount.of(debug: 35, release: 120)
      for _ in 0..<count { try run.change(removing: 1) }
      for _ in 0..<count { try run.change(removing: 5) }
    }
    try run.compareSeeks()
    while !run.model.isEmpty { try run.change(removing: 10) }
    try run.compareSeeks()
  }

  /// A key that shares nothing makes every other one longer than the page has room for.
  @Test(arguments: Amount.of(sampled: [512], exhaustive: [512, 4096, 32_768]))
  func `a key that shares nothing goes before, behind and between keys that share all but a byte`(
    pageSize: Int
  ) throws {
    let limit = PageStore.inMemory(pageSize: pageSize).keyByteLimit
    let outliers: [[UInt8]] = [
      [], [0], [7, 0], [7, 7, 6], [7, 7, 8], [0xFF], .init(repeating: 0xFF, count: limit),
    ]
    for outlier in outliers {
      var run = try IndexRun(seed: 1, keys: .edges, pageSize: pageSize)
      for last in UInt8.min...UInt8.max {
        try run.put([UInt8](repeating: 7, count: limit - 1) + [last], [last], isChecked: false)
      }
      try run.put(outlier, [1, 2, 3])
      for last in UInt8.min...UInt8.max where last % 3 != 0 {
        try run.remove([UInt8](repeating: 7, count: limit - 1) + [last], isChecked: last % 16 == 1)
      }
      try run.compareSeeks()
    }
  }

  /// A cell's length takes two bytes from 128 on, and so when a prefix goes.
  @Test func `keys around the length where lengths grow are found`() throws {
    var run = try IndexRun(seed: 2, keys: .edges, pageSize: 4096)
    for length in 120...140 {
      for last in [UInt8(0), 1, 0xFF] {
        try run.put([UInt8](repeating: 9, count: length) + [last], [last])
      }
    }
    try run.put([8], [])
    try run.put([10], [])
    try run.compareSeeks()
  }

  /// 16 bytes of key and 100 of value took 124.6 bytes of the file before nodes had prefixes.
  @Test func `keys in ascending order leave full pages and little else`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for number in 0..<20_000 {
        let counter = stride(from: 56, through: 0, by: -8).map {
          UInt8(truncatingIfNeeded: number >> $0)
        }
        try tree.put([UInt8](repeating: 1, count: 100), for: counter + [UInt8]("artworks".utf8))
      }
    }
    let report = try store.check()
    #expect(report.isSound)
    #expect(report.pageCount * 4096 < 20_000 * 119)
  }

  @Test func `a cursor lends its key until it moves, whatever its copies do`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for number in 0..<100 { try tree.put([], for: [5, UInt8(number), 1, 2, 3, 4, 5, 6]) }
    }
    try store.read { snapshot in
      var one = try #require(try snapshot.indexTree("index")).cursor()
      #expect(try one.first())
      let lent = try one.key
      var other = one
      #expect(try other.next())
      #expect(try [UInt8](other.key).dropFirst().first == 1)
      #expect(lent[1] == 0)
      let again = try one.key
      #expect(again.baseAddress == lent.baseAddress)
      #expect(try one.seek(to: other.key))
      #expect(try [UInt8](one.key) == [UInt8](other.key))
      withExtendedLifetime((one, other)) {}
    }
  }
}

/// How keys are drawn, each kind to be hard on prefixes in its own way.
enum IndexKeys: Int, CaseIterable, Sendable {
  case longPrefixes, edges, prefixesOfEachOther, longest, short

  func key(_ generator: inout SeededGenerator, limit: Int) -> [UInt8] {
    func edges(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in [0, 0xFF, 0x7F, 0x80][generator.below(4)] }
    }
    switch self {
    case .longPrefixes:
      let common = [0, 1, limit / 2, limit - 9, limit - 4][generator.below(5)]
      return [UInt8](repeating: UInt8(common & 0xFF), count: common)
        + generator.bytes(generator.below(min(9, limit - common + 1)))
    case .edges: return edges(generator.below(7))
    case .prefixesOfEachOther:
      return [UInt8](
        repeating: generator.below(2) == 0 ? 0 : 0xFF, count: generator.below(limit + 1))
    case .longest:
      let common = [0, limit - 3, limit - 6][generator.below(3)]
      return [UInt8](repeating: 0x55, count: common) + edges(limit - common)
    case .short: return generator.bytes(generator.below(4))
    }
  }
}

/// An index tree beside the sorted array that it should be.
private struct IndexRun {
  let store: PageStore
  let keys: IndexKeys
  let seed: UInt64
  var model: [(key: [UInt8], value: [UInt8])] = []
  private var generator: SeededGenerator
  private var changeCount = 0

  init(seed: UInt64, keys: IndexKeys, pageSize: Int) throws {
    self.seed = seed
    self.keys = keys
    store = .inMemory(pageSize: pageSize)
    generator = SeededGenerator(seed: seed)
    try store.write { _ = try $0.createIndexTree("index") }
  }

  /// - Parameter share: of ten changes, how many remove something.
  mutating func change(removing share: Int) throws {
    if !model.isEmpty, generator.below(10) < share {
      return try remove(model[generator.below(model.count)].key)
    }
    let longest = store.pageSize / 4 - 6
    let length = [0, 1, generator.below(longest + 1), longest, longest + 50][generator.below(5)]
    let value = [UInt8](repeating: UInt8(generator.below(256)), count: length)
    try put(keys.key(&generator, limit: store.keyByteLimit), value)
  }

  mutating func put(_ key: [UInt8], _ value: [UInt8], isChecked: Bool = true) throws {
    let slot = place(of: key)
    if slot < model.count, model[slot].key == key {
      model[slot].value = value
    } else {
      model.insert((key, value), at: slot)
    }
    try store.write { _ = try $0.mutableIndexTree("index")?.put(value, for: key) }
    if isChecked { try inspect() }
  }

  mutating func remove(_ key: [UInt8], isChecked: Bool = true) throws {
    let slot = place(of: key)
    let isThere = slot < model.count && model[slot].key == key
    if isThere { model.remove(at: slot) }
    try store.write {
      let wasThere = try $0.mutableIndexTree("index")?.remove(key)
      #expect(wasThere == isThere, "seed \(seed)")
    }
    if isChecked { try inspect() }
  }

  private func place(of key: [UInt8]) -> Int {
    var (low, high) = (0, model.count)
    while low < high {
      let middle = (low + high) / 2
      if model[middle].key.lexicographicallyPrecedes(key) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private mutating func inspect() throws {
    let report = try store.check()
    #expect(report.isSound, "seed \(seed): \(report)")
    changeCount += 1
    if changeCount % 8 == 0 || model.count < 4 { try compare() }
  }

  private func compare() throws {
    try store.read { snapshot in
      let tree = try #require(try snapshot.indexTree("index"))
      #expect(tree.count == model.count)
      var cursor = tree.cursor()
      var slot = 0
      while try cursor.next() {
        guard slot < model.count, try model[slot].key.elementsEqual(cursor.key),
          try model[slot].value.elementsEqual(cursor.valueBytes)
        else { return #expect(Bool(false), "seed \(seed): entry \(slot) differs") }
        slot += 1
      }
      #expect(slot == model.count, "seed \(seed)")
    }
  }

  /// Looks for every key, and for keys beside it.
  mutating func compareSeeks() throws {
    let snapshot = try store.snapshot()
    let tree = try #require(try snapshot.indexTree("index"))
    var cursor = tree.cursor()
    var wanted: [[UInt8]] = []
    for (key, _) in model { wanted += [key, key + [0], Array(key.dropLast())] }
    for _ in 0..<50 { wanted.append(keys.key(&generator, limit: store.keyByteLimit)) }
    for key in wanted {
      let slot = place(of: key)
      let isThere = slot < model.count && model[slot].key == key
      #expect(try tree.contains(key) == isThere, "seed \(seed)")
      #expect(try tree.value(for: key)?.array == (isThere ? model[slot].value : nil))
      let after = try cursor.seek(to: key) ? [UInt8](cursor.key) : nil
      #expect(after == (slot < model.count ? model[slot].key : nil), "seed \(seed)")
      let last = isThere ? slot : slot - 1
      let before = try cursor.seek(atOrBefore: key) ? [UInt8](cursor.key) : nil
      #expect(before == (last >= 0 ? model[last].key : nil), "seed \(seed)")
    }
    withExtendedLifetime(cursor) {}
  }
}
