#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Databases made, opened and migrated by hand-written statements.
enum SQLiteStacks {
  private static let fixture = "fixture.sqlite"

  // MARK: Timed

  /// Each database begins as a copy of one that was made once, as our stores begin with a model
  /// that was made once.
  static func create(_ run: Run) throws {
    let image = try SQLiteImage(schema(withIndexes: false))
    var sum = 0
    try run.time {
      for number in 0..<run.count {
        let database = try SQLiteDatabase("", .memory, .opening)
        try image.copy(into: database)
        let insert = try database.prepare(
          "INSERT INTO entity01 (id, title, count, isOpen) VALUES (1, 'A title', ?, 0)")
        insert.bind(1, number)
        try insert.run()
        let select = try database.prepare(
          "SELECT id, title, body, count, price, createdAt, isOpen FROM entity01")
        while try select.step() { sum += select.integer(3) }
      }
    }
    try run.expect(sum, run.count * (run.count - 1) / 2, "the counts that were fetched")
  }

  static func openAndClose(_ run: Run) throws {
    let path = run.path(fixture)
    var sum = 0
    try run.time {
      for _ in 0..<run.count {
        let database = try SQLiteDatabase(path, run.mode, .opening)
        let select = try database.prepare(
          "SELECT id, title, body, count, price, createdAt, isOpen FROM entity01 LIMIT 1")
        while try select.step() { sum += select.integer(3) }
      }
    }
    try run.expect(sum, run.count * TwentyEntities.count(1, 1), "the counts that were fetched")
  }

  static func migrate(_ run: Run) throws {
    for _ in 0..<run.count {
      let copy = run.url("store.sqlite")
      try? FileManager.default.removeItem(at: copy)
      try FileManager.default.copyItem(at: run.url(fixture), to: copy)
      let database = try run.time {
        let database = try SQLiteDatabase(run.path("store.sqlite"), run.mode, .opening)
        try database.transaction { try database.execute(migration) }
        return database
      }
      try check(database, run)
    }
    run.record("migrate_small", run.count)
    try FileManager.default.removeItem(at: run.url(fixture))
  }

  private static let migration = """
    ALTER TABLE entity01 ADD COLUMN note TEXT;
    ALTER TABLE entity02 ADD COLUMN rating INTEGER NOT NULL DEFAULT 3;
    ALTER TABLE entity03 ADD COLUMN status TEXT NOT NULL DEFAULT 'open';
    ALTER TABLE entity04 RENAME COLUMN title TO name;
    CREATE TABLE entity05_new (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, weight REAL NOT NULL, price REAL,
      createdAt REAL, isOpen INTEGER NOT NULL, kept INTEGER, parent INTEGER);
    INSERT INTO entity05_new
      SELECT id, title, body, 1.5, price, createdAt, isOpen, kept, parent FROM entity05;
    DROP TABLE entity05;
    ALTER TABLE entity05_new RENAME TO entity05;
    CREATE INDEX entity05_parent ON entity05 (parent);
    """

  // MARK: Fixture

  /// - Parameter withIndexes: whether each way to a parent has the index that makes the way back
  ///   fast, as our links have. Without them the peer has less to do.
  private static func schema(withIndexes: Bool) -> String {
    (1...TwentyEntities.entityCount).map { number in
      let table = TwentyEntities.name(number).lowercased()
      let kept = number > 3 ? "kept INTEGER, " : ""
      var sql = """
        CREATE TABLE \(table) (
          id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, count INTEGER NOT NULL, price REAL,
          createdAt REAL, isOpen INTEGER NOT NULL, \(kept)parent INTEGER);
        """
      if withIndexes { sql += "CREATE INDEX \(table)_parent ON \(table) (parent);" }
      return sql
    }.joined()
  }

  static func makeFixture(_ run: Run) throws {
    let database = try SQLiteDatabase(run.path(fixture), run.mode)
    try database.transaction {
      try database.execute(schema(withIndexes: true))
      for number in 1...TwentyEntities.entityCount {
        let table = TwentyEntities.name(number).lowercased()
        let insert = try database.prepare(
          "INSERT INTO \(table) (id, title, body, count, price, createdAt, isOpen, parent) "
            + "VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, 0))")
        for key in 1...TwentyEntities.objectCount { try fill(insert, number, key) }
      }
    }
  }

  private static func fill(_ insert: SQLiteStatement, _ number: Int, _ key: Int) throws {
    insert.bind(1, key)
    insert.bind(4, TwentyEntities.count(number, key))
    insert.bind(5, TwentyEntities.price(number, key))
    insert.bind(6, TwentyEntities.createdAt(number, key))
    insert.bind(7, TwentyEntities.isOpen(number, key) ? 1 : 0)
    insert.bind(8, number > 1 ? key : 0)
    try Array(TwentyEntities.title(number, key).utf8).withUnsafeBufferPointer { title in
      try Array(TwentyEntities.body(number, key).utf8).withUnsafeBufferPointer { body in
        insert.bind(2, text: title)
        insert.bind(3, text: body)
        try insert.run()
      }
    }
  }

  // MARK: Check

  private static func check(_ database: SQLiteDatabase, _ run: Run) throws {
    var sum = TwentyEntities.Sum()
    for number in 1...TwentyEntities.entityCount {
      let title = number == 4 ? "name" : "title"
      let select = try database.prepare(
        "SELECT \(title), body, price, createdAt, isOpen, parent "
          + "FROM \(TwentyEntities.name(number).lowercased())")
      while try select.step() {
        sum.add(
          textByteCount: select.text(0).count + select.text(1).count, price: select.double(2),
          createdAt: select.double(3), isOpen: select.integer(4) != 0,
          hasParent: select.integer(5) != 0)
      }
    }
    try run.expect(sum, .expected(), "what the migration kept")
    let count = TwentyEntities.objectCount
    try run.expect(
      try database.integer("SELECT count(*) FROM entity01 WHERE note IS NULL"), count, "note")
    try run.expect(
      try database.integer("SELECT sum(rating) FROM entity02"),
      count * TwentyEntities.defaultRating, "rating")
    try run.expect(
      try database.integer("SELECT count(*) FROM entity03 WHERE status = 'open'"), count, "status")
    try run.expect(
      try database.integer("SELECT count(*) FROM entity05 WHERE weight = 1.5"), count, "weight")
  }
}
