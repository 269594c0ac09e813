import Foundation
import QuireStorage
import QuireTool
import Testing

/// `Fixtures/Format1`, `Fixtures/Format2` and `Fixtures/Damaged`: what their READMEs claim, and
/// that the last two are what the engine still makes. Those of format 1 were made once.
@Suite struct FormatFixtureTests {
  /// A row of a README's table.
  struct Claim: Sendable, CustomTestStringConvertible {
    let folder: String
    let file: String
    let opening: String
    let finding: String

    var path: String { Fixtures.folder.appending(path: "\(folder)/\(file)").path }
    var testDescription: String { file }
    var isSound: Bool { finding == "sound" }
  }

  static let claims = folders.flatMap { folder -> [Claim] in
    let readme = Fixtures.folder.appending(path: "\(folder)/README.md")
    let text = (try? String(contentsOf: readme, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| `"), cells.count == 4 else { return nil }
      return Claim(
        folder: folder, file: cells[0].trimmingCharacters(in: ["`"]), opening: cells[2],
        finding: cells[3])
    }
  }

  private static let folders = ["Format1", "Format2", "Damaged"]

  @Test func `the READMEs name every file, and there are some`() throws {
    #expect(Self.claims.count >= 20)
    for folder in Self.folders {
      let files = try FileManager.default.contentsOfDirectory(
        atPath: Fixtures.folder.appending(path: folder).path)
      let named = Set(Self.claims.filter { $0.folder == folder }.map(\.file))
      #expect(Set(files.filter { $0.hasSuffix(".quire") }) == named)
    }
  }

  @Test(arguments: claims)
  func `opening and checking say what the README says`(claim: Claim) throws {
    var options = PageStoreOptions()
    options.isReadOnly = true
    var (opening, findings) = ("", [String]())
    do {
      let store = try PageStore.open(claim.path, options: options)
      opening = "opens at commit \(store.statistics.commitNumber)"
      findings = try store.check().findings.map { "\($0)" }
      try store.close()
    } catch {
      opening = "\(error)".replacing(claim.path, with: claim.file)
      findings = [opening]
    }
    #expect(opening == claim.opening)
    if claim.isSound {
      #expect(findings == [])
    } else {
      #expect(findings.contains { $0.contains(claim.finding) }, "\(findings)")
    }
  }

  @Test(arguments: claims)
  func `the tool shows every one as far as it goes, and writes nothing`(claim: Claim) throws {
    let folder = Fixtures.folder.appending(path: claim.folder).path
    let before = try FileManager.default.contentsOfDirectory(atPath: folder)
    let bytes = try Data(contentsOf: URL(filePath: claim.path))
    for words in [
      ["check", claim.path], ["check", claim.path, "--json"], ["stat", claim.path],
      ["stat", claim.path, "--json"], ["dump", claim.path, "--pages", "--log"],
      ["dump", claim.path, "--page", "4"],
    ] {
      let run = ToolRun(words)
      #expect(run.code == (claim.isSound ? .good : .bad), "\(words) \(run.errors)")
      let said = (run.output + run.errors).replacing(claim.path, with: claim.file)
      // Words differ, as another looks; the page does not.
      let place =
        claim.finding.hasPrefix("page ")
        ? claim.finding.split(whereSeparator: { " :".contains($0) })[..<2].joined(separator: " ")
        : String(claim.finding.prefix(24))
      if !claim.isSound { #expect(said.contains(place), "\(words): \(said)") }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before.sorted())
    #expect(try Data(contentsOf: URL(filePath: claim.path)) == bytes)
  }

  @Test(arguments: ["Format1", "Format2"])
  func `stores of each format hold what they were made with, and can be written`(
    folder: String
  ) throws {
    for (fixture, content) in try SoundFixtures.all() {
      let files = MemoryFileSystem()
      for (name, _) in fixture.files {
        let url = Fixtures.folder.appending(path: "\(folder)/\(name)")
        files.setBytes(Array(try Data(contentsOf: url)), of: name)
      }
      let store = try PageStore.open(fixture.fileName, in: files)
      #expect(try FixtureContent(of: store) == content, "\(fixture.name)")
      try store.write { try $0.createRecordTree("new").put([1], for: 1) }
      try store.close()
      #expect(try StoreAnatomy(of: fixture.fileName, in: files).version == .current)
      let again = try PageStore.open(fixture.fileName, in: files)
      #expect(try again.check().isSound)
      #expect(try FixtureContent(of: again).records["new"] == [1: [1]])
      try again.close()
    }
  }

  /// They were made once, before there was a format 2.
  @Test func `galleries of format 1 hold what the others do, and migrate to the same`() throws {
    let folder = try TemporaryFolder()
    for version in Fixtures.versions {
      let former = Fixtures.folder.appending(path: "Format1/Gallery/\(version).quire").path
      let present = Fixtures.store(version)
      #expect(ToolRun("dump", former).output == ToolRun("dump", present).output, "\(version)")
      #expect(try StoreAnatomy(of: former).version == FormatVersion(major: 1, minor: 0))
      var dumps: [String] = []
      for (name, store) in [("former", former), ("present", present)] {
        let copy = folder.path("\(version) \(name).quire")
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        _ = ToolRun("migrate", copy, "--model", Fixtures.model)
        let store = try PageStore.open(copy)
        try store.write { try $0.createRecordTree("more") }
        try store.write { try $0.dropTree("more") }
        try store.close()
        #expect(try StoreAnatomy(of: copy).version == .current)
        #expect(ToolRun("check", copy).code == .good)
        dumps.append(ToolRun("dump", copy).output)
      }
      #expect(dumps[0] == dumps[1], "\(version)")
    }
  }

  @Test func `they are what the engine makes, byte for byte`() throws {
    let made =
      try SoundFixtures.all().map { ("Format2", $0.fixture) }
      + DamagedFixtures.all().map { ("Damaged", $0) }
    #expect(made.map(\.1.fileName) == Self.claims.filter { $0.folder != "Format1" }.map(\.file))
    for (folder, fixture) in made {
      for (name, bytes) in fixture.files {
        let url = Fixtures.folder.appending(path: "\(folder)/\(name)")
        let isSame = try Data(contentsOf: url) == Data(bytes)
        #expect(isSame, "\(name): make the fixtures again if the format changed on purpose")
      }
    }
  }

  @Test func `one of them has more than one page map, and a value that steps over it`() throws {
    let closed = try #require(try SoundFixtures.all().first { $0.fixture.name == "closed-512" })
    let files = MemoryFileSystem()
    files.setBytes(closed.fixture.store, of: "store")
    let anatomy = try StoreAnatomy(of: "store", in: files)
    #expect(anatomy.maps.count == 2)
    let map = Int(try #require(anatomy.maps.last).id.rawValue)
    #expect(try anatomy.summary(of: map - 1).type == "overflow")
    #expect(try anatomy.summary(of: map + 1).type == "overflow")
  }
}
