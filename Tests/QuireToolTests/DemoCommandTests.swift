import Foundation
import QuireSimulation
import QuireTool
import QuireXcode
import Testing

@Suite(.serialized) struct DemoCommandTests {
  /// A copy of the fixtures, to be damaged.
  private func fixtures(in folder: TemporaryFolder) throws -> String {
    let copy = folder.path("Fixtures")
    try FileManager.default.copyItem(atPath: Fixtures.folder.path, toPath: copy)
    return copy
  }

  private static let runCount = Amount.of(debug: 1, release: MigrationTrial.usualRunCount)
  /// Unoptimised code, beside all other tests, is no measure.
  private static let budget = Amount.of(debug: .seconds(60), release: MigrationTrial.budget)

  private func demo(_ arguments: String...) -> ToolRun {
    MigrationTrial.$runCount.withValue(Self.runCount) {
      MigrationTrial.$budget.withValue(Self.budget) { ToolRun(["demo"] + arguments) }
    }
  }

  @Test func `the bundled fixtures all migrate, every fact as it should be`() throws {
    let folder = try TemporaryFolder()
    let kept = folder.path("kept")
    let run = demo("--fixtures", Fixtures.folder.path, "--keep", kept, "--json")
    #expect(run.code == .good, "\(run.output) \(run.errors)")
    let json = try run.json()
    #expect(json["passed"] as? Bool == true)
    #expect(json["current"] as? String == "Gallery 2.7")
    #expect(json["budgetMilliseconds"] as? Double == Self.budget / .milliseconds(1))
    let trials = try #require(json["fixtures"] as? [[String: Any]])
    #expect(trials.map { $0["sourceVersion"] as? String } == Fixtures.versions)
    for (trial, version) in zip(trials, Fixtures.versions) {
      #expect(trial["failures"] as? [String] == [])
      #expect((trial["facts"] as? Int ?? 0) > 500)
      #expect((trial["runMilliseconds"] as? [Any])?.count == Self.runCount)
      #expect((trial["plan"] is NSNull) == (version == "Gallery 2.7"))
      let objects = GalleryGenerator.objectCounts[version]?.values.reduce(0, +)
      #expect(trial["objects"] as? Int == objects)
      let stat = try ToolRun("stat", "\(kept)/\(version).quire", "--json").json()
      #expect(stat["modelVersion"] as? String == "Gallery 2.7")
    }
    let again = ToolRun("demo", "--fixtures", Fixtures.folder.path, "--keep", kept)
    #expect(again.code == .bad)
    #expect(again.errors.contains("Nothing is overwritten"))
  }

  @Test func `a damaged fixture fails, the others are still migrated`() throws {
    let folder = try TemporaryFolder()
    let fixtures = try fixtures(in: folder)
    try folder.damage("\(fixtures)/Gallery/Gallery 1.4.quire") { $0[14 * 4096 + 100] ^= 0xFF }
    let run = demo("--fixtures", fixtures)
    #expect(run.code == .bad)
    #expect(run.output.contains("FAILED: 1 of 6 fixtures: Gallery 1.4\n"))
    #expect(run.output.contains("page 14"))
    #expect(run.lines.count { $0.hasPrefix("  checks ") } == 5)
  }

  @Test func `a migration over the budget fails, however right it is`() throws {
    let folder = try TemporaryFolder()
    let model = try XcodeModelHistory(contentsOf: URL(filePath: Fixtures.model)).versionedModel
    let trial = MigrationTrial(
      of: URL(filePath: Fixtures.store("Gallery 1.3")), to: model, in: folder.url, budget: .zero)
    #expect(!trial.passed)
    #expect(trial.failures.count == 1)
    #expect(trial.failures.first?.hasSuffix("is over the budget") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test func `a version without a fixture is an error`() throws {
    let folder = try TemporaryFolder()
    let fixtures = try fixtures(in: folder)
    try FileManager.default.removeItem(atPath: "\(fixtures)/Gallery/Gallery 1.6.quire")
    let run = ToolRun("demo", "--fixtures", fixtures)
    #expect(run.code == .bad)
    #expect(run.errors.contains("the version Gallery 1.6 has no fixture"))
  }

  @Test func `fixtures that are not there are an error`() throws {
    let folder = try TemporaryFolder()
    let run = ToolRun("demo", "--fixtures", folder.url.path)
    #expect(run.code == .bad)
    #expect(run.errors.contains("there is no Gallery.xcdatamodeld in \(folder.url.path)"))
  }
}
