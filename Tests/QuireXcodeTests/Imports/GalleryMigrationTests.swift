import Foundation
import Quire
import QuireTesting
import QuireXcode
import Testing

// The first seed, on the bundled stores: one of every version of the gallery's model, each opened
// with the current one.
@Suite struct GalleryMigrationTests {
  private static let fixtures = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures")

  private static let versions = ["1.3", "1.3.5", "1.4", "1.6", "2.0", "2.7"]

  private func model() throws -> VersionedModel {
    try VersionedModel(contentsOf: Self.fixtures.appending(path: "Gallery.xcdatamodeld"))
  }

  private func copy(_ version: String, to folder: TemporaryFolder) throws -> URL {
    let url = folder.file("Gallery \(version).quire")
    try FileManager.default.copyItem(
      at: Self.fixtures.appending(path: "Gallery/Gallery \(version).quire"), to: url)
    return url
  }

  @Test(arguments: zip(versions, [24, 63, 68, 60, 52, 27]))
  func `migrates from`(_ version: String, _ artworks: Int) throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(versionedModel: try model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: try copy(version, to: folder),
      options: [
        MigratePersistentStoresAutomaticallyOption: true,
        InferMappingModelAutomaticallyOption: true,
      ])
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
    #expect(found.count == artworks)
    // Follow a link that was renamed and widened on the way: from an artwork to its artists and
    // back.
    let linked = try found.filter {
      let artists = try $0.value(forKey: "artists") as? Set<ManagedObject> ?? []
      for artist in artists {
        let works = try artist.value(forKey: "artworks") as? Set<ManagedObject>
        #expect(works?.contains($0) == true)
      }
      return !artists.isEmpty
    }
    #expect(!linked.isEmpty)
    let required = try found.map { try $0.value(forKey: "slug") as? String }
    #expect(required.allSatisfy { $0 != nil }, "what became required has its default")
  }

  @Test(arguments: versions)
  func `every object, value and link is what it was`(_ version: String) throws {
    let folder = try TemporaryFolder()
    let check = try MigrationCheck(
      of: Self.fixtures.appending(path: "Gallery/Gallery \(version).quire"), to: try model(),
      in: folder.url)
    #expect(check.failures == [])
    #expect(check.sourceVersion == "Gallery \(version)")
    #expect((check.plan == nil) == (version == "2.7"))
  }

  @Test func `every version migrates to every later one, in one jump and step by step alike`()
    throws
  {
    let model = try model()
    let names = Self.versions.map { "Gallery \($0)" }
    for (index, start) in Self.versions.enumerated() {
      let folder = try TemporaryFolder()
      let stepwise = try copy(start, to: folder)
      for (offset, end) in names.enumerated() where offset > index {
        let target = try #require(model.endingAt(end))
        try migrate(stepwise, target)
        let jumped = try TemporaryFolder()
        let direct = try copy(start, to: jumped)
        try migrate(direct, target)
        // What a later version dropped and a still later one brought back is lost step by step
        // alone.
        let (one, other) = (try StoreSummary(of: stepwise), try StoreSummary(of: direct))
        #expect(one.versionName == end && other.versionName == end)
        #expect(one.entities.map(\.objectCount) == other.entities.map(\.objectCount))
        #expect(try StoreInspection(of: stepwise).findings == [])
        #expect(try StoreInspection(of: direct).findings == [])
      }
    }
  }

  private func migrate(_ url: URL, _ model: VersionedModel) throws {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    try coordinator.remove(store)
  }
}
