import QuireSimulation
import QuireStorage
import Testing

/// Many keys in order, put into a tree that is there, or removed from it.
@Suite struct `Runs of keys` {
  private enum Shape: CaseIterable {
    case random, close, prefixed, long, ascending
  }

  /// Keys of a shape: those of a tree share more or less, and are short or as long as keys can be.
  private func key(
    _ shape: Shape, _ limit: Int, _ last: inout Int, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
      (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
    }
    switch shape {
    case .random: return generator.bytes(generator.below(24))
    case .close: return number(generator.below(3_000), 2)
    case .prefixed:
      return Array("prefix-\(generator.below(4))-".utf8) + number(generator.below(100_000), 4)
    case .long:
      let first = UInt8(generator.below(4) * 60)
      return [UInt8](repeating: first, count: generator.below(limit - 2)) + generator.bytes(2)
    case .ascending:
      last += 1 + generator.below(3)
      return number(last, 8)
    }
  }

  private func sorted(_ keys: some Sequence<[UInt8]>) -> [[UInt8]] {
    keys.sorted(by: precedes)
  }

  private func putRun(_ keys: [[UInt8]], into tree: MutableIndexTree) throws {
    try withRun(keys) { try tree.put(run: $0) }
  }

  private func withRun<R>(
    _ keys: [[UInt8]], _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) throws -> R
  ) throws -> R {
    let bytes = keys.flatMap { $0 }
    return try bytes.withUnsafeBytes { bytes in
      var start = 0
      let pointers = keys.map { key in
        defer { start += key.count }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + key.count])
      }
      return try pointers.withUnsafeBufferPointer(body)
    }
  }

  private func contents(_ tree: IndexTree) throws -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    var cursor = tree.cursor()
    while try cursor.next() {
      contents[[UInt8](try cursor.key)] = try cursor.storedValue().array
    }
    withExtendedLifetime(cursor) {}
    return contents
  }

  @Test(arguments: [512, 1024, 4096], Shape.allCases)
  private func `a tree holds what a dictionary holds`(pageSize: Int, shape: Shape) throws {
    for round in 0..<Amount.of(debug: 1, release: 2, exhaustive: 400) {
      let seed = UInt64(pageSize * 1_000 + round)
      var generator = SeededGenerator(seed: seed)
      let store = PageStore.inMemory(pageSize: pageSize)
      var expected: [[UInt8]: [UInt8]] = [:]
      var last = 0
      // Some trees have values beside keys, a few of them long.
      let valueLimit = [0, 0, 40, pageSize / 4, 2 * pageSize][generator.below(5)]
      for _ in 0..<8 {
        try store.write { transaction in
          let tree =
            try transaction.mutableIndexTree("tree") ?? transaction.createIndexTree("tree")
          for _ in 0..<generator.below(60) {
            let key = key(shape, store.keyByteLimit, &last, &generator)
            let value = generator.bytes(valueLimit == 0 ? 0 : generator.below(valueLimit))
            try tree.put(value, for: key)
            expected[key] = value
          }
          for key in sorted(expected.keys) where generator.below(8) == 0 {
            #expect(try tree.remove(key))
            expected[key] = nil
          }
          let count = [1, 3, 40, Amount.of(debug: 300, release: 700)][generator.below(4)]
          var run = Set((0..<count).map { _ in key(shape, store.keyByteLimit, &last, &generator) })
          for key in sorted(expected.keys) where generator.below(50) == 0 { run.insert(key) }
          try putRun(sorted(run), into: tree)
          for key in run { expected[key] = [] }
          #expect(tree.count == expected.count, "seed \(seed)")
          // Some transactions leave hardly anything.
          let share = [0, 10, 50, 98][generator.below(4)]
          var gone = Set(sorted(expected.keys).filter { _ in generator.below(100) < share })
          let goneCount = gone.count
          for _ in 0..<generator.below(20) {
            let other = key(shape, store.keyByteLimit, &last, &generator)
            if expected[other] == nil { gone.insert(other) }
          }
          let removedCount = try withRun(sorted(gone)) {
            try tree.remove(run: $0)
          }
          #expect(removedCount == goneCount, "seed \(seed)")
          for key in gone { expected[key] = nil }
        }
        let report = try store.check()
        #expect(report.isSound, "seed \(seed): \(report)")
        let tree = try #require(try store.snapshot().indexTree("tree"))
        #expect(try contents(tree) == expected, "seed \(seed)")
      }
    }
  }

  /// One by one, random keys leave leaves 87 % full.
  @Test(arguments: [512, 4096])
  func `runs leave pages three quarters full`(pageSize: Int) throws {
    var generator = SeededGenerator(seed: UInt64(pageSize))
    let count = Amount.of(debug: 3_000, release: 8_000)
    let numbers = (0..<count).shuffled(using: &generator)
    func bytes(_ number: Int) -> [UInt8] {
      stride(from: 88, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> min($0, 56)) }
    }
    for runCount in [20, 300, 3_000] {
      let (one, other) = (
        PageStore.inMemory(pageSize: pageSize), PageStore.inMemory(pageSize: pageSize)
      )
      try one.write { transaction in
        let tree = try transaction.createIndexTree("tree")
        for start in stride(from: 0, to: numbers.count, by: runCount) {
          let run = numbers[start..<min(start + runCount, numbers.count)].sorted()
          try putRun(run.map(bytes), into: tree)
        }
      }
      try other.write { transaction in
        let tree = try transaction.createIndexTree("tree")
        try putRun((0..<count).map(bytes), into: tree)
      }
      #expect(try one.check().isSound && other.check().isSound)
      let fill = Double(try other.check().pageCount) / Double(try one.check().pageCount)
      #expect(fill >= 0.78, "runs of \(runCount)")
    }
  }

  @Test func `keys that do not ascend, or are too long, change nothing`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      try putRun([[1], [2]], into: tree)
      #expect(throws: StorageError.self) { try putRun([[3], [3]], into: tree) }
      #expect(throws: StorageError.self) { try withRun([[2], [1]]) { try tree.remove(run: $0) } }
    }
    try store.write { transaction in
      let tree = try #require(try transaction.mutableIndexTree("tree"))
      let long = [UInt8](repeating: 9, count: store.keyByteLimit + 1)
      #expect(throws: StorageError.self) { try putRun([[4], long], into: tree) }
      try putRun([[5]], into: tree)
      #expect(tree.count == 3)
    }
  }
}
