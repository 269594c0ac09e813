import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The series of sizes, by contexts and batch requests.
enum QuireScale {
  static func insert(_ run: Run) throws {
    let coordinator = try QuireObjects.openWithArtists(run)
    try run.time {
      try QuireBatches.insert(run.count, coordinator) { id in
        (ArtworkData.title(id), ScaleData.slug(id))
      }
      try QuireObjects.close(coordinator)
    }
  }

  static func open(_ run: Run) throws {
    run.operationCount = 20
    let uri = try withStore(run) { coordinator in
      try uris(of: [run.count], coordinator)[0]
    }
    try run.time {
      for _ in 0..<run.operationCount {
        try withStore(run) { coordinator in
          guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else {
            throw BenchmarkError("\(uri) is of no store")
          }
          let context = QuireObjects.context(of: coordinator)
          let artwork = try context.existingObject(with: id) as? Gallery.Artwork
          try run.expect(artwork?.title, ArtworkData.title(run.count), "the artwork")
        }
      }
    }
  }

  // MARK: Looked up

  static func fetchByID(_ run: Run) throws {
    let lookups = ScaleData.lookups(of: run.count)
    run.operationCount = lookups.count
    try withStore(run) { coordinator in
      let ids = try uris(of: lookups, coordinator).compactMap {
        coordinator.managedObjectID(forURIRepresentation: $0)
      }
      let sum = try run.time {
        try addUp(ids, coordinator) { id, context, sum in
          guard let artwork = try context.existingObject(with: id) as? Gallery.Artwork else {
            throw BenchmarkError("\(id) is no artwork")
          }
          sum.add(artwork)
        }
      }
      try run.expectAlmost(sum, ScaleData.expected(lookups), "what was fetched")
    }
  }

  static func fetchBySlug(_ run: Run) throws {
    let lookups = ScaleData.lookups(of: run.count)
    let slugs = lookups.map(ScaleData.slug)
    run.operationCount = lookups.count
    try withStore(run) { coordinator in
      let sum = try run.time {
        try addUp(slugs, coordinator) { slug, context, sum in
          var request = FetchRequest<Gallery.Artwork>()
          request.predicate = try FetchPredicate(format: "slug == %@", slug)
          for artwork in try context.fetch(request) { sum.add(artwork) }
        }
      }
      try run.expectAlmost(sum, ScaleData.expected(lookups), "what was fetched")
    }
  }

