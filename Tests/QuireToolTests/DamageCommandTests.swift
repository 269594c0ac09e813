import Foundation
import QuireSimulation
import Testing

/// What the commands make of damaged stores.
@Suite struct DamageCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A gallery with a page of rows overwritten, and the number of its objects.
  private func damagedGallery() throws -> (path: String, objects: Int) {
    let store = try folder.fixture("Gallery 2.7")
    let objects = try #require(try ToolRun("stat", store, "--json").json()["objects"] as? Int)
    let leaf = try #require(
      ToolRun("dump", store, "--pages").lines.first {
        $0.contains("record leaf") && $0.contains("rows/")
      })
    let page = try #require(Int(leaf.split(separator: " ")[0]))
    try folder.damage(store) { bytes in
      bytes.replaceSubrange(page * 4096 + 50..<page * 4096 + 90, with: Data(count: 40))
    }
    return (store, objects)
  }

  @Test func `doctor says what is wrong and what salvage would keep, and salvage keeps it`() throws
  {
    let (store, objects) = try damagedGallery()
    let before = try Data(contentsOf: URL(filePath: store))
    let doctor = ToolRun("doctor", store)
    #expect(doctor.code == .bad)
    #expect(doctor.output.contains("its checksum is wrong"))
    #expect(doctor.output.contains("quire salvage"))

    let new = folder.path("new.quire")
    let salvage = ToolRun("salvage", store, "--to", new, "--json")
    #expect(salvage.code == .bad)
    let report = try salvage.json()
    let kept = try #require(report["kept"] as? Int)
    let lost = try #require(report["lost"] as? Int)
    #expect(kept + lost == objects && lost > 0)
    #expect(doctor.output.contains("\(kept) objects kept"))
    #expect(ToolRun("check", new).code == .good)
    #expect(try ToolRun("stat", new, "--json").json()["objects"] as? Int == kept)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
    #expect(ToolRun("salvage", store, "--to", new).code == .bad, "the new store was written over")
  }

  @Test func `check says once why a store cannot be opened`() throws {
    for name in ["missing-log", "foreign-log", "damaged-log", "damaged-catalog"] {
      for ending in ["quire", "quire-log"] {
        let file = Fixtures.folder.appending(path: "Damaged/\(name).\(ending)").path
        guard FileManager.default.fileExists(atPath: file) else { continue }
        try FileManager.default.copyItem(atPath: file, toPath: folder.path("\(name).\(ending)"))
      }
      let run = ToolRun("check", folder.path("\(name).quire"))
      #expect(run.code == .bad)
      let said = run.errors.split(separator: "\n").map { $0.drop { $0 == " " } }
      for line in run.lines.dropFirst() {
        let finding = line.drop { $0 == " " }
        #expect(!said.contains { $0.contains(finding) }, "\(name): \(finding)\n\(run.errors)")
      }
    }
    let missing = ToolRun("check", folder.path("missing-log.quire"))
    #expect(missing.lines.contains { $0.contains("its log") && $0.contains("is missing") })
    #expect(
      missing.errors.hasPrefix(
        "quire: \(folder.path("missing-log.quire")): it cannot be opened.\n"),
      "\(missing.errors)")
  }

  @Test func `a damaged first page is mended by what opens the store for writing`() throws {
    let store = try folder.fixture("Gallery 2.7")
    let before = ToolRun("dump", store).output
    try folder.damage(store) { $0[30] ^= 1 }
    let doctor = ToolRun("doctor", store)
    #expect(doctor.code == .bad)
    #expect(doctor.output.contains("page 0: its checksum is wrong"))
    #expect(doctor.output.contains("quire compact") && !doctor.output.contains("quire salvage"))
    #expect(ToolRun("dump", store).output == before)
    #expect(ToolRun("compact", store).code == .good)
    #expect(ToolRun("check", store).code == .good)
    #expect(ToolRun("dump", store).output == before)
  }

  @Test func `doctor asks whether what does not begin as a store ever was one`() throws {
    let store = folder.path("notes.txt")
    try Data("what I wanted to say".utf8).write(to: URL(filePath: store))
    let doctor = ToolRun("doctor", store)
    #expect(doctor.code == .bad)
    #expect(doctor.output.contains("is not a Quire store"))
    #expect(doctor.output.contains("1. If it never was a store"))
  }

  @Test func `a file that ends within its first pages is said to be short`() throws {
    let store = try folder.fixture("Gallery 2.7")
    try folder.damage(store) { $0 = $0.prefix(3_000) }
    for command in ["doctor", "stat", "salvage"] {
      let run =
        command == "salvage"
        ? ToolRun(command, store, "--to", folder.path("new.quire")) : ToolRun(command, store)
      #expect(run.code == .bad)
      if command == "salvage" { continue }
      #expect((run.output + run.errors).contains("the file ends after 3000 bytes"))
    }
    let query = ToolRun("query", store, "--entity", "Artist")
    #expect(query.code == .bad)
    #expect(query.errors.contains("the file ends after 3000 bytes"), "\(query.errors)")
  }

  @Test func `dump, query and export go on past a damaged page and exit with 1`() throws {
    let (store, _) = try damagedGallery()
    let new = folder.path("new.quire")
    let report = try ToolRun("salvage", store, "--to", new, "--json").json()
    let kept = try #require(report["kept"] as? Int)
    let dump = ToolRun("dump", store)
    #expect(dump.code == .bad)
    #expect(dump.output == ToolRun("dump", new).output)
    #expect(dump.lines.count == kept)
    #expect(dump.errors.contains("lost"))

    let entities = try #require(report["entities"] as? [[String: Any]])
    let hurt = try #require(entities.first { $0["lost"] as? Int ?? 0 > 0 })
    let name = try #require(hurt["name"] as? String)
    let query = ToolRun("query", store, "--entity", name, "--format", "json")
    #expect(query.code == .bad)
    #expect(query.lines.count == hurt["kept"] as? Int)

    // An object that is lost is not said to have never been there, without a word of the damage.
    let lostKey = try #require((hurt["lostKeys"] as? [Int])?.first)
    let lost = ToolRun("get", store, "\(name)/\(lostKey)")
    #expect(lost.code == .bad && lost.output.isEmpty)
    #expect(lost.errors.contains("of \(name) lost: ") && lost.errors.contains("p\(lostKey)"))

    let export = ToolRun("export", store, "--to", folder.path("out"))
    #expect(export.code == .bad)
    let lines = try String(
      contentsOf: URL(filePath: folder.path("out/\(name).jsonl")), encoding: .utf8)
    #expect(lines.split(separator: "\n").count == hurt["kept"] as? Int)
  }

  @Test func `a sound store has nothing wrong, and its remains are named`() throws {
    let store = try folder.fixture("Gallery 2.7")
    #expect(ToolRun("doctor", store).code == .good)
    try Data().write(to: URL(filePath: store + "-new-00000000-0000-4000-8000-000000000000"))
    let doctor = ToolRun("doctor", store)
    #expect(doctor.code == .good)
    #expect(doctor.output.contains("-new-00000000-0000-4000-8000-000000000000"))
  }

  @Test func `the backup beside a damaged store comes before salvage`() throws {
    let (store, _) = try damagedGallery()
    let sound = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: try sound.fixture("Gallery 2.7"), toPath: store + "~")
    let output = ToolRun("doctor", store).output
    let restore = try #require(output.range(of: "quire restore Gallery 2.7.quire~"))
    let salvage = try #require(output.range(of: "quire salvage"))
    #expect(restore.lowerBound < salvage.lowerBound)
  }

  @Test func `a page file gives back its trees, and what is no store an error`() throws {
    let file = folder.path("flipped.quire")
    try FileManager.default.copyItem(
      atPath: Fixtures.folder.appending(path: "Damaged/flipped-bit.quire").path, toPath: file)
    let run = ToolRun("salvage", file, "--to", folder.path("new.quire"), "--json")
    #expect(run.code == .bad)
    let trees = try #require(try run.json()["trees"] as? [[String: Any]])
    #expect(trees.first { $0["name"] as? String == "a" }?["entries"] as? Int == 23)
    let text = folder.path("text")
    try Data("nothing".utf8).write(to: URL(filePath: text))
    for command in [["doctor", text], ["salvage", text, "--to", folder.path("other")]] {
      let run = ToolRun(command)
      #expect(run.code == .bad)
      #expect((run.output + run.errors).contains(text))
    }
    #expect(ToolRun("doctor", folder.path("none")).errors.contains("no such file"))
  }
}
