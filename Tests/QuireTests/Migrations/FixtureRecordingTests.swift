import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct FixtureRecordingTests {
  private let identifier = UUID(
    uuid: (1, 2, 3, 4, 5, 6, 0x40, 8, 0x80, 10, 11, 12, 13, 14, 15, 16))

  @Test func `the same insertions make the same file, with the UUID one asks for`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      let fixture = try folder.fixtures.record(model, fill: FixtureFolder.fill)
      #expect(fixture.name == "2.0.quire")
      let bytes = try Data(contentsOf: fixture.url)
      try folder.fixtures.record(model, replacing: true, fill: FixtureFolder.fill)
      #expect(try Data(contentsOf: fixture.url) == bytes)
      #expect(try folder.names() == ["1.0.quire", "1.1.quire", "2.0.quire"])
      let own = try folder.fixtures.record(
        model, named: "own", uuid: identifier, fill: FixtureFolder.fill)
      let summary = try StoreSummary(of: own.url)
      #expect(summary.identifier == identifier)
      #expect(summary.versionName == "2.0")
      #expect(summary.objectCount == 2)
      let identifiers = try folder.fixtures.all.map { try StoreSummary(of: $0.url).identifier }
      #expect(Set(identifiers).count == 4)
      try folder.fixtures.requireFixtures(of: model, shipped: .all)
    }
  }

  @Test func `a fixture is not replaced unless one says so, and not by half of one`() throws {
    struct Changed: Error {}
    try FixtureFolder.use { folder in
      let before = try folder.contents()
      let old = try #require(try FixtureFolder.model().endingAt("1.1"))
      let refusal = try fixtureFailures {
        try folder.fixtures.record(old) { _ in Issue.record("nothing need be made") }
      }
      #expect(refusal.count == 1 && refusal[0].contains("replacing: true"), "\(refusal)")
      #expect(
        try fixtureFailures {
          try folder.fixtures.record(copying: folder.file("1.1.quire"), of: old)
        } == refusal)
      #expect(throws: Changed.self) {
        try folder.fixtures.record(old, replacing: true) { _ in throw Changed() }
      }
      #expect(try folder.contents() == before)
      try folder.fixtures.record(old, replacing: true) { _ in }
      #expect(try StoreSummary(of: folder.file("1.1.quire")).objectCount == 0)
    }
  }

  private final class Painter: ManagedObject {
    override class var modelEntityName: String { "Person" }
    @Managed var name: String?
  }

  // Without its class the object was in no context: the fixture was recorded, and empty.
  @Test func `a class that is not passed is an error, and nothing is recorded`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      let fill: (ManagedObjectContext) -> Void = { Painter(context: $0).name = "Hilma" }
      do {
        try folder.fixtures.record(model, fill: fill)
        Issue.record("an empty fixture was recorded")
      } catch let error as PersistenceError {
        #expect(error.message.contains("class Painter is not registered"), "\(error)")
      }
      #expect(try folder.names() == ["1.0.quire", "1.1.quire"])
      let fixture = try folder.fixtures.record(model, classes: [Painter.self], fill: fill)
      #expect(try StoreSummary(of: fixture.url).objectCount == 1)
    }
  }

  @Test func `a log that lies beside a fixture goes when the fixture is replaced`() throws {
    try FixtureFolder.use { folder in
      try Data("a log".utf8).write(to: folder.file("1.1.quire-log"))
      let old = try #require(try FixtureFolder.model().endingAt("1.1"))
      try folder.fixtures.record(old, replacing: true, fill: FixtureFolder.fill)
      #expect(try folder.names() == ["1.0.quire", "1.1.quire"])
    }
  }

  @Test func `names that are no names of files are made such, and none leads elsewhere`() throws {
    try withTemporaryFolder { url in
      let model = try #require(
        VersionedModel(versions: [.init("2/beta:1", FixtureFolder.model().current)]))
      let fixtures = MigrationFixtures(in: url.appending(path: "new"))
      #expect(try fixtures.record(model, fill: FixtureFolder.fill).name == "2-beta-1.quire")
      for name in ["../out", "", "a/../../out"] {
        #expect(throws: MigrationFixtureError.self) {
          try fixtures.record(model, named: name, fill: FixtureFolder.fill)
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: url.path()) == ["new"])
    }
  }

  @Test func `an open store is copied with what only its log has, and stays as it was`() throws {
    try FixtureFolder.use { folder in
      try withTemporaryFolder { other in
        let store = other.appending(path: "app.quire")
        let model = try FixtureFolder.model()
        let coordinator = PersistentStoreCoordinator(versionedModel: model)
        let opened = try coordinator.addPersistentStore(type: .quire, at: store)
        let context = GotchaHome.context(of: coordinator)
        try FixtureFolder.fill(context)
        try context.save()
        // What is not saved is not in it.
        try FixtureFolder.fill(context)
        let before = try Data(contentsOf: store)
        let fixture = try folder.fixtures.record(copying: store, of: model)
        #expect(try Data(contentsOf: store) == before)
        #expect(try StoreSummary(of: fixture.url).identifier == opened.identifier)
        #expect(try StoreSummary(of: fixture.url).objectCount == 2)
        #expect(try folder.names() == ["1.0.quire", "1.1.quire", "2.0.quire"])
        try context.save()
        try folder.fixtures.record(copying: store, of: model, named: "later")
        #expect(try StoreSummary(of: folder.file("later.quire")).objectCount == 4)
        try coordinator.remove(opened)
        try folder.fixtures.check(migratingTo: model) { fixture, context in
          let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "Person"))
          #expect(count == (fixture.name == "later.quire" ? 4 : 2))
        }
      }
    }
  }

  @Test func `a store of another version is not recorded, and the error says what differs`()
    throws
  {
    try FixtureFolder.use { folder in
      let failures = try fixtureFailures {
        try folder.fixtures.record(
          copying: folder.file("1.1.quire"), of: FixtureFolder.model(), named: "new")
      }
      #expect(failures.count == 1)
      #expect(failures.first?.contains("does not have the current version, 2.0") == true)
      #expect(failures.first?.contains("+ Note") == true, "\(failures)")
      #expect(try folder.names() == ["1.0.quire", "1.1.quire"])
    }
  }
}
