import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The gallery brought to its next version by opening it.
enum QuireMigrations {
  static func makeFixture(_ run: Run) throws { try QuireObjects.makeAll(run) }

  static func rewrite(_ run: Run, _ name: String, _ outside: String) throws {
    run.operationCount = 1
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try Gallery.versions(), classes: Gallery.classes)
    let store = try run.time {
      try coordinator.addPersistentStore(
        type: .quire, at: run.url("store.quire"), options: .migrating)
    }
    guard let report = store.migrationReport, report.plan.rewrittenObjectCount == run.count else {
      throw BenchmarkError("not every artwork was rewritten")
    }
    run.record(name, 1)
    run.record(outside, 1, in: run.duration - run.diskDuration)
    try coordinator.remove(store)
  }

  /// That nothing is lost, every artwork has its rating, and both ways between artist and artwork
  /// lead where they did.
  static func verify(_ run: Run) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Gallery.model(version: 2), classes: Gallery.classes)
    let store = try coordinator.addPersistentStore(type: .quire, at: run.url("store.quire"))
    let context = QuireObjects.context(of: coordinator)
    let artworks = try QuireObjects.fetchArtworks(context)
    try run.expect(
      try QuireObjects.read(artworks), .expected(ArtworkData(count: run.count)), "what was kept")
    for (index, artwork) in artworks.enumerated() where index % 97 == 0 {
      try run.expect(
        try artwork.value(forKey: "rating") as? Int, Gallery.defaultRating, "rating")
      try run.expect(
        artwork.artist?.name ?? "", ArtworkData.artistName(ArtworkData.artist(index + 1)),
        "artist of artwork \(index + 1)")
      try run.expect(artwork.artist?.artworks.contains(artwork) ?? false, true, "the way back")
    }
    try coordinator.remove(store)
  }
}
