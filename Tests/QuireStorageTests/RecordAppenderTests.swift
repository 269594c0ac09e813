import QuireSimulation
import QuireStorage
import Testing

/// Whoever appends makes the tree that whoever puts makes, leaf by leaf.
@Suite struct RecordAppenderTests {
  private enum Step {
    case put(Int64, [UInt8])
    /// By somebody else, while the appender has a leaf at hand.
    case putBeside(Int64, [UInt8])
    case remove(Int64)
  }

  private func steps(_ seed: UInt64, _ count: Int) -> [Step] {
    var generator = SeededGenerator(seed: seed)
    var last: Int64 = 0
    return (0..<count).map { _ in
      let value = generator.bytes(generator.below(generator.below(40) == 0 ? 900 : 60))
      switch generator.below(60) {
      // Far away, so that a leaf needs wider differences.
      case 0: last += 1 << 20
      case 1: return .put(Int64(generator.below(Int(last) + 1)), value)
      case 2: return .putBeside(Int64(generator.below(Int(last) + 1)), value)
      case 3: return .remove(Int64(generator.below(Int(last) + 1)))
      case 4:
        last += 1
        return .putBeside(last, value)
      default: last += Int64(1 + generator.below(3))
      }
      return .put(last, value)
    }
  }

  /// The keys and values of each leaf.
  private func leaves(_ store: PageStore) throws -> [[(Int64, [UInt8]?)]] {
    let tree = try #require(try store.snapshot().recordTree("tree"))
    var cursor = tree.cursor()
    var entries: [RecordEntry] = []
    var leaves: [[(Int64, [UInt8]?)]] = []
    while try cursor.next() {
      let owner = try #require(try cursor.list(&entries))
      withExtendedLifetime(owner) {
        leaves.append(
          entries.map { entry in
            (
              entry.key,
              entry.start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: entry.byteCount)) }
            )
          })
      }
    }
    return leaves
  }

  @Test(arguments: [512, 4096], [1, 2, 3, 4] as [UInt64])
  func `leaves are as those that are put one by one`(pageSize: Int, seed: UInt64) throws {
    let steps = steps(seed, 3_000)
    let stores = (PageStore.inMemory(pageSize: pageSize), PageStore.inMemory(pageSize: pageSize))
    // Several transactions: an appender begins at a tree that is there.
    for start in stride(from: 0, to: steps.count, by: 700) {
      let part = steps[start..<min(start + 700, steps.count)]
      try stores.0.write { transaction in
        let tree =
          try transaction.mutableRecordTree("tree") ?? transaction.createRecordTree("tree")
        let appender = tree.appender()
        for step in part {
          switch step {
          case .put(let key, let value):
            let isThere = try tree.contains(key)
            let wasThere = try value.withUnsafeBytes { try appender.put($0, for: key) }
            #expect(wasThere == isThere)
          case .putBeside(let key, let value): try tree.put(value, for: key)
          case .remove(let key): try tree.remove(key)
          }
        }
      }
      try stores.1.write { transaction in
        let tree =
          try transaction.mutableRecordTree("tree") ?? transaction.createRecordTree("tree")
        for step in part {
          switch step {
          case .put(let key, let value), .putBeside(let key, let value):
            try tree.put(value, for: key)
          case .remove(let key): try tree.remove(key)
          }
        }
      }
    }
    let (appended, put) = (try leaves(stores.0), try leaves(stores.1))
    #expect(put.count > 20)
    #expect(appended.map { $0.map(\.0) } == put.map { $0.map(\.0) })
    #expect(appended.map { $0.map(\.1) } == put.map { $0.map(\.1) })
    let counts = try (
      stores.0.snapshot().recordTree("tree")?.count, stores.1.snapshot().recordTree("tree")?.count
    )
    #expect(counts.0 == counts.1)
    #expect(try stores.0.check().findings.isEmpty)
  }

  @Test func `an appender does nothing any more when its transaction has ended`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    let transaction = try store.beginWrite()
    let appender = try transaction.createRecordTree("tree").appender()
    for key in Int64(1)...5 {
      _ = try [1, 2, 3].withUnsafeBytes { try appender.put($0, for: key) }
    }
    transaction.abort()
    #expect(throws: StorageError.self) {
      try [1, 2, 3].withUnsafeBytes { try appender.put($0, for: 6) }
    }
  }
}
