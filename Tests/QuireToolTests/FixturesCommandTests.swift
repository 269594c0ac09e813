import Foundation
import QuireTool
import Testing

@Suite struct FixturesCommandTests {
  @Test func `the fixtures in the repository can be made again, byte for byte`() throws {
    let folder = try TemporaryFolder()
    let run = ToolRun("fixtures", folder.url.path, "--model", Fixtures.model)
    #expect(run.code == .good, "\(run.errors)")
    for name in ["Format2", "Damaged"] {
      let theirs = Fixtures.folder.appending(path: name)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(name))
      #expect(
        try names.sorted() == FileManager.default.contentsOfDirectory(atPath: theirs.path).sorted())
      for file in names {
        let isSame =
          try Data(contentsOf: URL(filePath: folder.path("\(name)/\(file)")))
          == Data(contentsOf: theirs.appending(path: file))
        #expect(isSame, "\(file)")
      }
    }
    let made = folder.path("Gallery")
    let files = try FileManager.default.contentsOfDirectory(atPath: made)
    #expect(files.sorted() == Fixtures.versions.map { "\($0).quire" }.sorted())
    for version in Fixtures.versions {
      let (ours, theirs) = ("\(made)/\(version).quire", Fixtures.store(version))
      #expect(ToolRun("dump", ours).output == ToolRun("dump", theirs).output, "\(version)")
      let isSame =
        try Data(contentsOf: URL(filePath: ours))
        == Data(contentsOf: URL(filePath: theirs))
      #expect(isSame, "\(version): make the fixtures again if the format changed on purpose")
    }
  }

  @Test func `another seed makes other content of the same shape`() throws {
    let folder = try TemporaryFolder()
    let place = folder.path("other")
    #expect(ToolRun("fixtures", place, "--model", Fixtures.model, "--seed", "7").code == .good)
    let made = "\(place)/Gallery"
    let (ours, theirs) = ("\(made)/Gallery 1.4.quire", Fixtures.store("Gallery 1.4"))
    #expect(ToolRun("dump", ours).output != ToolRun("dump", theirs).output)
    let (one, other) = (
      try ToolRun("stat", ours, "--json").json(), try ToolRun("stat", theirs, "--json").json()
    )
    #expect(one["entities"] as? [String: Int] == other["entities"] as? [String: Int])
    #expect(one["uuid"] as? String != other["uuid"] as? String)
    #expect(ToolRun("check", ours).code == .good)
  }

  @Test func `no two fixtures share a UUID`() throws {
    let identifiers = try Fixtures.versions.map {
      try ToolRun("stat", Fixtures.store($0), "--json").json()["uuid"] as? String
    }
    #expect(Set(identifiers).count == Fixtures.versions.count)
  }

  @Test func `nothing is overwritten, and then nothing is written`() throws {
    let folder = try TemporaryFolder()
    let taken = folder.path("Damaged/torn-log.quire")
    try FileManager.default.createDirectory(
      atPath: folder.path("Damaged"), withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(filePath: taken))
    let run = ToolRun("fixtures", folder.url.path, "--model", Fixtures.model)
    #expect(run.code == .bad)
    #expect(run.errors.contains(taken))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Damaged"])
    #expect(
      ToolRun("fixtures", folder.url.path, "--model", Fixtures.model, "--replace").code == .good)
    #expect(try Data(contentsOf: URL(filePath: taken)).count > 4)
  }
}
