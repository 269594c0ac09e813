/// The gallery by single statements.
enum SQLiteBatches {
  static func insert(_ run: Run) throws {
    let database =
      try run.mode == .memory ? SQLiteObjects.openWithArtists(run) : SQLiteObjects.open(run)
    let data = ArtworkData(count: run.count)
    try run.time {
      try SQLiteObjects.load(run.count, into: database) {
        (data.titles[$0 - 1], data.slugs[$0 - 1])
      }
    }
    if run.mode == .memory { try SQLiteObjects.check(database, run, updatedCount: 0) }
  }

  static func insertMany(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    run.operationCount = 10 * run.count
    try run.time {
      try SQLiteObjects.load(run.operationCount, into: database) {
        (ArtworkData.title($0), ArtworkData.slug($0))
      }
    }
    try run.expect(
      try database.integer("SELECT count(*) FROM artwork"), run.operationCount, "the artworks")
  }

  static func update(_ run: Run) throws {
    let database =
      try run.mode == .memory ? SQLiteObjects.openWithAll(run) : SQLiteObjects.open(run)
    // One statement is one transaction.
    try run.time {
      try database.execute("UPDATE artwork SET price = price * 2")
      try run.expect(database.changeCount, run.count, "the artworks changed")
    }
  }

  static func delete(_ run: Run) throws {
    let database =
      try run.mode == .memory ? SQLiteObjects.openWithAll(run) : SQLiteObjects.open(run)
    run.operationCount = run.count / 2
    try run.time {
      try database.execute("DELETE FROM artwork WHERE isPublished")
      try run.expect(database.changeCount, run.count / 2, "the artworks deleted")
    }
    try run.expect(
      try database.integer("SELECT count(*) FROM artwork"), run.count - run.count / 2,
      "the artworks left")
  }
}
