import QuireSimulation
import QuireStorage
import Testing

/// Nodes that are full give entries to a neighbour before they are split.
@Suite struct `Sharing out between neighbours` {
  /// Splitting alone leaves 69 %.
  @Test(arguments: [512, 4096])
  func `keys in random order leave pages four fifths full`(pageSize: Int) throws {
    let seed = UInt64(pageSize) &+ 5
    print("sharing out: seed \(seed), page size \(pageSize)")
    var generator = SeededGenerator(seed: seed)
    let keys = 0..<Amount.of(debug: 3_000, release: 20_000)
    let order = keys.shuffled(using: &generator)
    let value = [UInt8](repeating: 7, count: pageSize / 40)
    for isRecord in [true, false] {
      let ascending = PageStore.inMemory(pageSize: pageSize)
      let random = PageStore.inMemory(pageSize: pageSize)
      try fill(ascending, keys, value, isRecord)
      try fill(random, order, value, isRecord)
      // What is put in ascending order leaves full pages.
      let fill = Double(try ascending.check().pageCount) / Double(try random.check().pageCount)
      print("sharing out: \(isRecord ? "records" : "index") \(fill) full")
      #expect(fill >= 0.78, "seed \(seed)")
    }
  }

  private func fill(
    _ store: PageStore, _ order: some Sequence<Int>, _ value: [UInt8], _ isRecord: Bool
  ) throws {
    try store.write { transaction in
      if isRecord {
        let tree = try transaction.createRecordTree("tree")
        for number in order { try tree.put(value, for: Int64(number)) }
      } else {
        let tree = try transaction.createIndexTree("tree")
        for number in order { try tree.put(value, for: bytes(number)) }
      }
    }
    #expect(try store.check().isSound)
  }

  private func bytes(_ number: Int) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Full leaves in a row, one gap of room at each place in turn, and insertions at each place.
  @Test func `room is found left and right, at every position of the parent`() throws {
    for isRecord in [true, false] {
      for roomy in 0..<8 {
        for crowded in 0..<8 {
          let store = PageStore.inMemory(pageSize: 512)
          var expected: [Int: [UInt8]] = [:]
          try store.write { transaction in
            let records = try transaction.createRecordTree("records")
            let index = try transaction.createIndexTree("index")
            func put(_ number: Int, _ value: [UInt8]) throws {
              expected[number] = value
              if isRecord {
                try records.put(value, for: Int64(number))
              } else {
                try index.put(value, for: bytes(number))
              }
            }
            for number in 0..<96 { try put(number * 100, .init(repeating: 1, count: 30)) }
            for number in roomy * 12..<roomy * 12 + 6 {
              expected[number * 100] = nil
              if isRecord {
                try records.remove(Int64(number * 100))
              } else {
                try index.remove(bytes(number * 100))
              }
            }
            for number in 0..<20 {
              try put(crowded * 1200 + 550 + number, .init(repeating: 2, count: 25))
            }
          }
          let report = try store.check()
          #expect(report.isSound, "room at \(roomy), crowd at \(crowded): \(report)")
          let snapshot = try store.snapshot()
          for (number, value) in expected {
            let found =
              isRecord
              ? try snapshot.recordTree("records")?.value(for: Int64(number))
              : try snapshot.indexTree("index")?.value(for: bytes(number))
            #expect(found?.array == value, "room at \(roomy), crowd at \(crowded)")
          }
        }
      }
    }
  }

  /// A bound that replaces another may be as long as keys can be, and its node be full.
  @Test(arguments: [512, 1024])
  func `a bound that does not fit into the parent leaves all as it was`(pageSize: Int) throws {
    let seed = UInt64(pageSize) &* 7
    print("sharing out: seed \(seed), page size \(pageSize)")
    var generator = SeededGenerator(seed: seed)
    for round in 0..<Amount.of(debug: 3, release: 8, exhaustive: 200) {
      let store = PageStore.inMemory(pageSize: pageSize)
      let limit = store.keyByteLimit
      var expected: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<6 {
        try store.write { transaction in
          let tree =
            try transaction.mutableIndexTree("index") ?? transaction.createIndexTree("index")
          for _ in 0..<80 {
            // Short keys make short bounds; long ones that differ at their end alone, long bounds.
            let first = UInt8(generator.below(6) * 40)
            let key: [UInt8] =
              switch generator.below(3) {
              case 0: [first] + generator.bytes(2)
              case 1: [UInt8](repeating: first, count: limit - 2) + generator.bytes(2)
              default: [UInt8](repeating: first, count: generator.below(limit)) + [1]
              }
            let value = generator.bytes(generator.below(pageSize / 5))
            try tree.put(value, for: key)
            expected[key] = value
          }
        }
        let report = try store.check()
        #expect(report.isSound, "seed \(seed), round \(round): \(report)")
      }
      let snapshot = try store.snapshot()
      var cursor = try #require(try snapshot.indexTree("index")).cursor()
      for key in expected.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        #expect(try cursor.next())
        #expect(try [UInt8](cursor.key) == key, "seed \(seed), round \(round)")
        #expect(try cursor.storedValue().array == expected[key], "seed \(seed), round \(round)")
      }
      #expect(try !cursor.next())
    }
  }
}
