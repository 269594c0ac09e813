import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The gallery by batch requests.
enum QuireBatches {
  static func makeAll(_ run: Run) throws {
    try QuireObjects.close(try openWithAll(run))
  }

  static func insert(_ run: Run) throws {
    let coordinator =
      try run.mode == .memory ? QuireObjects.openWithArtists(run) : QuireObjects.open(run)
    let data = ArtworkData(count: run.count)
    try run.time { try insert(data, coordinator) }
    if run.mode == .memory { try QuireObjects.check(coordinator, run, updatedCount: 0) }
    try QuireObjects.close(coordinator)
  }

  /// Ten times as many, of which nothing is in memory before.
  static func insertMany(_ run: Run) throws {
    let coordinator = try QuireObjects.open(run)
    run.operationCount = 10 * run.count
    let count = run.operationCount
    try run.time {
      try insert(count, coordinator) { id in
        (ArtworkData.title(id), ArtworkData.slug(id))
      }
    }
    try run.expect(
      try QuireObjects.context(of: coordinator).count(Gallery.Artwork.self), count, "the artworks")
    try QuireObjects.close(coordinator)
  }

  static func update(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : QuireObjects.open(run)
    let context = QuireObjects.context(of: coordinator)
    let sum = try context.sum(\Gallery.Artwork.price)
    try run.time {
      var request = BatchUpdateRequest(Gallery.Artwork.self)
      request.propertiesToUpdate = ["price": try FetchExpression(format: "price * 2")]
      try run.expect(try context.execute(request).count, run.count, "the artworks changed")
    }
    let ratio = try context.sum(\Gallery.Artwork.price) / sum
    try run.expect(abs(ratio - 2) < 1e-9, true, "the sum of prices doubled")
    try QuireObjects.close(coordinator)
  }

  static func delete(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : QuireObjects.open(run)
    run.operationCount = run.count / 2
    let context = QuireObjects.context(of: coordinator)
    try run.time {
      var request = FetchRequest<Gallery.Artwork>()
      request.predicate = Key("isPublished") == true
      try run.expect(
        try context.execute(BatchDeleteRequest(fetchRequest: request)).count, run.count / 2,
        "the artworks deleted")
    }
    try run.expect(
      try context.count(Gallery.Artwork.self), run.count - run.count / 2, "the artworks left")
    try QuireObjects.close(coordinator)
  }

  private static func openWithAll(_ run: Run) throws -> PersistentStoreCoordinator {
    let coordinator = try QuireObjects.openWithArtists(run)
    try insert(ArtworkData(count: run.count), coordinator)
    return coordinator
  }

  private static func insert(
    _ data: ArtworkData, _ coordinator: PersistentStoreCoordinator
  ) throws {
    try insert(data.titles.count, coordinator) { (data.titles[$0 - 1], data.slugs[$0 - 1]) }
  }

  static func insert(
    _ count: Int, _ coordinator: PersistentStoreCoordinator,
    _ texts: @escaping (Int) -> (title: String, slug: String)
  ) throws {
    let context = QuireObjects.context(of: coordinator)
    let artists = try QuireObjects.fetchArtists(context).map(\.objectID)
    var id = 0
    let request = BatchInsertRequest(entityName: "Artwork") { (row: BatchRow) in
      if id == count { return true }
      id += 1
      let (title, slug) = texts(id)
      row.set("title", to: title)
      row.set("slug", to: slug)
      row.set("price", to: ArtworkData.price(id))
      row.set(
        "createdAt", to: Date(timeIntervalSinceReferenceDate: ArtworkData.createdAt(id)))
      row.set("isPublished", to: ArtworkData.isPublished(id))
      row.set("artist", to: artists[ArtworkData.artist(id) - 1])
      return false
    }
    try context.execute(request)
  }
}
