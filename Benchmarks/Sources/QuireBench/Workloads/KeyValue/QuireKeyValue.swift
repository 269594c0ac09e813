import QuireStorage

/// The key-value workloads on one of the engine's trees.
struct QuireKeyValue<Tree: QuireTree>: KeyValueSteps {
  var cache = QuireCache.resident
  private var tree: String { "kv" }

  func put(_ order: KeyOrder) -> Contender.Step {
    { run in
      let numbers = run.numbers(order)
      let store = try create(run)
      let data = KeyValueData()
      try run.time {
        try numbers.forEachBatch { try put($0, data, store) }
      }
      if run.mode == .memory { try check(store, run) }
      try store.close()
    }
  }

  func bulk(_ run: Run) throws {
    let store = try open(run)
    try run.time {
      try store.write { try Tree.build(tree, run.count, $0) }
    }
    try store.close()
  }

  func get(_ run: Run) throws {
    let store = try open(run)
    let data = KeyValueData()
    let order = shuffled(run.count)
    var sum = KeyValueSum()
    try run.time {
      let tree = try readTree(store)
      for number in order { try Tree.get(number, data, in: tree, &sum) }
    }
    try run.expect(sum, .expected(0..<run.count, withKeys: false), "what was got")
    try store.close()
  }

  func scan(_ run: Run) throws {
    let store = try open(run)
    let sum = try run.time { try scan(store) }
    try run.expect(sum, .expected(0..<run.count), "what was scanned")
    try store.close()
  }

  func update(_ run: Run) throws {
    let store = try open(run)
    let numbers = Updates.numbers(of: run.count)
    run.operationCount = numbers.count
    let data = Updates.data
    try run.time {
      try numbers.forEachBatch { try put($0, data, store) }
    }
    try store.close()
  }

  func verifyUpdates(_ run: Run) throws {
    let store = try open(run)
    try run.expect(try scan(store), Updates.expected(run.count), "what was updated")
    try store.close()
  }

  func verify(_ run: Run) throws {
    guard run.mode != .memory else { return }
    let store = try open(run)
    try check(store, run)
    try store.close()
  }

  private func check(_ store: PageStore, _ run: Run) throws {
    try run.expect(try scan(store), .expected(0..<run.count), "what was put")
  }

  // MARK: Durable commits

  func commitOneByOne(_ run: Run) throws {
    let store = try create(run, cache: .usual)
    let data = KeyValueData()
    try run.time {
      for number in 0..<run.count { try put(CollectionOfOne(number), data, store) }
    }
    try store.close()
  }

  func commitFromThreads(_ run: Run) throws {
    let store = try create(run, cache: .usual)
    let count = run.count
    try run.time {
      try Threads.run(Threads.writerCount) { thread in
        let data = KeyValueData()
        for number in stride(from: thread, to: count, by: Threads.writerCount) {
          try put(CollectionOfOne(number), data, store)
        }
      }
    }
    try store.close()
  }

  // MARK: A writer and a reader

  func makeConcurrencyFixture(_ run: Run) throws {
    try makeStore(Concurrency.startCount)(run)
  }

  func writeAndRead(_ run: Run) throws {
    let store = try open(run)
    try Concurrency.measure(
      run,
      write: { work in
        let data = KeyValueData()
        while let batch = work.nextBatch() { try put(batch, data, store) }
      },
      read: { work in
        let data = KeyValueData()
        while let numbers = work.nextReads() {
          let tree = try readTree(store)
          var sum = KeyValueSum()
          for number in numbers { try Tree.get(number, data, in: tree, &sum) }
          work.add(sum)
        }
      },
      scan: { try scan(store) })
    try store.close()
  }

  func write(_ work: Concurrency.Writing, _ run: Run) throws {
    let store = try open(run)
    let data = KeyValueData()
    while let batch = work.nextBatch() { try put(batch, data, store) }
    try store.close()
  }

  func writeInTurn(_ work: Concurrency.Writing, _ run: Run) throws {
    var options = try options(run)
    options.isShared = true
    let store = try PageStore.open(run.path("store.quire"), options: options)
    let data = KeyValueData()
    while let batch = work.nextBatch() { try put(batch, data, store) }
    try store.close()
  }

