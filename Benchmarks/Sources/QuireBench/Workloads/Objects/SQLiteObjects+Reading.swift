// Rows that are found in other ways than all at once.

extension SQLiteObjects {
  /// Steps over every row; columns are not looked at, as faults' attributes are not.
  static func fetchFaults(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let count = try run.time {
      let select = try database.prepare(selectSQL)
      var count = 0
      while try select.step() { count += 1 }
      return count
    }
    try run.expect(count, run.count, "the artworks fetched")
  }

  static func fetchByID(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let order = shuffled(run.count)
    let sum = try run.time {
      let select = try database.prepare(selectSQL + " WHERE id = ?")
      var sum = ArtworkSum()
      for index in order {
        select.bind(1, index + 1)
        guard try select.step() else { throw BenchmarkError("no artwork \(index + 1)") }
        sum.add(select)
        select.reset()
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
  }

  static func fetchBySlug(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let data = ArtworkData(count: run.count)
    let order = shuffled(run.count)
    let sum = try run.time {
      let select = try database.prepare(selectSQL + " WHERE slug = ?")
      var sum = ArtworkSum()
      for index in order {
        var slug = data.slugs[index]
        try slug.withUTF8 {
          select.bind(1, text: $0)
          guard try select.step() else { throw BenchmarkError("no artwork \(index + 1)") }
          sum.add(select)
          select.reset()
        }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(data), "what was fetched")
  }

  /// By a range, which is how SQLite itself answers a `GLOB` whose pattern it knows beforehand.
  static func beginsWith(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let beginnings = ArtworkData.slugBeginnings
    run.operationCount = beginnings.count
    let sum = try run.time {
      let select = try database.prepare(selectSQL + " WHERE slug >= ? AND slug < ?")
      var sum = ArtworkSum()
      for var beginning in beginnings {
        // Behind every digit.
        var end = beginning + ":"
        try beginning.withUTF8 { beginning in
          try end.withUTF8 { end in
            select.bind(1, text: beginning)
            select.bind(2, text: end)
            while try select.step() { sum.add(select) }
            select.reset()
          }
        }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
  }

  static func filterAndSort(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.filterCount
    let found = try run.time {
      let select = try database.prepare(
        selectSQL + " WHERE price > ? ORDER BY createdAt LIMIT \(ArtworkData.filterLimit)")
      return try (0..<run.operationCount).map { index in
        var found = ArtworkData.Found(count: 0, last: 0)
        select.bind(1, ArtworkData.filterPrice(index))
        while try select.step() {
          found.count += 1
          found.last = select.double(4)
        }
        select.reset()
        return found
      }
    }
    try run.expect(found, ArtworkData.expectedFilters(count: run.count), "what was found")
  }

  static func traverse(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let sum = try run.time {
      let artists = try database.prepare("SELECT id FROM artist ORDER BY name")
      let select = try database.prepare(selectSQL + " WHERE artist = ?")
      var sum = ArtworkSum()
      while try artists.step() {
        select.bind(1, artists.integer(0))
        while try select.step() { sum.add(select) }
        select.reset()
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was reached")
  }

  static func group(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.groupingCount
    let found = try run.time {
      let select = try database.prepare(
        "SELECT artist, count(*), sum(price), avg(price) FROM artwork GROUP BY artist")
      var found = ArtworkData.Groups()
      for _ in 0..<run.operationCount {
        while try select.step() {
          found.add(
            count: select.integer(1), sum: select.double(2), average: select.double(3))
        }
        select.reset()
      }
      return found
    }
    try run.expect(found, ArtworkData.expectedGroups(count: run.count), "the groups")
  }

  static func groupCount(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.groupingCount
    let found = try run.time {
      let select = try database.prepare("SELECT artist, count(*) FROM artwork GROUP BY artist")
      var found = 0
      for _ in 0..<run.operationCount {
        while try select.step() { found += select.integer(1) }
        select.reset()
      }
      return found
    }
    try run.expect(found, run.operationCount * run.count, "the artworks counted")
  }

  static func count(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.artistCount * ArtworkData.countingRounds
    let found = try run.time {
      let select = try database.prepare("SELECT count(*) FROM artwork WHERE artist = ?")
      var found = 0
      for _ in 0..<ArtworkData.countingRounds {
        for artist in 1...ArtworkData.artistCount {
          select.bind(1, artist)
          while try select.step() { found += select.integer(0) }
          select.reset()
        }
      }
      return found
    }
    try run.expect(found, run.count * ArtworkData.countingRounds, "the artworks counted")
  }
}
