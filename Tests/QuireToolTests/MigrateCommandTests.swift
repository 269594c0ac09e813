import Foundation
import Quire
import QuireTool
import Testing

@Suite struct MigrateCommandTests {
  @Test func `a dry run says what a run does, and writes nothing`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    let before = try Data(contentsOf: URL(filePath: store))
    let dry = ToolRun("migrate", store, "--model", Fixtures.model, "--dry-run")
    #expect(dry.code == .good)
    #expect(dry.output.contains("rewritten Album (was Collection), 5 objects"))
    #expect(dry.output.hasSuffix("Nothing was written: this was a dry run.\n"))
    let plan = try ToolRun("migrate", store, "--model", Fixtures.model, "--dry-run", "--json")
      .json()
    #expect(plan["isMigrated"] as? Bool == false)
    #expect(plan["milliseconds"] is NSNull)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)

    let run = try ToolRun("migrate", store, "--model", Fixtures.model, "--json").json()
    #expect(run["isMigrated"] as? Bool == true)
    #expect((run["milliseconds"] as? Double ?? 0) > 0)
    #expect(run["plan"] as? NSDictionary == plan["plan"] as? NSDictionary)
    let stat = try ToolRun("stat", store, "--json").json()
    #expect(stat["modelVersion"] as? String == "Gallery 2.7")
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `a store of the current version is left alone`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let before = try Data(contentsOf: URL(filePath: store))
    let run = ToolRun("migrate", store, "--model", Fixtures.model)
    #expect(run.code == .good)
    #expect(run.output == "\(store) has version Gallery 2.7: nothing to do.\n")
    let json = try ToolRun("migrate", store, "--model", Fixtures.model, "--json").json()
    #expect(json["plan"] is NSNull)
    #expect(json["isMigrated"] as? Bool == false)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }

  @Test func `a store can be brought to any version, with a note on the way back`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    let there = ToolRun("migrate", store, "--model", Fixtures.model, "--to", "Gallery 1.4")
    #expect(there.code == .good)
    #expect(there.errors.isEmpty)
    let stat = try ToolRun("stat", store, "--json").json()
    #expect(stat["modelVersion"] as? String == "Gallery 1.4")
    let back = ToolRun("migrate", store, "--model", Fixtures.model, "--to", "Gallery 1.3.5")
    #expect(back.code == .good, "\(back.errors)")
    #expect(back.errors.hasPrefix("note: Gallery 1.3.5 comes before Gallery 1.4"))
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `an unknown version and an unknown store are bad input`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    let version = ToolRun("migrate", store, "--model", Fixtures.model, "--to", "Gallery 9")
    #expect(version.code == .bad)
    #expect(version.errors.contains("no version “Gallery 9”"))
    let missing = ToolRun("migrate", folder.path("missing"), "--model", Fixtures.model)
    #expect(missing.code == .bad)
    #expect(!FileManager.default.fileExists(atPath: folder.path("missing")))
  }

  @Test func `a store of another model is refused, with what differs`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    let before = try Data(contentsOf: URL(filePath: store))
    let model = "\(Fixtures.model)/Gallery 2.7.xcdatamodel"
    let run = ToolRun("migrate", store, "--model", model)
    #expect(run.code == .bad)
    #expect(run.errors.contains("no known version of the model fits the store"))
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }
}
