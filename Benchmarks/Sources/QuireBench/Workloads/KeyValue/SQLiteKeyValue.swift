import Synchronization

/// The key-value workloads on SQLite: with byte strings for keys a table that is a B-tree of its
/// own, without row IDs; with integers a table whose row IDs they are.
struct SQLiteKeyValue: KeyValueSteps {
  let keys: KeyKind
  /// As large as ours beside it.
  var cache = QuireCache.resident

  func put(_ order: KeyOrder) -> Contender.Step {
    { run in
      let numbers = run.numbers(order)
      let database = try create(run)
      let rows = try SQLiteRows(database, keys)
      try run.time {
        try numbers.forEachBatch { batch in
          try database.transaction { for number in batch { try rows.put(number) } }
        }
      }
      if run.mode == .memory { try check(database, run) }
    }
  }

  /// Sorted inserts in one transaction: the fastest way there is.
  func bulk(_ run: Run) throws {
    let database = try create(run)
    let rows = try SQLiteRows(database, keys)
    try run.time {
      try database.transaction { for number in 0..<run.count { try rows.put(number) } }
    }
  }

  func get(_ run: Run) throws {
    let database = try open(run)
    let rows = try SQLiteRows(database, keys)
    let order = shuffled(run.count)
    var sum = KeyValueSum()
    try run.time {
      try database.reading {
        for number in order { try rows.get(number, &sum) }
      }
    }
    try run.expect(sum, .expected(0..<run.count, withKeys: false), "what was got")
  }

  func scan(_ run: Run) throws {
    let database = try open(run)
    let sum = try run.time { try scan(database) }
    try run.expect(sum, .expected(0..<run.count), "what was scanned")
  }

  func update(_ run: Run) throws {
    let database = try open(run)
    let numbers = Updates.numbers(of: run.count)
    run.operationCount = numbers.count
    let rows = try SQLiteRows(database, keys, Updates.data)
    try run.time {
      try numbers.forEachBatch { batch in
        try database.transaction { for number in batch { try rows.put(number) } }
      }
    }
  }

  func verifyUpdates(_ run: Run) throws {
    try run.expect(try scan(try open(run)), Updates.expected(run.count), "what was updated")
  }

  func verify(_ run: Run) throws {
    guard run.mode != .memory else { return }
    try check(try open(run), run)
  }

  private func check(_ database: SQLiteDatabase, _ run: Run) throws {
    try run.expect(try scan(database), .expected(0..<run.count), "what was put")
  }

  // MARK: Durable commits

  /// A statement outside a transaction is one of its own.
  func commitOneByOne(_ run: Run) throws {
    let database = try create(run, .usual)
    let rows = try SQLiteRows(database, keys)
    try run.time {
      for number in 0..<run.count { try rows.put(number) }
    }
  }

  /// One connection that the threads take in turn. With one for each of them they would sleep until
  /// another one's transaction has ended, as SQLite has one writer.
  func commitFromThreads(_ run: Run) throws {
    let database = try create(run, .usual)
    let rows = try SQLiteRows(database, keys)
    let count = run.count
    let turn = Mutex(())
    try run.time {
      try Threads.run(Threads.writerCount) { thread in
        for number in stride(from: thread, to: count, by: Threads.writerCount) {
          try turn.withLock { _ in try rows.put(number) }
        }
      }
    }
  }

  // MARK: A writer and a reader

  func makeConcurrencyFixture(_ run: Run) throws {
    try put(0..<Concurrency.startCount, try create(run))
  }

  func writeAndRead(_ run: Run) throws {
    let connections = try (0..<2).map { _ in try open(run, isShared: true) }
    try Concurrency.measure(
      run,
      write: { work in
        let database = connections[0]
        let rows = try SQLiteRows(database, keys)
        while let batch = work.nextBatch() {
          try database.transaction { for number in batch { try rows.put(number) } }
        }
      },
      read: { work in
        let database = connections[1]
        let rows = try SQLiteRows(database, keys)
        while let numbers = work.nextReads() {
          var sum = KeyValueSum()
          try database.reading {
            for number in numbers { try rows.get(number, &sum) }
          }
          work.add(sum)
        }
      },
      scan: { try scan(connections[0]) })
  }

  func write(_ work: Concurrency.Writing, _ run: Run) throws {
    let database = try open(run, isShared: true)
    let rows = try SQLiteRows(database, keys)
    while let batch = work.nextBatch() {
      try database.transaction { for number in batch { try rows.put(number) } }
    }
  }

  func writeInTurn(_ work: Concurrency.Writing, _ run: Run) throws { try write(work, run) }

