/// The key-value workloads on a table that is a B-tree of its own, without row IDs.
enum SQLiteKeyValue {
  static func put(_ run: Run) throws {
    let database = try open(run)
    try database.execute("CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID")
    let insert = try database.prepare("INSERT OR REPLACE INTO kv VALUES (?, ?)")
    let data = KeyValueData()
    try run.time {
      for start in stride(from: 0, to: run.count, by: KeyValueData.batchCount) {
        try database.transaction {
          for number in start..<min(start + KeyValueData.batchCount, run.count) {
            insert.bind(1, data.key(number))
            insert.bind(2, data.value(number))
            try insert.run()
          }
        }
      }
    }
    if run.mode == .memory { try check(database, run) }
  }

  static func get(_ run: Run) throws {
    let database = try open(run)
    let select = try database.prepare("SELECT v FROM kv WHERE k = ?")
    let data = KeyValueData()
    let order = shuffled(run.count)
    var sum = KeyValueSum()
    try run.time {
      // One read transaction, as our one snapshot: no lock is taken for each get.
      try database.execute("BEGIN")
      for number in order {
        select.bind(1, data.key(number))
        if try select.step() { sum.add(value: select.bytes(0)) }
        select.reset()
      }
      try database.execute("COMMIT")
    }
    var expected = KeyValueSum.expected(run.count)
    expected.keys = 0
    try run.expect(sum, expected, "what was got")
  }

  static func scan(_ run: Run) throws {
    let database = try open(run)
    let sum = try run.time { try scan(database) }
    try run.expect(sum, .expected(run.count), "what was scanned")
  }

  static func verify(_ run: Run) throws {
    guard run.mode != .memory else { return }
    try check(try open(run), run)
  }

  private static func check(_ database: SQLiteDatabase, _ run: Run) throws {
    try run.expect(try scan(database), .expected(run.count), "what was put")
  }

  private static func scan(_ database: SQLiteDatabase) throws -> KeyValueSum {
    let select = try database.prepare("SELECT k, v FROM kv ORDER BY k")
    var sum = KeyValueSum()
    while try select.step() { sum.add(key: select.bytes(0), value: select.bytes(1)) }
    return sum
  }

  private static func open(_ run: Run) throws -> SQLiteDatabase {
    try SQLiteDatabase(run.path("store.sqlite"), run.mode)
  }
}
