import QuireStorage

/// The key-value workloads on the engine's index tree.
enum QuireKeyValue {
  private static let tree = "kv"

  static func put(_ run: Run) throws {
    let store = try open(run)
    try store.write { _ = try $0.createIndexTree(tree) }
    let data = KeyValueData()
    try run.time {
      for start in stride(from: 0, to: run.count, by: KeyValueData.batchCount) {
        try store.write { transaction in
          let tree = try mutableTree(transaction)
          for number in start..<min(start + KeyValueData.batchCount, run.count) {
            try tree.put(data.value(number), for: data.key(number))
          }
        }
      }
    }
    if run.mode == .memory { try check(store, run) }
    try store.close()
  }

  static func get(_ run: Run) throws {
    let store = try open(run)
    let data = KeyValueData()
    let order = shuffled(run.count)
    var sum = KeyValueSum()
    try run.time {
      let tree = try readTree(store.snapshot())
      for number in order {
        guard let value = try tree.value(for: data.key(number)) else { continue }
        sum.add(value: value.bytes)
        withExtendedLifetime(value.owner) {}
      }
    }
    var expected = KeyValueSum.expected(run.count)
    expected.keys = 0
    try run.expect(sum, expected, "what was got")
    try store.close()
  }

  static func scan(_ run: Run) throws {
    let store = try open(run)
    let sum = try run.time { try scan(store) }
    try run.expect(sum, .expected(run.count), "what was scanned")
    try store.close()
  }

  static func verify(_ run: Run) throws {
    guard run.mode != .memory else { return }
    let store = try open(run)
    try check(store, run)
    try store.close()
  }

  private static func check(_ store: PageStore, _ run: Run) throws {
    try run.expect(try scan(store), .expected(run.count), "what was put")
  }

  private static func scan(_ store: PageStore) throws -> KeyValueSum {
    var sum = KeyValueSum()
    var cursor = try readTree(store.snapshot()).cursor()
    while try cursor.next() { sum.add(key: try cursor.key, value: try cursor.valueBytes) }
    return sum
  }

  private static func open(_ run: Run) throws -> PageStore {
    if run.mode == .memory { return .inMemory() }
    var options = PageStoreOptions()
    options.durability = try durability(run.mode)
    return try PageStore.open(run.path("store.quire"), options: options)
  }

  static func durability(_ mode: Mode) throws -> Durability {
    switch mode {
    case .full: .full
    case .none: .none
    case .ordered, .memory:
      throw BenchmarkError("the engine has no durability \(mode.rawValue) yet")
    }
  }

  private static func readTree(_ snapshot: Snapshot) throws -> IndexTree {
    guard let tree = try snapshot.indexTree(tree) else { throw BenchmarkError("no tree \(tree)") }
    return tree
  }

  private static func mutableTree(_ transaction: WriteTransaction) throws -> MutableIndexTree {
    guard let tree = try transaction.mutableIndexTree(tree) else {
      throw BenchmarkError("no tree \(tree)")
    }
    return tree
  }
}
