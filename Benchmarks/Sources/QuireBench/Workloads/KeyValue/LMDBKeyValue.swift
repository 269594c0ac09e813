import CLMDB

/// The key-value workloads on LMDB's unnamed table, with `MDB_INTEGERKEY` when keys are integers.
struct LMDBKeyValue: KeyValueSteps {
  let keys: KeyKind

  func put(_ order: KeyOrder) -> Contender.Step {
    { run in
      let numbers = run.numbers(order)
      let environment = try open(run)
      let data = KeyValueData()
      try run.time {
        try numbers.forEachBatch { try put($0, data, environment) }
      }
    }
  }

  /// `MDB_APPEND` in one transaction.
  func bulk(_ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    try run.time {
      try environment.write { transaction in
        let cursor = try transaction.cursor(environment.table)
        for number in 0..<run.count {
          try cursor.append(data.value(number), for: data.key(number, keys))
        }
      }
    }
  }

  func get(_ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    let order = shuffled(run.count)
    var sum = KeyValueSum()
    try run.time {
      let transaction = try environment.beginReading()
      for number in order { try get(number, data, transaction, environment.table, &sum) }
    }
    try run.expect(sum, .expected(0..<run.count, withKeys: false), "what was got")
  }

  func scan(_ run: Run) throws {
    let environment = try open(run)
    let sum = try run.time { try scan(environment) }
    try run.expect(sum, .expected(0..<run.count), "what was scanned")
  }

  func update(_ run: Run) throws {
    let environment = try open(run)
    let numbers = Updates.numbers(of: run.count)
    run.operationCount = numbers.count
    let data = Updates.data
    try run.time {
      try numbers.forEachBatch { try put($0, data, environment) }
    }
  }

  func verifyUpdates(_ run: Run) throws {
    try run.expect(try scan(try open(run)), Updates.expected(run.count), "what was updated")
  }

  func verify(_ run: Run) throws {
    try run.expect(try scan(try open(run)), .expected(0..<run.count), "what was put")
  }

  // MARK: Durable commits

  func commitOneByOne(_ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    try run.time {
      for number in 0..<run.count { try put(CollectionOfOne(number), data, environment) }
    }
  }

  func commitFromThreads(_ run: Run) throws {
    let environment = try open(run)
    let count = run.count
    try run.time {
      try Threads.run(Threads.writerCount) { thread in
        let data = KeyValueData()
        for number in stride(from: thread, to: count, by: Threads.writerCount) {
          try put(CollectionOfOne(number), data, environment)
        }
      }
    }
  }

  // MARK: A writer and a reader

  func makeConcurrencyFixture(_ run: Run) throws {
    try makeStore(Concurrency.startCount)(run)
  }

  func writeAndRead(_ run: Run) throws {
    let environment = try open(run)
    try Concurrency.measure(
      run,
      write: { work in
        let data = KeyValueData()
        while let batch = work.nextBatch() { try put(batch, data, environment) }
      },
      read: { work in
        let data = KeyValueData()
        let transaction = try environment.beginReading()
        while let numbers = work.nextReads() {
          try transaction.renew()
          var sum = KeyValueSum()
          for number in numbers { try get(number, data, transaction, environment.table, &sum) }
          work.add(sum)
        }
      },
      scan: { try scan(environment) })
  }

  func write(_ work: Concurrency.Writing, _ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    while let batch = work.nextBatch() { try put(batch, data, environment) }
  }

  func writeInTurn(_ work: Concurrency.Writing, _ run: Run) throws { try write(work, run) }

  func read(_ work: Concurrency.Reading, _ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    let transaction = try environment.beginReading()
    while let numbers = work.nextReads() {
      try transaction.renew()
      var sum = KeyValueSum()
      for number in numbers { try get(number, data, transaction, environment.table, &sum) }
      work.add(sum)
    }
  }

  func openAndRead(_ work: Concurrency.Reading, _ run: Run) throws {
    let data = KeyValueData()
    while let numbers = work.nextReads() {
      let (transaction, table) = try LMDBEnvironment.reading(path(run), run.mode)
      var sum = KeyValueSum()
      for number in numbers { try get(number, data, transaction, table, &sum) }
      work.add(sum)
    }
  }

  func hear(_ work: Concurrency.Hearing, _ run: Run) throws {
    let environment = try open(run)
    let data = KeyValueData()
    let transaction = try environment.beginReading()
    while let number = work.next() {
      try transaction.renew()
      var sum = KeyValueSum()
      try get(number, data, transaction, environment.table, &sum)
      work.add(sum)
    }
  }

  func sum(_ run: Run) throws -> KeyValueSum { try scan(try open(run)) }

  // MARK: Open and close

  func makeStore(_ count: Int) -> Contender.Step {
    { run in
      let environment = try open(run)
      let data = KeyValueData()
      try (0..<count).forEachBatch { try put($0, data, environment) }
    }
  }

  func openAndClose(_ count: Int) -> Contender.Step {
    { run in
      let data = KeyValueData()
      var sum = KeyValueSum()
      try run.time {
        for opening in 0..<run.count {
          let (transaction, table) = try LMDBEnvironment.reading(path(run), run.mode)
          try get(OpenedStore.row(opening, of: count), data, transaction, table, &sum)
        }
      }
      try run.expect(sum, OpenedStore.expected(run.count, of: count), "what was read")
    }
  }

  // MARK: The table

  private func open(_ run: Run) throws -> LMDBEnvironment {
    try LMDBEnvironment(path(run), run.mode, keys)
  }

  private func path(_ run: Run) -> String { run.path("store.lmdb") }

  @inline(__always)
  private func put(
    _ numbers: some Sequence<Int>, _ data: KeyValueData, _ environment: LMDBEnvironment
  ) throws {
    try environment.write { transaction in
      for number in numbers {
        try transaction.put(
          data.value(number), for: data.key(number, keys), in: environment.table)
      }
    }
  }

  @inline(__always)
  private func get(
    _ number: Int, _ data: KeyValueData, _ transaction: LMDBTransaction, _ table: MDB_dbi,
    _ sum: inout KeyValueSum
  ) throws {
    guard let value = try transaction.value(for: data.key(number, keys), in: table) else { return }
    sum.add(value: value)
  }

  private func scan(_ environment: LMDBEnvironment) throws -> KeyValueSum {
    let transaction = try environment.beginReading()
    let cursor = try transaction.cursor(environment.table)
    var sum = KeyValueSum()
    while let (key, value) = try cursor.next() {
      sum.add(key: key, keys)
      sum.add(value: value)
    }
    return sum
  }
}
