import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ShippedVersionsTests {
  private func failures(
    _ folder: FixtureFolder, _ model: VersionedModel, shipped: ShippedVersions = .allButCurrent
  ) throws -> [String] {
    try fixtureFailures { try folder.fixtures.requireFixtures(of: model, shipped: shipped) }
  }

  @Test func `each shipped version needs a fixture, and the one in the making none`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      #expect(try failures(folder, model) == [])
      let current = try failures(folder, model, shipped: .all)
      #expect(current.count == 1 && current[0].contains("no fixture of 2.0"), "\(current)")
      #expect(current[0].contains("record(model)"))
      try FileManager.default.removeItem(at: folder.file("1.0.quire"))
      let old = try failures(folder, model)
      #expect(old.count == 1 && old[0].contains("no fixture of 1.0"), "\(old)")
      #expect(old[0].contains("record(model.endingAt(\"1.0\"))"))
      #expect(try failures(folder, model, shipped: ["1.1"]) == [])
      #expect(try failures(folder, model, shipped: ["1.1", "1.0", "2.0"]).count == 2)
      let unknown = try failures(folder, model, shipped: ["1.1", "1.2"])
      #expect(unknown.count == 1 && unknown[0].contains("1.2 is said to be shipped"))
    }
  }

  // The mistake this is for: somebody adds an attribute to a version that users have.
  @Test(arguments: ["1.0", "1.1"])
  func `a shipped version that was changed in place is found, with what changed`(
    _ version: String
  ) throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model(editing: version)
      let required = try failures(folder, model, shipped: ["1.0", "1.1"])
      #expect(required.count == 1)
      let text = try #require(required.first)
      #expect(text.contains("“\(version).quire”: the model of \(version) was changed after"))
      #expect(text.contains("+ attribute born: date"), "\(text)")
      #expect(text.contains("make the change in a new version, after 2.0"))
      let checked = try fixtureFailures {
        try MigrationFixture(at: folder.file("\(version).quire")).check(migratingTo: model)
      }
      #expect(checked.count == 1 && text.hasSuffix(checked[0]), "\(checked)")
    }
  }

  @Test func `from the day the current version has a fixture, it cannot be edited unnoticed`()
    throws
  {
    try FixtureFolder.use { folder in
      let edited = try FixtureFolder.model(editing: "2.0")
      #expect(try failures(folder, edited) == [])
      try folder.record("2.0")
      for shipped in [ShippedVersions.allButCurrent, .all, ["1.0"]] {
        let failures = try failures(folder, edited, shipped: shipped)
        #expect(failures.count == 1 && failures[0].contains("the model of 2.0 was changed"))
        #expect(failures.first?.contains("record the fixture anew") == true)
      }
    }
  }

  @Test func `a version under another name is the same version`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      let renamed = try #require(
        VersionedModel(versions: model.versions.map { .init("People \($0.name)", $0.model) }))
      #expect(try failures(folder, renamed) == [])
    }
  }

  @Test func `a version that was taken out of the model is missed`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      let shorter = try #require(
        VersionedModel(versions: model.versions.filter { $0.name != "1.0" }))
      let failures = try failures(folder, shorter)
      #expect(failures.count == 1)
      #expect(
        failures.first?.contains("its version, 1.0, is not a version of Model any more") == true)
      #expect(failures.first?.contains("differs") == true, "\(failures)")
    }
  }

  @Test func `a model without named versions knows its fixture, and its edits`() throws {
    try withTemporaryFolder { url in
      let fixtures = MigrationFixtures(in: url)
      let model = VersionedModel(try FixtureFolder.model().current, name: "People")
      try fixtures.record(model, fill: FixtureFolder.fill)
      try fixtures.requireFixtures(of: model, shipped: .all)
      let edited = VersionedModel(try FixtureFolder.model(editing: "2.0").current, name: "People")
      let failures = try fixtureFailures { try fixtures.requireFixtures(of: edited) }
      #expect(failures.count == 1 && failures[0].contains("the model of People was changed"))
    }
  }
}
