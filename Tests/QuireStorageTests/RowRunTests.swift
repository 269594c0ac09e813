import QuireSimulation
import QuireStorage
import Testing

/// Many rows in order that leave a record tree together.
@Suite struct `Runs of rows that leave` {
  private enum Shape: CaseIterable {
    case dense, close, wide, everything
  }

  /// Keys whose differences take two, four or eight bytes, or are none.
  private func key(
    _ shape: Shape, _ last: inout Int64, _ generator: inout SeededGenerator
  ) -> Int64 {
    switch shape {
    case .dense:
      last += 1
      return last
    case .close: return Int64(generator.below(3_000))
    case .wide: return Int64(generator.below(1 << 40)) - 1 << 39
    case .everything: return Int64(bitPattern: generator.next())
    }
  }

  private func contents(_ tree: RecordTree) throws -> [Int64: [UInt8]] {
    var contents: [Int64: [UInt8]] = [:]
    var cursor = tree.cursor()
    while try cursor.next() { contents[try cursor.key] = try cursor.storedValue().array }
    withExtendedLifetime(cursor) {}
    return contents
  }

  private func remove(
    _ keys: some Sequence<Int64>, from tree: MutableRecordTree,
    _ body: (Int64, UnsafeRawBufferPointer) throws -> Void = { _, _ in }
  ) throws -> Int {
    try keys.sorted().withUnsafeBufferPointer { try tree.remove(run: $0, visiting: body) }
  }

  @Test(arguments: [512, 1024, 4096], Shape.allCases)
  private func `a tree keeps what it keeps when they leave one by one`(
    pageSize: Int, shape: Shape
  ) throws {
    for round in 0..<Amount.of(debug: 1, release: 2, exhaustive: 400) {
      let seed = UInt64(pageSize * 1_000 + round)
      var generator = SeededGenerator(seed: seed)
      let (together, apart) = (
        PageStore.inMemory(pageSize: pageSize), PageStore.inMemory(pageSize: pageSize)
      )
      var expected: [Int64: [UInt8]] = [:]
      var last: Int64 = 0
      // Some rows are long, and then some lie outside of their leaves.
      let valueLimit = [1, 40, pageSize / 4, 2 * pageSize][generator.below(4)]
      for _ in 0..<8 {
        var new: [Int64: [UInt8]] = [:]
        for _ in 0..<[1, 30, Amount.of(debug: 150, release: 700)][generator.below(3)] {
          new[key(shape, &last, &generator)] = generator.bytes(generator.below(valueLimit))
        }
        expected.merge(new) { $1 }
        let share = [0, 10, 50, 98, 100][generator.below(5)]
        var gone = Set(expected.keys.sorted().filter { _ in generator.below(100) < share })
        for _ in 0..<generator.below(20) { gone.insert(key(shape, &last, &generator)) }
        let present = gone.filter { expected[$0] != nil }
        for (store, isRun) in [(together, true), (apart, false)] {
          try store.write { transaction in
            let tree =
              try transaction.mutableRecordTree("tree") ?? transaction.createRecordTree("tree")
            for (key, value) in new.sorted(by: { $0.key < $1.key }) {
              try tree.put(value, for: key)
            }
            if isRun {
              var seen: [Int64: [UInt8]] = [:]
              let count = try remove(gone, from: tree) { seen[$0] = [UInt8]($1) }
              #expect(count == present.count, "seed \(seed)")
              #expect(seen == expected.filter { present.contains($0.key) }, "seed \(seed)")
            } else {
              for key in gone.sorted() { try tree.remove(key) }
            }
            #expect(tree.count == expected.count - present.count, "seed \(seed)")
          }
          let report = try store.check()
          #expect(report.isSound, "seed \(seed): \(report)")
        }
        for key in gone { expected[key] = nil }
        for store in [together, apart] {
          let tree = try #require(try store.snapshot().recordTree("tree"))
          #expect(try contents(tree) == expected, "seed \(seed)")
        }
      }
    }
  }

  @Test func `an error in the middle of removing a run leaves the tree sound`() throws {
    struct Stop: Error {}
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("tree")
      for key in 0..<1_000 as Range<Int64> { try tree.put([1, 2, 3], for: key) }
      var count = 0
      #expect(throws: Stop.self) {
        _ = try remove(0..<1_000, from: tree) { key, _ in
          if key == 500 { throw Stop() }
          count += 1
        }
      }
      #expect(count == 500)
      #expect(try tree.contains(500))
      #expect(tree.count >= 500)
      #expect(throws: StorageError.self) {
        try ([3, 3] as [Int64]).withUnsafeBufferPointer { try tree.remove(run: $0) { _, _ in } }
      }
      #expect(throws: StorageError.self) {
        try ([3, 2] as [Int64]).withUnsafeBufferPointer { try tree.remove(run: $0) { _, _ in } }
      }
    }
    let report = try store.check()
    #expect(report.isSound, "\(report)")
  }
}
