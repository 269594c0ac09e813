import QuireSimulation
import QuireStorage
import Testing

/// Values of a record tree that are looked at in order, and changed where they lie.
@Suite struct `Values that change where they lie` {
  @Test(arguments: [512, 4096])
  func `a tree and what its snapshots show are as a dictionary says`(pageSize: Int) throws {
    for seed in 1...(Amount.of(debug: 3, release: 10, exhaustive: 300) as UInt64) {
      var generator = SeededGenerator(seed: seed)
      let store = PageStore.inMemory(pageSize: pageSize)
      var expected: [Int64: [UInt8]] = [:]
      // Some are long, and lie outside of their leaves.
      let limit = [8, 40, 2 * pageSize][generator.below(3)]
      try store.write { transaction in
        let tree = try transaction.createRecordTree("tree")
        for _ in 0..<600 {
          let key = Int64(generator.below(2_000)) - 1_000
          expected[key] = [1] + generator.bytes(generator.below(limit))
          try tree.put(expected[key] ?? [], for: key)
        }
      }
      for _ in 0..<4 {
        let before = try store.snapshot()
        let former = expected
        let keys = (-1_000..<1_000).map(Int64.init).filter { _ in generator.below(3) > 0 }
        let wanted = Set(keys.filter { _ in generator.below(2) == 0 })
        let there = keys.filter { expected[$0] != nil }
        let stop = generator.below(3) == 0 ? there[generator.below(there.count)] : nil
        var (seen, outside): (Set<Int64>, Set<Int64>) = ([], [])
        try store.write { transaction in
          let tree = try #require(try transaction.mutableRecordTree("tree"))
          try keys.withUnsafeBufferPointer { run in
            try tree.change(
              run: run,
              visiting: { key, bytes in
                if key == stop { return .stop }
                seen.insert(key)
                guard let bytes else {
                  outside.insert(key)
                  return .bytes
                }
                #expect(Array(bytes) == expected[key], "seed \(seed)")
                return wanted.contains(key) ? .bytes : .none
              },
              changing: { bytes in bytes[0] &+= 1 })
          }
        }
        let present = there.filter { $0 < stop ?? .max }
        #expect(seen == Set(present), "seed \(seed)")
        for key in present where wanted.contains(key) && !outside.contains(key) {
          expected[key]?[0] &+= 1
        }
        #expect(try contents(try store.snapshot()) == expected, "seed \(seed)")
        #expect(try contents(before) == former, "seed \(seed)")
        #expect(try store.check().isSound, "seed \(seed)")
      }
    }
  }

  @Test(arguments: [512, 4096])
  func `all values from a key on change, in as many steps as it takes`(pageSize: Int) throws {
    for seed in 1...UInt64(isExhaustive ? 300 : 10) {
      var generator = SeededGenerator(seed: seed)
      let store = PageStore.inMemory(pageSize: pageSize)
      var expected: [Int64: [UInt8]] = [:]
      let limit = [8, 40, 2 * pageSize][generator.below(3)]
      try store.write { transaction in
        let tree = try transaction.createRecordTree("tree")
        for _ in 0..<[0, 1, 600][generator.below(3)] {
          let key = Int64(generator.below(2_000)) - 1_000
          expected[key] = [1] + generator.bytes(generator.below(limit))
          try tree.put(expected[key] ?? [], for: key)
        }
      }
      let before = try store.snapshot()
      let former = expected
      let start = generator.below(2) == 0 ? Int64.min : Int64(generator.below(2_000)) - 1_000
      var (seen, outside): ([Int64], Set<Int64>) = ([], [])
      try store.write { transaction in
        let tree = try #require(try transaction.mutableRecordTree("tree"))
        var next: Int64? = start
        while let first = next {
          let count = seen.count
          let limit = 1 + generator.below(100)
          next = try tree.change(
            from: first, limit: limit,
            visiting: { key, bytes in
              seen.append(key)
              if bytes == nil { outside.insert(key) }
              #expect(bytes.map { Array($0) == expected[key] } ?? true, "seed \(seed)")
              return key % 2 == 0 ? .bytes : .none
            },
            changing: { bytes in bytes[0] &+= 1 })
          #expect(next == nil || seen.count - count >= limit, "seed \(seed)")
        }
      }
      #expect(seen == expected.keys.filter { $0 >= start }.sorted(), "seed \(seed)")
      for key in seen where key % 2 == 0 && !outside.contains(key) { expected[key]?[0] &+= 1 }
      #expect(try contents(try store.snapshot()) == expected, "seed \(seed)")
      #expect(try contents(before) == former, "seed \(seed)")
      #expect(try store.check().isSound, "seed \(seed)")
    }
  }

  private func contents(_ snapshot: Snapshot) throws -> [Int64: [UInt8]] {
    var contents: [Int64: [UInt8]] = [:]
    guard var cursor = try snapshot.recordTree("tree")?.cursor() else { return contents }
    while try cursor.next() { contents[try cursor.key] = try cursor.storedValue().array }
    withExtendedLifetime(cursor) {}
    return contents
  }
}
