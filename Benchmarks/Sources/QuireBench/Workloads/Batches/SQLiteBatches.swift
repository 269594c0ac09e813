/// The gallery by single statements.
enum SQLiteBatches {
  static func insertMany(_ run: Run) throws {
    let database = try SQLiteObjects.open(run)
    run.operationCount = 10 * run.count
    let insert = try database.prepare(SQLiteObjects.insertSQL)
    try run.time {
      try database.transaction {
        for id in 1...run.operationCount {
          try SQLiteObjects.insert(
            id, title: ArtworkData.title(id), slug: ArtworkData.slug(id), insert)
        }
      }
    }
    try run.expect(
      try database.integer("SELECT count(*) FROM artwork"), run.operationCount, "the artworks")
  }

  static func update(_ run: Run) throws {
    let database =
      try run.mode == .memory ? SQLiteObjects.openWithAll(run) : SQLiteObjects.open(run)
    try run.time {
      try database.transaction { try database.execute("UPDATE artwork SET price = price * 2") }
    }
  }

  static func delete(_ run: Run) throws {
    let database =
      try run.mode == .memory ? SQLiteObjects.openWithAll(run) : SQLiteObjects.open(run)
    run.operationCount = run.count / 2
    try run.time {
      try database.transaction {
        try database.execute("DELETE FROM artwork WHERE isPublished")
      }
    }
    try run.expect(
      try database.integer("SELECT count(*) FROM artwork"), run.count - run.count / 2,
      "the artworks left")
  }
}
