import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The object workloads through contexts and typed properties.
enum QuireObjects {
  // MARK: Fixtures

  static func makeArtists(_ run: Run) throws {
    try close(try openWithArtists(run))
  }

  static func makeAll(_ run: Run) throws {
    try close(try openWithAll(run))
  }

  // MARK: Timed

  static func insert(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithArtists(run) : open(run)
    let data = ArtworkData(count: run.count)
    let context = context(of: coordinator)
    let artists = try fetchArtists(context)
    try run.time { try insert(data, artists, context) }
    if run.mode == .memory { try check(coordinator, run, updatedCount: 0) }
    try close(coordinator)
  }

  static func fetchAll(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    let context = context(of: coordinator)
    var artworks: [Gallery.Artwork] = []
    let sum = try run.time {
      artworks = try fetchArtworks(context)
      return read(artworks)
    }
    try run.expect(sum, .expected(ArtworkData(count: run.count)), "what was fetched")
    // Somebody has fetched them to have them: letting go of them is `obj_release`.
    withExtendedLifetime((context, artworks)) {}
    try close(coordinator)
  }

  static func update(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = run.count / 10
    let ids = try objectIDs(coordinator)
    try run.time {
      let context = context(of: coordinator)
      for index in 0..<run.operationCount {
        let id = ids[ArtworkData.updated(index, of: run.count) - 1]
        guard let artwork = try context.existingObject(with: id) as? Gallery.Artwork else {
          throw BenchmarkError("\(id) is no artwork")
        }
        artwork.price = ArtworkData.newPrice(artwork.price)
      }
      try context.save()
    }
    if run.mode == .memory { try check(coordinator, run, updatedCount: run.operationCount) }
    try close(coordinator)
  }

  // MARK: Checks

  static func verify(_ run: Run, updatedCount: Int) throws {
    guard run.mode != .memory else { return }
    let coordinator = try open(run)
    try check(coordinator, run, updatedCount: updatedCount)
    try close(coordinator)
  }

  static func check(
    _ coordinator: PersistentStoreCoordinator, _ run: Run, updatedCount: Int
  ) throws {
    let data = ArtworkData(count: run.count)
    let context = context(of: coordinator)
    defer { withExtendedLifetime(context) {} }
    let artworks = try fetchArtworks(context)
    try run.expect(
      read(artworks), .expected(data, updatedCount: updatedCount), "what is in the store")
    for (index, artwork) in artworks.enumerated() where index % 97 == 0 {
      try run.expect(artwork.slug, data.slugs[index], "slug of artwork \(index + 1)")
      try run.expect(
        artwork.artist?.name ?? "", ArtworkData.artistName(ArtworkData.artist(index + 1)),
        "artist of artwork \(index + 1)")
    }
  }

  // MARK: Steps

  static func open(_ run: Run) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Gallery.model(), classes: Gallery.classes)
    switch run.mode {
    case .memory:
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
    case .full, .ordered, .none:
      var options = PersistentStoreOptions()
      options.durability = run.mode == .full ? .full : run.mode == .ordered ? .ordered : .none
      try coordinator.addPersistentStore(
        type: .quire, at: run.url("store.quire"), options: options)
    }
    return coordinator
  }

  static func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  static func context(
    of coordinator: PersistentStoreCoordinator
  ) -> ManagedObjectContext {
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  static func openWithArtists(_ run: Run) throws -> PersistentStoreCoordinator {
    let coordinator = try open(run)
    let context = context(of: coordinator)
    for id in 1...ArtworkData.artistCount {
      Gallery.Artist(context: context).name = ArtworkData.artistName(id)
    }
    try context.save()
    return coordinator
  }

  static func openWithAll(_ run: Run) throws -> PersistentStoreCoordinator {
    let coordinator = try openWithArtists(run)
    let context = context(of: coordinator)
    let data = ArtworkData(count: run.count)
    if run.count > 1_000_000 {
      // One save of so many changes more pages than a transaction may have in memory.
      try QuireBatches.insert(run.count, coordinator) { (data.titles[$0 - 1], data.slugs[$0 - 1]) }
    } else {
      try insert(data, try fetchArtists(context), context)
    }
    return coordinator
  }

  static func fetchArtists(_ context: ManagedObjectContext) throws -> [Gallery.Artist] {
    var request = FetchRequest<Gallery.Artist>()
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    return try context.fetch(request)
  }

  static func fetchArtworks(_ context: ManagedObjectContext) throws -> [Gallery.Artwork] {
    try context.fetch(FetchRequest<Gallery.Artwork>())
  }

  /// In the order of the ids, which is that of the keys: nothing sorts them otherwise.
  static func objectIDs(
    _ coordinator: PersistentStoreCoordinator
  ) throws -> [ManagedObjectID] {
    try fetchArtworks(context(of: coordinator)).map(\.objectID)
  }

  private static func insert(
    _ data: ArtworkData, _ artists: [Gallery.Artist], _ context: ManagedObjectContext
  ) throws {
    for id in 1...data.titles.count { insert(id, data, artists, context) }
    try context.save()
  }

  static func insert(
    _ id: Int, _ data: ArtworkData, _ artists: [Gallery.Artist], _ context: ManagedObjectContext
  ) {
    let artwork = Gallery.Artwork(context: context)
    artwork.title = data.titles[id - 1]
    artwork.slug = data.slugs[id - 1]
    artwork.price = ArtworkData.price(id)
    artwork.createdAt = Date(timeIntervalSinceReferenceDate: ArtworkData.createdAt(id))
    artwork.isPublished = ArtworkData.isPublished(id)
    artwork.artist = artists[ArtworkData.artist(id) - 1]
  }

  static func read(_ artworks: [Gallery.Artwork]) -> ArtworkSum {
    var sum = ArtworkSum()
    for artwork in artworks { sum.add(artwork) }
    return sum
  }
}

extension ArtworkSum {
  /// Reads every attribute of an artwork, and the id of its artist.
  mutating func add(_ artwork: Gallery.Artwork) {
    let title = artwork.title
    let slug = artwork.slug
    add(
      textByteCount: title.utf8.count + slug.utf8.count,
      first: title.utf8.firstNumber + slug.utf8.firstNumber, price: artwork.price,
      createdAt: artwork.createdAt?.timeIntervalSinceReferenceDate ?? 0,
      isPublished: artwork.isPublished,
      hasArtist: artwork.$artist.objectID.map { !$0.isTemporaryID } ?? false)
  }
}
