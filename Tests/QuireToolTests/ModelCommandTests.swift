import Foundation
import QuireTool
import QuireXcode
import Testing

@Suite struct ModelCommandTests {
  @Test func `models lists every version and marks the current one`() throws {
    let run = ToolRun("models", Fixtures.model)
    #expect(run.code == .good)
    let heads = run.lines.filter { $0.contains(" entities  ") }
    #expect(heads.count == Fixtures.versions.count)
    for (head, version) in zip(heads, Fixtures.versions) {
      let mark = version == "Gallery 2.7" ? "*" : " "
      #expect(head.hasPrefix("\(mark) \(version)  "))
    }
  }

  @Test func `models gives whole hashes and every property as JSON`() throws {
    let json = try ToolRun("models", Fixtures.model, "--json").json()
    #expect(json["current"] as? String == "Gallery 2.7")
    let versions = try #require(json["versions"] as? [[String: Any]])
    #expect(versions.map { $0["name"] as? String } == Fixtures.versions)
    let model = try XcodeModelHistory(contentsOf: URL(filePath: Fixtures.model)).versionedModel
    for (version, expected) in zip(versions, model.versions) {
      #expect(version["checksum"] as? String == "\(expected.model.versionChecksum)")
      let entities = try #require(version["entities"] as? [[String: Any]])
      for (entity, expected) in zip(entities, expected.model.entities) {
        #expect(entity["name"] as? String == expected.name)
        #expect(entity["hash"] as? String == "\(expected.versionHash)")
        #expect((entity["attributes"] as? [Any])?.count == expected.attributes.count)
        #expect((entity["relationships"] as? [Any])?.count == expected.relationships.count)
      }
    }
  }

  @Test func `models and diff name a path that has no model`() throws {
    for run in [ToolRun("models", "/nowhere"), ToolRun("diff", "/nowhere", "a", "b")] {
      #expect(run.code == .bad)
      #expect(run.output.isEmpty)
      #expect(run.errors.contains("/nowhere"))
    }
  }

  @Test func `a version that cannot be loaded is a note, and the others are listed`() throws {
    let folder = try TemporaryFolder()
    let model = folder.url.appending(path: "M.xcdatamodeld")
    for (name, file, text) in [
      ("M", "elements", "bplist"), ("M 2", "contents", #"<model><entity name="A"/></model>"#),
    ] {
      let version = model.appending(path: "\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: version.appending(path: file))
    }
    let run = ToolRun("models", model.path, "--json")
    #expect(run.code == .good)
    #expect((try run.json()["versions"] as? [[String: Any]])?.count == 1)
    #expect(run.errors.hasPrefix("note: M is left out: "), "\(run.errors)")
    #expect(run.errors.contains("binary form"))
  }

  @Test func `an unknown element in several versions is reported in one note`() throws {
    let folder = try TemporaryFolder()
    let model = folder.url.appending(path: "M.xcdatamodeld")
    for name in ["M", "M 2"] {
      let version = model.appending(path: "\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      let xml = #"""
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="A"><attribute name="a" attributeType="String"/><novelty/></entity>
        </model>
        """#
      try Data(xml.utf8).write(to: version.appending(path: "contents"))
    }
    let run = ToolRun("models", model.path, "--json")
    #expect(run.code == .good)
    _ = try run.json()
    #expect(run.errors.hasPrefix("note: M, line 2 and 1 location more: "), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test func `diff prints the difference, and finds none between a version and itself`() throws {
    let run = ToolRun("diff", Fixtures.model, "Gallery 1.3", "Gallery 1.4")
    #expect(run.code == .good)
    #expect(run.output.contains("~ Album (was Collection)"))
    let json = try ToolRun("diff", Fixtures.model, "Gallery 1.3", "Gallery 1.4", "--json").json()
    let difference = try #require(json["difference"] as? [String: Any])
    #expect(difference["isEmpty"] as? Bool == false)
    #expect(difference["isInferable"] as? Bool == true)
    let entities = try #require(difference["entities"] as? [[String: Any]])
    let album = try #require(entities.first { $0["name"] as? String == "Album" })
    #expect(album["sourceName"] as? String == "Collection")

    let same = ToolRun("diff", Fixtures.model, "Gallery 1.4", "Gallery 1.4")
    #expect(same.code == .good)
    #expect(same.output.hasSuffix("Both versions read each other's stores.\n"))
  }

  @Test func `diff of a version that is not there says which are`() throws {
    let run = ToolRun("diff", Fixtures.model, "Gallery 1.3", "Gallery 9")
    #expect(run.code == .bad)
    #expect(run.errors.contains("no version “Gallery 9”; it has “Gallery 1.3”, “Gallery 1.3.5”"))
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `a real model in nineteen versions is read`() throws {
    let model = try RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld")
    let versions = try #require(
      try ToolRun("models", model, "--json").json()["versions"] as? [[String: Any]])
    #expect(versions.count == 19)
  }
}
