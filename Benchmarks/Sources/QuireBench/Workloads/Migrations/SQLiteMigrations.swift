/// The tables brought to their next version by the statements that SQLite's manual gives for it: a
/// new table filled from the old one, and its indexes made again.
enum SQLiteMigrations {
  static func makeFixture(_ run: Run) throws { try SQLiteObjects.makeAll(run) }

  static func rewrite(_ run: Run, _ name: String) throws {
    run.operationCount = 1
    let path = SQLiteObjects.path(run)
    let database = try run.time {
      let database = try SQLiteObjects.open(run, at: path)
      try writeAnew(database)
      return database
    }
    run.record(name, 1)
    withExtendedLifetime(database) {}
  }

  static func writeAnew(_ database: SQLiteDatabase) throws {
    try database.transaction { try database.execute(migration) }
  }

  static func addColumn(_ run: Run) throws {
    run.operationCount = 1
    let path = SQLiteObjects.path(run)
    let database = try run.time {
      let database = try SQLiteObjects.open(run, at: path)
      try database.execute(
        "ALTER TABLE artwork ADD COLUMN rating INTEGER NOT NULL DEFAULT \(Gallery.defaultRating)")
      return database
    }
    run.record("migrate_deferred", 1)
    withExtendedLifetime(database) {}
  }

  private static let migration = """
    CREATE TABLE artwork_new (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, slug TEXT NOT NULL, price REAL NOT NULL,
      createdAt REAL, isPublished INTEGER NOT NULL, artist INTEGER REFERENCES artist (id),
      rating INTEGER NOT NULL);
    INSERT INTO artwork_new
      SELECT id, title, slug, price, createdAt, isPublished, artist, \(Gallery.defaultRating)
      FROM artwork;
    DROP TABLE artwork;
    ALTER TABLE artwork_new RENAME TO artwork;
    CREATE INDEX bySlug ON artwork (slug);
    CREATE INDEX byArtist ON artwork (artist);
    """

  static func verify(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    try run.expect(
      try SQLiteObjects.read(database), .expected(ArtworkData(count: run.count)), "what was kept")
    try run.expect(
      try database.integer("SELECT sum(rating) FROM artwork"), run.count * Gallery.defaultRating,
      "rating")
  }

  // MARK: Persons

  static func makePersons(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    try database.execute(
      """
      CREATE TABLE person (
        id INTEGER PRIMARY KEY, firstname TEXT, lastname TEXT, type INTEGER NOT NULL)
      """)
    let insert = try database.prepare("INSERT INTO person VALUES (?, ?, ?, ?)")
    try database.transaction {
      for id in 1...run.count {
        insert.bind(1, id)
        insert.bind(4, Persons.type(id))
        try Array(Persons.firstname(id).utf8).withUnsafeBufferPointer { first in
          try Array(Persons.lastname(id).utf8).withUnsafeBufferPointer { last in
            insert.bind(2, text: first)
            insert.bind(3, text: last)
            try insert.run()
          }
        }
      }
    }
  }

  /// By statements alone: no row comes to the program, which is what SQLite does best.
  static func split(_ run: Run) throws {
    run.operationCount = 1
    let path = SQLiteObjects.path(run)
    let database = try run.time {
      let database = try SQLiteObjects.open(run, at: path)
      try database.transaction {
        try database.execute(
          """
          CREATE TABLE teacher (id INTEGER PRIMARY KEY, firstname TEXT, lastname TEXT);
          CREATE TABLE student (id INTEGER PRIMARY KEY, firstname TEXT, lastname TEXT);
          INSERT INTO teacher SELECT id, firstname, lastname FROM person WHERE type = 0;
          INSERT INTO student SELECT id, firstname, lastname FROM person WHERE type <> 0;
          DROP TABLE person;
          """)
      }
      return database
    }
    withExtendedLifetime(database) {}
  }

  static func verifySplit(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    let teachers = Persons.teacherCount(of: run.count)
    try run.expect(try database.integer("SELECT count(*) FROM teacher"), teachers, "teachers")
    try run.expect(
      try database.integer("SELECT count(*) FROM student"), run.count - teachers, "students")
  }
}