  static func beginsWith(_ run: Run) throws {
    let beginnings = ScaleData.Beginnings(of: run.count)
    let expected = (1...run.count).filter(beginnings.match)
    run.operationCount = expected.count
    try withStore(run) { coordinator in
      let sum = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
        try addUp(beginnings.texts, coordinator) { beginning, context, sum in
          var request = FetchRequest<Gallery.Artwork>()
          request.predicate = try FetchPredicate(format: "slug BEGINSWITH %@", beginning)
          for artwork in try context.fetch(request) { sum.add(artwork) }
        }
      }
      try run.expectAlmost(sum, ScaleData.expected(expected), "what was fetched")
    }
  }

  // MARK: By artist

  static func count(_ run: Run) throws {
    try withStore(run) { coordinator in
      let artists = try artistIDs(coordinator)
      let context = QuireObjects.context(of: coordinator)
      let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
        try artists.reduce(0) {
          try $0 + context.count(Gallery.Artwork.self, where: Key("artist") == $1)
        }
      }
      try run.expect(found, run.count, "the artworks counted")
    }
  }

  static func fetchByArtist(_ run: Run) throws {
    let expected = Array(ScaleData.ids(of: ScaleData.updatedArtists, in: run.count))
    run.operationCount = expected.count
    try withStore(run) { coordinator in
      let artists = try artistIDs(coordinator)[ScaleData.updatedArtists]
      let sum = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
        var sum = ArtworkSum()
        for artist in artists {
          let context = QuireObjects.context(of: coordinator)
          var request = FetchRequest<Gallery.Artwork>()
          request.predicate = Key("artist") == artist
          for artwork in try context.fetch(request) { sum.add(artwork) }
        }
        return sum
      }
      try run.expectAlmost(sum, ScaleData.expected(expected), "what was fetched")
    }
  }

  // MARK: All rows

  static func scan(_ run: Run) throws {
    try withStore(run) { coordinator in
      let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
        let context = QuireObjects.context(of: coordinator)
        var request = FetchRequest<Gallery.Artwork>()
        request.predicate = try FetchPredicate(format: "price > %@", ScaleData.scanPrice)
        request.sortDescriptors = [FetchSortDescriptor(key: "createdAt")]
        request.fetchLimit = ArtworkData.filterLimit
        let artworks = try context.fetch(request)
        return ArtworkData.Found(
          count: artworks.count,
          last: artworks.last?.createdAt?.timeIntervalSinceReferenceDate ?? 0)
      }
      try run.expect(found, ScaleData.expectedScan(count: run.count), "what was found")
    }
  }

  static func group(_ run: Run) throws {
    try withStore(run) { coordinator in
      let found = try run.time(rounds: ScaleData.rounds(of: run.operationCount)) {
        var found = ArtworkData.Groups()
        for row in try QuireObjects.context(of: coordinator).aggregate(
          Gallery.Artwork.self, .count, .sum(\.price), .average(\.price), groupedBy: \.artist)
        {
          found.add(count: row.values.0, sum: row.values.1, average: row.values.2 ?? 0)
        }
        return found
      }
      try run.expect(
        found, ArtworkData.expectedGroups(count: run.count, rounds: 1), "the groups")
    }
  }

  // MARK: Changes

  static func update(_ run: Run) throws {
    try change(run, ScaleData.updatedArtists) { artist, context in
      var request = BatchUpdateRequest(Gallery.Artwork.self)
      request.predicate = Key("artist") == artist
      request.propertiesToUpdate = ["price": try FetchExpression(format: "price + 1")]
      return try context.execute(request).count
    }
  }

  static func delete(_ run: Run) throws {
    try change(run, ScaleData.deletedArtists) { artist, context in
      var request = FetchRequest<Gallery.Artwork>()
      request.predicate = Key("artist") == artist
      return try context.execute(BatchDeleteRequest(fetchRequest: request)).count
    }
  }

  private static func change(
    _ run: Run, _ artists: Range<Int>,
    _ body: (ManagedObjectID, ManagedObjectContext) throws -> Int
  ) throws {
    run.operationCount = ScaleData.ids(of: artists, in: run.count).reduce(0) { sum, _ in sum + 1 }
    try withStore(run) { coordinator in
      let artists = try artistIDs(coordinator)[artists]
      let context = QuireObjects.context(of: coordinator)
      let count = try run.time { try artists.reduce(0) { try $0 + body($1, context) } }
      try run.expect(count, run.operationCount, "the artworks changed")
    }
  }

  static func migrate(_ run: Run) throws {
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try Gallery.versions(), classes: Gallery.classes)
    let deleted = ScaleData.ids(of: ScaleData.deletedArtists, in: run.count)
    run.operationCount = deleted.reduce(run.count) { count, _ in count - 1 }
    var options = PersistentStoreOptions.migrating
    options.durability = .ordered
    let report = try run.time {
      let store = try coordinator.addPersistentStore(
        type: .quire, at: run.url("store.quire"), options: options)
      defer { try? coordinator.remove(store) }
      return store.migrationReport
    }
    try run.expect(
      report?.plan.rewrittenObjectCount, run.operationCount, "the artworks written anew")
  }

  // MARK: Steps

  private static func withStore<Result>(
    _ run: Run, _ body: (PersistentStoreCoordinator) throws -> Result
  ) throws -> Result {
    let coordinator = try QuireObjects.open(run)
    let result = try body(coordinator)
    try QuireObjects.close(coordinator)
    return result
  }

  /// Adds up what is found, with a new context now and then.
  private static func addUp<Element>(
    _ elements: [Element], _ coordinator: PersistentStoreCoordinator,
    _ add: (Element, ManagedObjectContext, inout ArtworkSum) throws -> Void
  ) throws -> ArtworkSum {
    var sum = ArtworkSum()
    for start in stride(from: 0, to: elements.count, by: ScaleData.lookupsPerContext) {
      let context = QuireObjects.context(of: coordinator)
      for element in elements[start...].prefix(ScaleData.lookupsPerContext) {
        try add(element, context, &sum)
      }
    }
    return sum
  }

  private static func artistIDs(
    _ coordinator: PersistentStoreCoordinator
  ) throws -> [ManagedObjectID] {
    try QuireObjects.fetchArtists(QuireObjects.context(of: coordinator)).map(\.objectID)
  }

  /// The URIs of artworks. Keys are those of the order in which objects were inserted.
  private static func uris(
    of ids: [Int], _ coordinator: PersistentStoreCoordinator
  ) throws -> [URL] {
    var request = FetchRequest<Gallery.Artwork>()
    request.predicate = try FetchPredicate(format: "slug == %@", ScaleData.slug(1))
    let context = QuireObjects.context(of: coordinator)
    guard let first = try context.fetch(request).first?.objectID.uriRepresentation() else {
      throw BenchmarkError("the first artwork is missing")
    }
    let entity = first.deletingLastPathComponent()
    return ids.map { entity.appending(path: "p\($0)") }
  }
}
