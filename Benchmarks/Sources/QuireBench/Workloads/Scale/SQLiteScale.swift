/// The series of sizes, by statements.
enum SQLiteScale {
  static func insert(_ run: Run) throws {
    // The connection ends before the clock stops: it brings the log into the file.
    try SQLiteObjects.makeArtists(run)
    try run.time {
      let database = try SQLiteObjects.open(run)
      try SQLiteObjects.load(run.count, into: database) {
        (ArtworkData.title($0), ScaleData.slug($0))
      }
    }
  }

  static func open(_ run: Run) throws {
    run.operationCount = 20
    try run.time {
      for _ in 0..<run.operationCount {
        let database = try SQLiteDatabase(SQLiteObjects.path(run), run.mode, .opening)
        let select = try database.prepare("SELECT title FROM artwork WHERE id = ?")
        select.bind(1, run.count)
        guard try select.step() else { throw BenchmarkError("no artwork \(run.count)") }
        try run.expect(
          String(decoding: select.text(0), as: UTF8.self), ArtworkData.title(run.count),
          "the artwork")
      }
    }
  }

  // MARK: Looked up

  static func fetchByID(_ run: Run) throws {
    let lookups = ScaleData.lookups(of: run.count)
    run.operationCount = lookups.count
    let sum = try addUp(run, "WHERE id = ?", lookups) { select, id, read in
      select.bind(1, id)
      try read()
    }
    try run.expectAlmost(sum, ScaleData.expected(lookups), "what was fetched")
  }

  static func fetchBySlug(_ run: Run) throws {
    let lookups = ScaleData.lookups(of: run.count)
    run.operationCount = lookups.count
    let slugs = lookups.map { Array(ScaleData.slug($0).utf8) }
    let sum = try addUp(run, "WHERE slug = ?", slugs) { select, slug, read in
      try slug.withUnsafeBufferPointer {
        select.bind(1, text: $0)
        try read()
      }
    }
    try run.expectAlmost(sum, ScaleData.expected(lookups), "what was fetched")
  }

  /// By a range, which is how SQLite itself answers a `GLOB` whose pattern it knows beforehand.
  static func beginsWith(_ run: Run) throws {
    let beginnings = ScaleData.Beginnings(of: run.count)
    let expected = (1...run.count).filter(beginnings.match)
    run.operationCount = expected.count
    // A colon comes after every digit.
    let ranges = beginnings.texts.map { (start: Array($0.utf8), end: Array(($0 + ":").utf8)) }
    let sum = try addUp(run, "WHERE slug >= ? AND slug < ?", ranges) { select, range, read in
      try range.start.withUnsafeBufferPointer { start in
        try range.end.withUnsafeBufferPointer { end in
          select.bind(1, text: start)
          select.bind(2, text: end)
          try read()
        }
      }
    }
    try run.expectAlmost(sum, ScaleData.expected(expected), "what was fetched")
  }

  // MARK: By artist

  static func count(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    let select = try database.prepare("SELECT count(*) FROM artwork WHERE artist = ?")
    let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
      var found = 0
      try database.reading {
        for artist in 1...ArtworkData.artistCount {
          select.bind(1, artist)
          while try select.step() { found += select.integer(0) }
          select.reset()
        }
      }
      return found
    }
    try run.expect(found, run.count, "the artworks counted")
  }

  static func fetchByArtist(_ run: Run) throws {
    let expected = Array(ScaleData.ids(of: ScaleData.updatedArtists, in: run.count))
    run.operationCount = expected.count
    let artists = Array(ScaleData.updatedArtists)
    let sum = try addUp(run, "WHERE artist = ?", artists) { select, artist, read in
      select.bind(1, artist + 1)
      try read()
    }
    try run.expectAlmost(sum, ScaleData.expected(expected), "what was fetched")
  }

  // MARK: All rows

  static func scan(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    let select = try database.prepare(SQLiteObjects.filterSQL)
    let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
      try SQLiteObjects.filter(ScaleData.scanPrice, select)
    }
    try run.expect(found, ScaleData.expectedScan(count: run.count), "what was found")
  }

  static func group(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    let select = try database.prepare(
      "SELECT artist, count(*), sum(price), avg(price) FROM artwork GROUP BY artist")
    let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
      var found = ArtworkData.Groups()
      while try select.step() {
        found.add(count: select.integer(1), sum: select.double(2), average: select.double(3))
      }
      select.reset()
      return found
    }
    try run.expect(found, ArtworkData.expectedGroups(count: run.count, rounds: 1), "the groups")
  }

  // MARK: Changes

  static func update(_ run: Run) throws {
    try change(
      run, ScaleData.updatedArtists, "UPDATE artwork SET price = price + 1 WHERE artist = ?")
  }

  static func delete(_ run: Run) throws {
    try change(run, ScaleData.deletedArtists, "DELETE FROM artwork WHERE artist = ?")
  }

  private static func change(_ run: Run, _ artists: Range<Int>, _ sql: String) throws {
    let ids = ScaleData.ids(of: artists, in: run.count)
    run.operationCount = ids.reduce(0) { sum, _ in sum + 1 }
    let database = try SQLiteObjects.open(run)
    let before = try database.integer("SELECT total_changes()")
    try run.time {
      let statement = try database.prepare(sql)
      for artist in artists {
        statement.bind(1, artist + 1)
        try database.transaction { try statement.run() }
      }
    }
    try run.expect(
      try database.integer("SELECT total_changes()") - before, run.operationCount,
      "the artworks changed")
  }

  static func migrate(_ run: Run) throws {
    let deleted = ScaleData.ids(of: ScaleData.deletedArtists, in: run.count)
    run.operationCount = deleted.reduce(run.count) { count, _ in count - 1 }
    // The connection ends before the clock stops, as above.
    try run.time { try SQLiteMigrations.writeAnew(try SQLiteObjects.open(run)) }
    try run.expect(
      try SQLiteObjects.open(run).integer("SELECT count(*) FROM artwork WHERE rating = 3"),
      run.operationCount, "the artworks written anew")
  }

  // MARK: Steps

  /// Adds up the rows of a statement for each of some values, in as many transactions as we have
  /// contexts.
  ///
  /// - Parameter bind: binds a value, and calls its last parameter while bound bytes are there.
  private static func addUp<Value>(
    _ run: Run, _ condition: String, _ values: [Value],
    _ bind: (SQLiteStatement, Value, _ read: () throws -> Void) throws -> Void
  ) throws -> ArtworkSum {
    let database = try SQLiteObjects.open(run)
    let select = try database.prepare(SQLiteObjects.selectSQL + " " + condition)
    return try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
      var sum = ArtworkSum()
      try values.forEachBatch(of: ScaleData.lookupsPerContext) { values in
        try database.reading {
          for value in values {
            try bind(select, value) {
              while try select.step() { sum.add(select) }
            }
            select.reset()
          }
        }
      }
      return sum
    }
  }
}