  /// A snapshot that the writer has written over is taken anew; that counts no read.
  func read(_ work: Concurrency.Reading, _ run: Run) throws {
    let store = try openToRead(run)
    let data = KeyValueData()
    while let numbers = work.nextReads() { work.add(try get(numbers, data, in: store)) }
    try store.close()
  }

  func openAndRead(_ work: Concurrency.Reading, _ run: Run) throws {
    let data = KeyValueData()
    while let numbers = work.nextReads() {
      let store = try openToRead(run, cache: .usual)
      work.add(try get(numbers, data, in: store))
      try store.close()
    }
  }

  func hear(_ work: Concurrency.Hearing, _ run: Run) throws {
    let store = try openToRead(run)
    let data = KeyValueData()
    while let number = work.next() { work.add(try get([number], data, in: store)) }
    try store.close()
  }

  private func get(
    _ numbers: [Int], _ data: KeyValueData, in store: PageStore
  ) throws -> KeyValueSum {
    while true {
      do {
        let tree = try readTree(store)
        var sum = KeyValueSum()
        for number in numbers { try Tree.get(number, data, in: tree, &sum) }
        return sum
      } catch StorageError.snapshotTooOld {}
    }
  }

  private func openToRead(_ run: Run, cache: QuireCache = .resident) throws -> PageStore {
    var options = PageStoreOptions()
    options.isReadOnly = true
    if cache == .resident { options.cacheByteLimit = 512 << 20 }
    return try PageStore.open(run.path("store.quire"), options: options)
  }

  func sum(_ run: Run) throws -> KeyValueSum {
    let store = try open(run)
    defer { try? store.close() }
    return try scan(store)
  }

  // MARK: Open and close

  func makeStore(_ count: Int) -> Contender.Step {
    { run in
      let store = try create(run)
      let data = KeyValueData()
      try (0..<count).forEachBatch { try put($0, data, store) }
      try store.close()
    }
  }

  func openAndClose(_ count: Int) -> Contender.Step {
    { run in
      let data = KeyValueData()
      var sum = KeyValueSum()
      try run.time {
        for opening in 0..<run.count {
          let store = try open(run, cache: .usual)
          try Tree.get(OpenedStore.row(opening, of: count), data, in: try readTree(store), &sum)
          try store.close()
        }
      }
      try run.expect(sum, OpenedStore.expected(run.count, of: count), "what was read")
    }
  }

  // MARK: The store

  private func open(_ run: Run, cache: QuireCache? = nil) throws -> PageStore {
    if run.mode == .memory { return .inMemory() }
    return try PageStore.open(
      run.path("store.quire"), options: try options(run, cache: cache ?? self.cache))
  }

  func options(_ run: Run, cache: QuireCache = .resident) throws -> PageStoreOptions {
    var options = PageStoreOptions()
    options.durability = try QuireDurability.of(run.mode)
    if cache == .resident { options.cacheByteLimit = 512 << 20 }
    return options
  }

  private func create(_ run: Run, cache: QuireCache? = nil) throws -> PageStore {
    let store = try open(run, cache: cache)
    try store.write { try Tree.create(tree, $0) }
    return store
  }

  @inline(__always)
  func put(
    _ numbers: some Sequence<Int>, _ data: KeyValueData, _ store: PageStore
  ) throws {
    try store.write { transaction in
      guard let tree = try Tree.mutable(tree, transaction) else {
        throw BenchmarkError("no tree \(tree)")
      }
      for number in numbers { try Tree.put(number, data, into: tree) }
    }
  }

  @inline(__always)
  private func scan(_ store: PageStore) throws -> KeyValueSum {
    try Tree.scan(try readTree(store))
  }

  private func readTree(_ store: PageStore) throws -> Tree.Reading {
    guard let tree = try Tree.reading(tree, store.snapshot()) else {
      throw BenchmarkError("no tree \(tree)")
    }
    return tree
  }
}

/// The peers read through the system's cache, which is as large as the memory. Ours is our own:
/// where a million rows are to be resident, it gets the room for them.
enum QuireCache {
  case usual, resident
}

enum QuireDurability {
  static func of(_ mode: Mode) throws -> Durability {
    switch mode {
    case .full: .full
    case .ordered: .ordered
    case .none: .none
    case .memory: throw BenchmarkError("a store in memory has no durability")
    }
  }
}
