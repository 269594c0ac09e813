import Quire

// Objects that are found in other ways than all at once.

extension QuireObjects {
  static func fetchFaults(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let context = context(of: coordinator)
    let artworks = try run.time { try fetchArtworks(context) }
    try run.expect(artworks.count, run.count, "the artworks fetched")
    withExtendedLifetime((context, artworks)) {}
    try close(coordinator)
  }

  static func release(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let context = context(of: coordinator)
    var artworks = try fetchArtworks(context)
    let sum = read(artworks)
    run.time { artworks = [] }
    try run.expect(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
    try run.expect(context.registeredObjects.count, 0, "the objects that are left")
    try close(coordinator)
  }

  static func fetchByID(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let ids = try objectIDs(coordinator)
    let order = shuffled(run.count)
    let sum = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var sum = ArtworkSum()
      for index in order {
        guard let artwork = try context.existingObject(with: ids[index]) as? Gallery.Artwork else {
          throw BenchmarkError("\(ids[index]) is no artwork")
        }
        sum.add(artwork)
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
    try close(coordinator)
  }

  static func fetchBySlug(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let data = ArtworkData(count: run.count)
    let order = shuffled(run.count)
    let sum = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var sum = ArtworkSum()
      for index in order {
        var request = FetchRequest<Gallery.Artwork>()
        request.predicate = try FetchPredicate(format: "slug == %@", data.slugs[index])
        let found = try context.fetch(request)
        guard found.count == 1 else {
          throw BenchmarkError("\(found.count) artworks have the slug \(data.slugs[index])")
        }
        sum.add(found[0])
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(data), "what was fetched")
    try close(coordinator)
  }

  static func beginsWith(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let beginnings = ArtworkData.slugBeginnings
    run.operationCount = beginnings.count
    let sum = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var sum = ArtworkSum()
      for beginning in beginnings {
        var request = FetchRequest<Gallery.Artwork>()
        request.predicate = try FetchPredicate(format: "slug BEGINSWITH %@", beginning)
        for artwork in try context.fetch(request) { sum.add(artwork) }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
    try close(coordinator)
  }

  static func filterAndSort(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.filterCount
    let found = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      return try (0..<run.operationCount).map { index in
        var request = FetchRequest<Gallery.Artwork>()
        request.predicate = try FetchPredicate(
          format: "price > %@", ArtworkData.filterPrice(index))
        request.sortDescriptors = [FetchSortDescriptor(key: "createdAt")]
        request.fetchLimit = ArtworkData.filterLimit
        let artworks = try context.fetch(request)
        return ArtworkData.Found(
          count: artworks.count,
          last: artworks.last?.createdAt?.timeIntervalSinceReferenceDate ?? 0)
      }
    }
    try run.expect(found, ArtworkData.expectedFilters(count: run.count), "what was found")
    try close(coordinator)
  }

  static func traverse(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let sum = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var sum = ArtworkSum()
      for artist in try fetchArtists(context) {
        for artwork in artist.artworks { sum.add(artwork) }
      }
      return sum
    }
    try run.expectAlmost(sum, .expected(ArtworkData(count: run.count)), "what was reached")
    try close(coordinator)
  }

  static func group(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.groupingCount
    let found = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var found = ArtworkData.Groups()
      for _ in 0..<run.operationCount {
        for row in try context.aggregate(
          Gallery.Artwork.self, .count, .sum(\.price), .average(\.price), groupedBy: \.artist)
        {
          found.add(count: row.values.0, sum: row.values.1, average: row.values.2 ?? 0)
        }
      }
      return found
    }
    try run.expect(found, ArtworkData.expectedGroups(count: run.count), "the groups")
    try close(coordinator)
  }

  static func groupCount(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.groupingCount
    let found = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var found = 0
      for _ in 0..<run.operationCount {
        let rows = try context.aggregate(Gallery.Artwork.self, .count, groupedBy: \.artist)
        found += rows.reduce(0) { $0 + $1.values }
      }
      return found
    }
    try run.expect(found, run.operationCount * run.count, "the artworks counted")
    try close(coordinator)
  }

  static func count(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = ArtworkData.artistCount * ArtworkData.countingRounds
    let artists = context(of: coordinator)
    let ids = try fetchArtists(artists).map(\.objectID)
    let found = try run.time {
      let context = context(of: coordinator)
      defer { withExtendedLifetime(context) {} }
      var found = 0
      for _ in 0..<ArtworkData.countingRounds {
        for id in ids {
          found += try context.count(Gallery.Artwork.self, where: Key("artist") == id)
        }
      }
      return found
    }
    try run.expect(found, run.count * ArtworkData.countingRounds, "the artworks counted")
    try close(coordinator)
  }
}
