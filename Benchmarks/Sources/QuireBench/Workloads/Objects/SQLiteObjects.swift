/// The object workloads as a program that knows its schema writes them against the C API.
///
/// It makes no objects and no strings: it looks at columns in place. That is the floor that an
/// object layer is measured against, not what an application on SQLite would see.
enum SQLiteObjects {
  static let insertSQL = "INSERT INTO artwork VALUES (?, ?, ?, ?, ?, ?, ?)"
  static let selectSQL =
    "SELECT id, title, slug, price, createdAt, isPublished, artist FROM artwork"

  // MARK: Fixtures

  static func makeArtists(_ run: Run) throws { _ = try openWithArtists(run) }

  static func makeAll(_ run: Run) throws { _ = try openWithAll(run) }

  // MARK: Timed

  static func insert(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithArtists(run) : open(run)
    let data = ArtworkData(count: run.count)
    try run.time { try insert(data, into: database) }
    if run.mode == .memory { try check(database, run, updatedCount: 0) }
  }

  static func fetchAll(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    // One statement is one transaction.
    let sum = try run.time { try read(database) }
    try run.expect(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
  }

  /// The program sees each price before it changes it. One statement for all of them is
  /// `batch_update`.
  static func update(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = run.count / 10
    try run.time {
      let select = try database.prepare("SELECT price FROM artwork WHERE id = ?")
      let update = try database.prepare("UPDATE artwork SET price = ? WHERE id = ?")
      try database.transaction {
        for index in 0..<run.operationCount {
          let id = ArtworkData.updated(index, of: run.count)
          select.bind(1, id)
          guard try select.step() else { throw BenchmarkError("no artwork \(id)") }
          let price = select.double(0)
          select.reset()
          update.bind(1, ArtworkData.newPrice(price))
          update.bind(2, id)
          try update.run()
        }
      }
    }
    if run.mode == .memory { try check(database, run, updatedCount: run.operationCount) }
  }

  // MARK: Checks

  static func verify(_ run: Run, updatedCount: Int) throws {
    guard run.mode != .memory else { return }
    try check(try open(run), run, updatedCount: updatedCount)
  }

  static func check(_ database: SQLiteDatabase, _ run: Run, updatedCount: Int) throws {
    let data = ArtworkData(count: run.count)
    try run.expect(
      try read(database), .expected(data, updatedCount: updatedCount), "what is in the database")
    let select = try database.prepare(
      "SELECT slug, name FROM artwork JOIN artist ON artist.id = artist WHERE artwork.id = ?")
    for id in stride(from: 1, through: run.count, by: 97) {
      select.bind(1, id)
      _ = try select.step()
      try run.expect(
        String(decoding: select.text(0), as: UTF8.self), data.slugs[id - 1],
        "slug of artwork \(id)")
      try run.expect(
        String(decoding: select.text(1), as: UTF8.self),
        ArtworkData.artistName(ArtworkData.artist(id)), "artist of artwork \(id)")
      select.reset()
    }
  }

  // MARK: Steps

  static func path(_ run: Run) -> String { run.path("store.sqlite") }

  static func open(_ run: Run) throws -> SQLiteDatabase { try open(run, at: path(run)) }

  static func open(_ run: Run, at path: String) throws -> SQLiteDatabase {
    try SQLiteDatabase(path, run.mode, SQLiteSettings().tuned(run.isTuned))
  }

  private static let tablesSQL = """
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE artwork (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, slug TEXT NOT NULL, price REAL NOT NULL,
      createdAt REAL, isPublished INTEGER NOT NULL, artist INTEGER REFERENCES artist (id));
    """
  static let indexesSQL = """
    CREATE INDEX bySlug ON artwork (slug);
    CREATE INDEX byArtist ON artwork (artist);
    """

  static func openWithArtists(_ run: Run) throws -> SQLiteDatabase {
    let database = try open(run)
    try database.execute(tablesSQL + indexesSQL)
    let insert = try database.prepare("INSERT INTO artist VALUES (?, ?)")
    try database.transaction {
      for id in 1...ArtworkData.artistCount {
        insert.bind(1, id)
        try Array(ArtworkData.artistName(id).utf8).withUnsafeBufferPointer {
          insert.bind(2, text: $0)
          try insert.run()
        }
      }
    }
    return database
  }

  static func openWithAll(_ run: Run) throws -> SQLiteDatabase {
    let database = try openWithArtists(run)
    try insert(ArtworkData(count: run.count), into: database)
    return database
  }

  /// Fills the empty table in one transaction, and makes its indexes when all rows are there, from
  /// sorted keys, as our batch does.
  static func load(
    _ count: Int, into database: SQLiteDatabase, _ texts: (Int) -> (title: String, slug: String)
  ) throws {
    let insert = try database.prepare(insertSQL)
    try database.transaction {
      try database.execute("DROP INDEX bySlug; DROP INDEX byArtist")
      for id in 1...count {
        let (title, slug) = texts(id)
        try self.insert(id, title: title, slug: slug, insert)
      }
      try database.execute(indexesSQL)
    }
  }

  private static func insert(_ data: ArtworkData, into database: SQLiteDatabase) throws {
    let insert = try database.prepare(insertSQL)
    try database.transaction {
      for id in 1...data.titles.count { try self.insert(id, data, insert) }
    }
  }

  static func insert(_ id: Int, _ data: ArtworkData, _ insert: SQLiteStatement) throws {
    try self.insert(id, title: data.titles[id - 1], slug: data.slugs[id - 1], insert)
  }

  static func insert(
    _ id: Int, title: String, slug: String, _ insert: SQLiteStatement
  ) throws {
    insert.bind(1, id)
    insert.bind(4, ArtworkData.price(id))
    insert.bind(5, ArtworkData.createdAt(id))
    insert.bind(6, ArtworkData.isPublished(id) ? 1 : 0)
    insert.bind(7, ArtworkData.artist(id))
    try withUTF8(title) { title in
      try withUTF8(slug) { slug in
        insert.bind(2, text: title)
        insert.bind(3, text: slug)
        try insert.run()
      }
    }
  }

  static func withUTF8(
    _ text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void
  ) rethrows {
    var text = text
    try text.withUTF8(body)
  }

  static func read(_ database: SQLiteDatabase) throws -> ArtworkSum {
    let select = try database.prepare(selectSQL)
    var sum = ArtworkSum()
    while try select.step() { sum.add(select) }
    return sum
  }
}

extension ArtworkSum {
  /// Reads every column of an artwork.
  mutating func add(_ select: SQLiteStatement) {
    _ = select.integer(0)
    let title = select.text(1)
    let slug = select.text(2)
    add(
      textByteCount: title.count + slug.count, first: title.firstNumber + slug.firstNumber,
      price: select.double(3), createdAt: select.double(4), isPublished: select.integer(5) != 0,
      hasArtist: select.integer(6) != 0)
  }
}
