// Rows that are found in other ways than all at once. Each loop of statements is one transaction, as
// a context reads one snapshot; statements are prepared once.

extension SQLiteObjects {
  /// What a program has that wants rows which it may read later: their IDs.
  static func fetchFaults(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let ids = try run.time {
      let select = try database.prepare("SELECT id FROM artwork ORDER BY id")
      var ids: [Int] = []
      while try select.step() { ids.append(select.integer(0)) }
      return ids
    }
    try run.expect(ids, Array(1...run.count), "the artworks fetched")
  }

  static func fetchByID(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    let order = shuffled(run.count)
    let sum = try run.time {
      let select = try database.prepare(selectSQL + " WHERE id = ?")
      var sum = ArtworkSum()
      try database.reading {
        for index in order {
          select.bind(1, index + 1)
          guard try select.step() else { throw BenchmarkError("no artwork \(index + 1)") }
          sum.add(select)
          select.reset()
        }
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
      try database.reading {
        for index in order {
          try withUTF8(data.slugs[index]) {
            select.bind(1, text: $0)
            guard try select.step() else { throw BenchmarkError("no artwork \(index + 1)") }
            sum.add(select)
            select.reset()
          }
        }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(data), "what was fetched")
  }

  /// By a range, which is how SQLite itself answers a `GLOB` whose pattern it knows beforehand.
  static func beginsWith(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    // A colon comes after every digit.
    let ranges = ArtworkData.slugBeginnings.map { (start: $0, end: $0 + ":") }
    run.operationCount = ranges.count
    let sum = try run.time {
      let select = try database.prepare(selectSQL + " WHERE slug >= ? AND slug < ?")
      var sum = ArtworkSum()
      try database.reading {
        for range in ranges {
          try withUTF8(range.start) { start in
            try withUTF8(range.end) { end in
              select.bind(1, text: start)
              select.bind(2, text: end)
              while try select.step() { sum.add(select) }
              select.reset()
            }
          }
        }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
  }

  /// The IDs, and what they are sorted by: the objects that we find are faults, too.
  static let filterSQL =
    "SELECT id, createdAt FROM artwork WHERE price > ? ORDER BY createdAt "
    + "LIMIT \(ArtworkData.filterLimit)"

  static func filter(_ price: Double, _ select: SQLiteStatement) throws -> ArtworkData.Found {
    var ids: [Int] = []
    var last = 0.0
    select.bind(1, price)
    while try select.step() {
      ids.append(select.integer(0))
      last = select.double(1)
    }
    select.reset()
    return ArtworkData.Found(count: ids.count, last: last)
  }

  static func filterAndSort(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.filterCount
    let found = try run.time {
      let select = try database.prepare(filterSQL)
      return try database.reading {
        try (0..<run.operationCount).map { index in
          try filter(ArtworkData.filterPrice(index), select)
        }
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
      try database.reading {
        while try artists.step() {
          select.bind(1, artists.integer(0))
          while try select.step() { sum.add(select) }
          select.reset()
        }
        artists.reset()
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
      try database.reading {
        for _ in 0..<run.operationCount {
          while try select.step() {
            found.add(
              count: select.integer(1), sum: select.double(2), average: select.double(3))
          }
          select.reset()
        }
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
      try database.reading {
        for _ in 0..<run.operationCount {
          while try select.step() { found += select.integer(1) }
          select.reset()
        }
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
      try database.reading {
        for _ in 0..<ArtworkData.countingRounds {
          for artist in 1...ArtworkData.artistCount {
            select.bind(1, artist)
            while try select.step() { found += select.integer(0) }
            select.reset()
          }
        }
      }
      return found
    }
    try run.expect(found, run.count * ArtworkData.countingRounds, "the artworks counted")
  }
}
