import Foundation
import Quire
import QuireSimulation
import QuireTesting
import QuireXcode
import Testing

// The first seed, on the bundled stores: one of every version of the gallery's model, each opened
// with the current one. This is what `docs/migration.md` tells an application to write.
@Suite struct GalleryMigrationTests {
  @Test(arguments: try MigrationFixtures(in: Gallery.folder).all)
  func `every shipped store migrates`(fixture: MigrationFixture) throws {
    try fixture.check(
      migratingTo: Gallery.model(), budget: Gallery.budget, dropped: Gallery.dropped)
  }

  @Test func `every shipped version has a fixture`() throws {
    try MigrationFixtures(in: Gallery.folder).requireFixtures(of: Gallery.model(), shipped: .all)
  }

  @Test func `a failure is one issue that says everything`() throws {
    let fixture = MigrationFixture(at: Gallery.folder.appending(path: "Gallery 1.3.quire"))
    try withKnownIssue {
      try fixture.check(
        migratingTo: Gallery.model(), budget: .seconds(10), counts: ["Artwork": 25, "Note": 1],
        dropped: Gallery.dropped)
    } matching: { issue in
      issue.error.map { "\($0)" } == """
        2 failures of the fixture “Gallery 1.3.quire”:
          1. Artwork: objects: 24 instead of 25
          2. Note: objects: 0 instead of 1
        """
    }
  }

  // The mistake that this is for: somebody edits a version that users have.
  @Test func `a model that was changed after its version shipped is found`() throws {
    let model = try Gallery.model()
    let versions = model.versions.map { version in
      version.name == "Gallery 1.3"
        ? VersionedModel.Version(version.name, model.versions[1].model) : version
    }
    let edited = try #require(VersionedModel(name: model.name, versions: versions))
    let error = try #require(throws: MigrationFixtureError.self) {
      try MigrationFixtures(in: Gallery.folder).requireFixtures(of: edited)
    }
    #expect(error.failures.count == 1)
    #expect(error.failures[0].contains("the model of Gallery 1.3 was changed after"))
    #expect(error.failures[0].contains("+ Note"))
  }

  @Test(arguments: try MigrationFixtures(in: Gallery.folder).all)
  func `artworks, their artists and what became required are there`(
    fixture: MigrationFixture
  ) throws {
    let artworks = try #require(Gallery.artworkCounts[fixture.name])
    try fixture.check(migratingTo: Gallery.model(), dropped: Gallery.dropped) { context in
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
  }

  @Test func `every version migrates to every later one, in one jump and step by step alike`()
    throws
  {
    let model = try Gallery.model()
    let fixtures = try MigrationFixtures(in: Gallery.folder).all
    #expect(fixtures.map(\.name) == model.versions.map { "\($0.name).quire" })
    let indexed = Amount.some(of: Array(fixtures.enumerated()), oneIn: 3, at: 0)
    for (index, fixture) in indexed {
      let later = model.versions[index...]
      for (place, version) in later.enumerated()
      // In debug to the last, of one in three.
      where place == later.count - 1 || Amount.of(debug: false, release: true) {
        let target = try #require(model.endingAt(version.name))
        try fixture.check(
          migratingTo: target, dropped: try goes(fixture.url, target), stepByStep: true)
      }
    }
  }
}

/// What goes when a store is migrated while something of its kind comes, all of it on purpose.
func goes(_ store: URL, _ model: VersionedModel) throws -> Set<String> {
  Set(try MigrationPlan.plan(forStoreAt: store, to: model)?.possibleRenamings.map(\.name) ?? [])
}
