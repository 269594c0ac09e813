import Foundation
import QuireModel
import QuireTool
import QuireXcode
import Testing

@Suite struct ImportCommandTests {
  @Test func `importing a file that is no Core Data store creates no file`() throws {
    let folder = try TemporaryFolder()
    let (source, store) = (folder.path("text.sqlite"), folder.path("new.quire"))
    try Data("not a database".utf8).write(to: URL(filePath: source))
    for path in [source, folder.path("missing.sqlite")] {
      let run = ToolRun("import", path, "--model", Fixtures.model, "--to", store)
      #expect(run.code == .bad)
      #expect(run.output.isEmpty)
      #expect(run.errors.contains(path))
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func `a source in use is to be closed, or copied at one moment`() {
    let error = SQLiteError(file: "/shop.sqlite", reason: .changedWhileReading)
    #expect(error.description.contains("an application uses it. Close the application"))
    // A copy of the two files, made while they are written to, is of two moments.
    #expect(!error.description.contains("-wal"))
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `a real store is imported whole, and migrates`() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("folio.quire")
    let model = try RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld")
    let source = try RealData.path("artsy-folio/stores/ArtsyPartner_1.4.sqlite")
    let run = ToolRun("import", source, "--model", model, "--to", store, "--json")
    #expect(run.code == .good, "\(run.errors)")
    let json = try run.json()
    #expect(json["version"] as? String == "ArtsyFolio v1.4")
    #expect(json["alternatives"] as? [String] == [])
    #expect(json["isComplete"] as? Bool == true)
    #expect(json["objects"] as? Int == 298)
    #expect((json["entities"] as? [String: Int])?["User"] == 108)
    #expect((json["links"] as? [String: Int])?["Album.artworks"] == 78)
    #expect(json["danglingReferences"] as? [String] == [])
    let stat = try ToolRun("stat", store, "--json").json()
    #expect(stat["uuid"] as? String == json["uuid"] as? String)
    #expect(stat["objects"] as? Int == 298)
    #expect(ToolRun("check", store).code == .good)
    #expect(ToolRun("dump", store).lines.count == 298)

    let again = ToolRun("import", source, "--model", model, "--to", store)
    #expect(again.code == .bad)
    #expect(again.errors.contains("there is a file already: \(store)"))

    let migration = ToolRun("migrate", store, "--model", model)
    #expect(migration.code == .good, "\(migration.errors)")
    #expect(ToolRun("check", store).code == .good)
    #expect(ToolRun("dump", store).lines.count == 298)
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `a store of several models is imported by their merged model`() throws {
    let folder = try TemporaryFolder()
    let whole = try String(
      contentsOfFile: RealData.path(
        "artsy-folio/ArtsyPartner.xcdatamodeld/ArtsyFolio v1.4.xcdatamodel/contents"),
      encoding: .utf8)
    let start = try #require(whole.range(of: "<entity name=\"User\""))
    let end = try #require(whole.range(of: "</entity>", range: start.lowerBound..<whole.endIndex))
    let user = whole[start.lowerBound..<end.upperBound]
    let head = try #require(whole.range(of: "<entity "))
    for (name, text) in [
      ("Folio", whole.replacing(user, with: "")),
      ("Users", "\(whole[..<head.lowerBound])\(user)</model>"),
    ] {
      let model = folder.path("\(name).xcdatamodel")
      try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
      try text.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
    }
    let source = try RealData.path("artsy-folio/stores/ArtsyPartner_1.4.sqlite")
    let store = folder.path("folio.quire")
    let (folio, users) = (folder.path("Folio.xcdatamodel"), folder.path("Users.xcdatamodel"))
    #expect(ToolRun("import", source, "--model", folio, "--to", store).code == .bad)
    let run = ToolRun("import", source, "--model", folio, "--model", users, "--to", store, "--json")
    #expect(run.code == .good, "\(run.errors)")
    #expect(try run.json()["objects"] as? Int == 298)
    #expect(ToolRun("check", store).code == .good)
    let migration = ToolRun("migrate", store, "--model", users, "--model", folio)
    #expect(migration.code == .good, "\(migration.errors)")
    // Versions are combined: the store has the first of one and the only one of the other.
    let all = folder.path("All.xcdatamodeld")
    let rest = whole.replacing(user, with: "")
    let later = rest.replacing(
      "<entity ", with: #"<entity name="Later"/><entity "#, maxReplacements: 1)
    for (name, text) in [("One", rest), ("Two", later)] {
      let model = all + "/\(name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
      try text.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
    }
    let current = ["_XCCurrentVersionName": "Two.xcdatamodel"]
    try PropertyListEncoder().encode(current).write(to: URL(filePath: all + "/.xccurrentversion"))
    let second = folder.path("second.quire")
    let versions = ToolRun(
      "import", source, "--model", all, "--model", users, "--to", second, "--json")
    #expect(versions.code == .good, "\(versions.errors)")
    #expect(try versions.json()["version"] as? String == "One + Users")
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `an import that is ended leaves no file behind, at whichever object`() throws {
    let folder = try TemporaryFolder()
    let model = try VersionedModel(
      contentsOf: URL(filePath: RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld")))
    let source = try RealData.path("artsy-folio/stores/ArtsyPartner_1.4.sqlite")
    let store = URL(filePath: folder.path("folio.quire"))
    var totals: [Int] = []
    for call in 1...4 {
      var calls = 0
      #expect(throws: CancellationError.self) {
        try CoreDataImport(of: URL(filePath: source), in: model).write(to: store) { done, total in
          calls += 1
          if calls == call {
            totals += [done, total]
            throw CancellationError()
          }
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
    #expect(totals == [0, 298, 100, 298, 200, 298, 298, 298])
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `references to nothing are reported`() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("folio.quire")
    let run = ToolRun(
      "import", try RealData.path("artsy-folio/stores/ArtsyPartner_2.0.sqlite"), "--model",
      try RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld"), "--to", store)
    #expect(run.code == .good)
    #expect(run.output.contains("references to nothing, left out: 4\n"))
    #expect(run.output.contains("  Artwork 1.mainImage refers to Image 0, which is not there\n"))
    #expect(ToolRun("check", store).code == .good)
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `a version that does not fit is refused, with what differs`() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("folio.quire")
    let source = try RealData.path("artsy-folio/stores/ArtsyPartner_1.4.sqlite")
    let model = try RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld")
    let wrong = ToolRun(
      "import", source, "--model", model, "--to", store, "--version", "ArtsyFolio v2.0")
    #expect(wrong.code == .bad)
    #expect(wrong.errors.contains("the version “ArtsyFolio v2.0” does not fit"))
    let foreign = ToolRun("import", source, "--model", Fixtures.model, "--to", store)
    #expect(foreign.code == .bad)
    #expect(foreign.errors.contains("The nearest is “"))
    let nowhere = ToolRun(
      "import", source, "--model", model, "--to", folder.path("nowhere/folio.quire"))
    #expect(nowhere.code == .bad)
    #expect(nowhere.errors.contains("there is no folder \(folder.path("nowhere"))"))
    #expect(!FileManager.default.fileExists(atPath: store))
  }
}
