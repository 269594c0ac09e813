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
    let album = try #require(dry.lines.first { $0.contains(" Album ") })
    #expect(album.hasPrefix("  rewritten  Album"))
    #expect(album.contains("  5  4,096  "))
    #expect(album.contains("was Collection"))
    #expect(dry.lines.allSatisfy { $0.count < 100 && !$0.hasSuffix(" ") })
    #expect(dry.output.hasSuffix("Nothing was written: this was a dry run.\n"))
    let plan = try ToolRun("migrate", store, "--model", Fixtures.model, "--dry-run", "--json")
      .json()
    #expect(plan["isMigrated"] as? Bool == false)
    let steps = try #require(plan["steps"] as? [[String: String]])
    #expect(steps.count == 1 && steps.first?["method"] == "inferred")
    #expect(plan["milliseconds"] is NSNull)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)

    let run = try ToolRun("migrate", store, "--model", Fixtures.model, "--json").json()
    #expect(run["isMigrated"] as? Bool == true)
    #expect((run["milliseconds"] as? Double ?? 0) > 0)
    #expect(run["plan"] as? NSDictionary == plan["plan"] as? NSDictionary)
    let stat = try ToolRun("stat", store, "--json").json()
    #expect(stat["modelVersion"] as? String == "Gallery 2.7")
    let history = try #require(stat["migrations"] as? [[String: Any]])
    #expect(history.map { $0["from"] as? String } == ["Gallery 1.3"])
    #expect(history.map { $0["to"] as? String } == ["Gallery 2.7"])
    #expect(history.first?["toChecksum"] as? String == stat["modelChecksum"] as? String)
    let table = ToolRun("stat", store).lines.drop { !$0.hasPrefix("migrated ") }
    #expect(table.dropFirst().first?.contains("Z  Gallery 1.3  Gallery 2.7  ") == true)
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `a deferred migration says what it leaves, and is finished by a second command`()
    throws
  {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.0")
    let plan =
      try ToolRun(
        "migrate", store, "--model", Fixtures.model, "--deferred", "--dry-run", "--json"
      ).json()["plan"] as? [String: Any]
    let left = try #require(plan?["deferredObjects"] as? Int)
    #expect(left > 0 && plan?["rewrittenObjects"] as? Int == 70 - left)

    let run = ToolRun("migrate", store, "--model", Fixtures.model, "--deferred")
    #expect(run.code == .good)
    #expect(run.output.contains("  deferred  Artwork "))
    #expect(run.output.contains(", \(left) left for later"))
    let stat = ToolRun("stat", store)
    #expect(stat.lines.contains("object format    3"))
    #expect(stat.lines.contains { $0.hasPrefix("left to rewrite  up to ") })
    let check = ToolRun("check", store)
    #expect(check.code == .good && check.output.contains("objects that a deferred migration"))
    let again = ToolRun("migrate", store, "--model", Fixtures.model)
    #expect(again.errors.contains("has left up to \(left) objects"))
    let dump = ToolRun("dump", store).output

    let dry = ToolRun("migrate", store, "--model", Fixtures.model, "--finish", "--dry-run")
    #expect(dry.output.hasPrefix("To rewrite: up to \(left) objects of "))
    let finish = ToolRun("migrate", store, "--model", Fixtures.model, "--finish")
    #expect(finish.code == .good && finish.output.hasPrefix("finished in "))
    #expect(try ToolRun("stat", store, "--json").json()["objectFormat"] as? Int == 3)
    #expect(ToolRun("dump", store).output == dump)
    #expect(ToolRun("check", store).code == .good)
    let both = ToolRun("migrate", store, "--model", Fixtures.model, "--finish", "--deferred")
    #expect(both.code == .wrongUsage)
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

  /// A program that opens the store refuses to: here somebody has asked for it.
  @Test func `a store without named versions is taken back, after a copy`() throws {
    let folder = try TemporaryFolder()
    let narrow = try ManagedObjectModel { Entity("Person") { Attribute("name", .string) } }
    let wide = try ManagedObjectModel {
      Entity("Person") {
        Attribute("name", .string)
        Attribute("age", .integer16, default: 7)
      }
    }
    func open(_ model: ManagedObjectModel, _ name: String, _ count: Int) throws -> String {
      let url = folder.url.appending(path: name)
      let container = PersistentContainer(name: "People", managedObjectModel: model)
      try container.loadPersistentStore(at: url, options: .migrating)
      try container.writeAndWait { context in
        for _ in 0..<count {
          _ = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
        }
      }
      try container.close()
      return url.path
    }
    let former = try open(narrow, "former.quire", 0)
    _ = try open(narrow, "people.quire", 2)
    let store = try open(wide, "people.quire", 0)
    let run = ToolRun("migrate", store, "--model", former)
    #expect(run.code == .good, "\(run.errors)")
    #expect(run.output.contains("- age"))
    #expect(ToolRun("query", store, "--entity", "Person", "--count").output.contains("2"))
    #expect(FileManager.default.fileExists(atPath: store + "~"))
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
    #expect(run.errors.contains("version Gallery 1.4 of its model, which is none of those known"))
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }

  @Test func `the JSON of a plan has the documented keys, and decodes as the plan`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.0")
    let dry = try ToolRun("migrate", store, "--model", Fixtures.model, "--dry-run", "--json").json()
    let json = try #require(dry["plan"] as? [String: Any])
    #expect(
      Set(json.keys) == [
        "from", "to", "isPossible", "rewrittenObjects", "deferredObjects", "deferredBytes",
        "rebuiltEntries", "writtenBytes", "estimatedMilliseconds", "entities", "relationships",
        "indexes", "numbers", "obstacles", "possibleRenamings",
      ])
    let plan = try JSONDecoder().decode(
      MigrationPlan.self, from: JSONSerialization.data(withJSONObject: json))
    let run = ToolRun("models", Fixtures.model, "--json")
    let model = try #require(try run.json()["current"] as? String)
    #expect(plan.sourceVersion == "Gallery 2.0" && plan.destinationVersion == model)
    #expect(json["writtenBytes"] as? Int == plan.writtenByteCount)
    #expect(json["estimatedMilliseconds"] as? Double == plan.estimatedMilliseconds)
    let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(plan))
    let encodedKeys = Set(try #require(encoded as? [String: Any]).keys)
    #expect(encodedKeys.isSubset(of: json.keys))
    for (key, steps) in [
      ("entities", plan.entities.count), ("indexes", plan.indexes.count),
      ("relationships", plan.relationships.count),
    ] {
      #expect((json[key] as? [Any])?.count == steps && steps > 0)
    }
  }

  @Test func `a migration that cannot be inferred has a plan, and the exit code says so`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let before = try Data(contentsOf: URL(filePath: store))
    for flags in [["--dry-run"], []] {
      let words = ["migrate", store, "--model", Fixtures.model, "--to", "Gallery 1.3"] + flags
      let run = ToolRun(words)
      #expect(run.code == .bad)
      #expect(run.output.contains("  Artwork.artist (27 objects) referred to many objects"))
      #expect(run.output.hasSuffix("    write a mapping that chooses one of the objects\n"))
      #expect(run.errors.contains("\(store) cannot be migrated from Gallery 2.7 to Gallery 1.3"))
      let plan = try #require(try ToolRun(words + ["--json"]).json()["plan"] as? [String: Any])
      #expect(plan["isPossible"] as? Bool == false)
      let obstacles = try #require(plan["obstacles"] as? [[String: Any]])
      #expect(obstacles.contains { $0["property"] as? String == "artist" })
    }
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }

  @Test func `a backup is made before, and restored by its command`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    let before = ToolRun("dump", store).output
    let backup = folder.path("backup.quire")
    let words = ["migrate", store, "--model", Fixtures.model, "--backup", backup]
    let dry = try ToolRun(words + ["--dry-run", "--json"]).json()
    #expect(dry["backup"] is NSNull)
    #expect(!FileManager.default.fileExists(atPath: backup))
    let run = ToolRun(words)
    #expect(run.code == .good, "\(run.errors)")
    #expect(run.output.hasSuffix("rewritten; as it was in \(backup)\n"))
    #expect(ToolRun("dump", backup).output == before)
    let again = ToolRun("migrate", store, "--model", Fixtures.model, "--to", "Gallery 2.0")
    #expect(again.code == .good)
    let refused = ToolRun(words)
    #expect(refused.code == .bad)
    #expect(refused.errors.contains("\(backup) is there already"))

    let restored = ToolRun("restore", backup, "--to", store)
    #expect(restored.code == .good, "\(restored.errors)")
    #expect(restored.output.hasPrefix("\(store) is restored: "))
    #expect(restored.output.hasSuffix(", version Gallery 1.4.\n"))
    #expect(ToolRun("dump", store).output == before)
    let json = try ToolRun("restore", backup, "--to", store, "--json").json()
    #expect(json["modelVersion"] as? String == "Gallery 1.4")
    let other = try folder.fixture("Gallery 1.3")
    let stranger = ToolRun("restore", backup, "--to", other)
    #expect(stranger.code == .bad)
    #expect(stranger.errors.contains("\(other) is another store"))
    #expect(ToolRun("restore", folder.path("missing"), "--to", store).code == .bad)
    #expect(ToolRun("check", store).code == .good)
  }
}
