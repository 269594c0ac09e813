// Rows that come in batches, and that go.

extension SQLiteObjects {
  static func insertBatched(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithArtists(run) : open(run)
    let data = ArtworkData(count: run.count)
    try run.time {
      let insert = try database.prepare(insertSQL)
      for start in stride(from: 1, through: run.count, by: ArtworkData.batchCount) {
        try database.transaction {
          for id in start...min(start + ArtworkData.batchCount - 1, run.count) {
            try self.insert(id, data, insert)
          }
        }
      }
    }
    if run.mode == .memory { try check(database, run, updatedCount: 0) }
  }

  /// Nothing is read before: how many rows a statement changed says whether the row was there.
  static func delete(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = run.count / 10
    try run.time {
      let delete = try database.prepare("DELETE FROM artwork WHERE id = ?")
      try database.transaction {
        for index in 0..<run.operationCount {
          let id = ArtworkData.updated(index, of: run.count)
          delete.bind(1, id)
          try delete.run()
          guard database.changeCount == 1 else { throw BenchmarkError("no artwork \(id)") }
        }
      }
    }
    try run.expect(
      try database.integer("SELECT count(*) FROM artwork"), run.count - run.operationCount,
      "the artworks left")
  }
}