  func read(_ work: Concurrency.Reading, _ run: Run) throws {
    let database = try open(run, isShared: true)
    let rows = try SQLiteRows(database, keys)
    while let numbers = work.nextReads() {
      var sum = KeyValueSum()
      try database.reading {
        for number in numbers { try rows.get(number, &sum) }
      }
      work.add(sum)
    }
  }

  func openAndRead(_ work: Concurrency.Reading, _ run: Run) throws {
    var settings = SQLiteSettings.opening
    settings.isShared = true
    while let numbers = work.nextReads() {
      let database = try SQLiteDatabase(path(run), run.mode, settings)
      let rows = try SQLiteRows(database, keys, writing: false)
      var sum = KeyValueSum()
      for number in numbers { try rows.get(number, &sum) }
      work.add(sum)
    }
  }

  /// A statement outside a transaction sees the newest state.
  func hear(_ work: Concurrency.Hearing, _ run: Run) throws {
    let database = try open(run, isShared: true)
    let rows = try SQLiteRows(database, keys, writing: false)
    while let number = work.next() {
      var sum = KeyValueSum()
      try rows.get(number, &sum)
      work.add(sum)
    }
  }

  func sum(_ run: Run) throws -> KeyValueSum { try scan(try open(run)) }

  // MARK: Open and close

  func makeStore(_ count: Int) -> Contender.Step {
    { run in try put(0..<count, try create(run)) }
  }

  func openAndClose(_ count: Int) -> Contender.Step {
    { run in
      var sum = KeyValueSum()
      try run.time {
        for opening in 0..<run.count {
          let database = try SQLiteDatabase(path(run), run.mode, .opening)
          let rows = try SQLiteRows(database, keys, writing: false)
          try rows.get(OpenedStore.row(opening, of: count), &sum)
        }
      }
      try run.expect(sum, OpenedStore.expected(run.count, of: count), "what was read")
    }
  }

  // MARK: The database

  private func put(_ numbers: Range<Int>, _ database: SQLiteDatabase) throws {
    let rows = try SQLiteRows(database, keys)
    try numbers.forEachBatch { batch in
      try database.transaction { for number in batch { try rows.put(number) } }
    }
  }

  private func scan(_ database: SQLiteDatabase) throws -> KeyValueSum {
    let select = try database.prepare("SELECT k, v FROM kv ORDER BY k")
    var sum = KeyValueSum()
    while try select.step() {
      switch keys {
      case .bytes: sum.add(key: select.bytes(0), .bytes)
      case .integers: sum.add(key: select.integer(0))
      }
      sum.add(value: select.bytes(1))
    }
    return sum
  }

  private func path(_ run: Run) -> String { run.path("store.sqlite") }

  func open(
    _ run: Run, _ cache: QuireCache? = nil, isShared: Bool = false
  ) throws -> SQLiteDatabase {
    var settings = (cache ?? self.cache) == .resident ? .resident : SQLiteSettings()
    settings.isShared = isShared
    return try SQLiteDatabase(path(run), run.mode, settings.tuned(run.isTuned))
  }

  private func create(_ run: Run, _ cache: QuireCache? = nil) throws -> SQLiteDatabase {
    let database = try open(run, cache)
    switch keys {
    case .bytes:
      try database.execute("CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID")
    case .integers:
      try database.execute("CREATE TABLE kv (k INTEGER PRIMARY KEY, v BLOB NOT NULL)")
    }
    return database
  }
}

/// The table's two statements.
final class SQLiteRows {
  private let keys: KeyKind
  private let insert: SQLiteStatement?
  private let select: SQLiteStatement
  private let data: KeyValueData

  /// - Parameter writing: whether the statement that puts is made, too.
  init(
    _ database: SQLiteDatabase, _ keys: KeyKind, _ data: KeyValueData = KeyValueData(),
    writing: Bool = true
  ) throws {
    self.keys = keys
    self.data = data
    // Without other indexes a row of the same key is written over, and none is looked for before.
    insert = try writing ? database.prepare("INSERT OR REPLACE INTO kv VALUES (?, ?)") : nil
    select = try database.prepare("SELECT v FROM kv WHERE k = ?")
  }

  @inline(__always)
  func put(_ number: Int) throws {
    guard let insert else { return }
    bind(number, to: insert)
    insert.bind(2, data.value(number))
    try insert.run()
  }

  @inline(__always)
  func get(_ number: Int, _ sum: inout KeyValueSum) throws {
    bind(number, to: select)
    if try select.step() { sum.add(value: select.bytes(0)) }
    select.reset()
  }

  @inline(__always)
  private func bind(_ number: Int, to statement: SQLiteStatement) {
    switch keys {
    case .bytes: statement.bind(1, data.key(number))
    case .integers: statement.bind(1, number)
    }
  }
}
