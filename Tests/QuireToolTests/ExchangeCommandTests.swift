import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// Objects to files and back, copies, and compaction.
@Suite struct ExchangeCommandTests {
  /// The lines of an export, with the place of an object among those of its entity for its id.
  private func lines(_ folder: String) throws -> [String: [[String: ExportedValue]]] {
    var objects: [ExportedObject] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      for line in text.split(separator: "\n") {
        objects.append(try JSONDecoder().decode(ExportedObject.self, from: Data(line.utf8)))
      }
    }
    var places: [String: String] = [:]
    var counts: [String: Int] = [:]
    for object in objects {
      counts[object.entityName, default: 0] += 1
      places[object.id] = "\(object.entityName) \(counts[object.entityName, default: 0])"
    }
    func renamed(_ value: ExportedValue) -> ExportedValue {
      switch value {
      case .text(let text): .text(places[text] ?? text)
      case .list(let list): .list(list.map { places[$0] ?? $0 }.sorted())
      default: value
      }
    }
    return Dictionary(grouping: objects, by: \.entityName).mapValues { objects in
      objects.map { $0.values.mapValues(renamed) }
    }
  }

  @Test(arguments: Fixtures.someVersions)
  func `a store exported and loaded again exports the same lines`(version: String) throws {
    let folder = try TemporaryFolder()
    let store = Fixtures.store(version)
    let before = try Data(contentsOf: URL(filePath: store))
    let run = try ToolRun("export", store, "--to", folder.path("out"), "--json").json()
    let counts = try #require(run["objects"] as? [String: Int])
    #expect(counts.filter { $0.value > 0 } == GalleryGenerator.objectCounts[version])
    #expect(try Data(contentsOf: URL(filePath: store)) == before)

    let copy = folder.path("copy.quire")
    let loading = ToolRun("load", folder.path("out"), "--to", copy, "--model", store)
    #expect(loading.code == .good, "\(loading.errors)")
    #expect(loading.output.contains("new objects."))
    #expect(ToolRun("check", copy).code == .good)
    #expect(ToolRun("export", copy, "--to", folder.path("again")).code == .good)
    #expect(try lines(folder.path("again")) == lines(folder.path("out")))
  }

  @Test func `a load that fails names the line at fault, and leaves no store`() throws {
    let folder = try TemporaryFolder()
    let store = Fixtures.store("Gallery 2.7")
    #expect(
      ToolRun("export", store, "--to", folder.path("out"), "--entity", "Artwork").code == .good)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).count == 1)
    let copy = folder.path("copy.quire")
    func load(_ arguments: String...) -> ToolRun {
      ToolRun(["load", folder.path("out"), "--to", copy] + arguments)
    }
    #expect(load().errors.contains("--model"))
    let refused = load("--model", store)
    #expect(refused.code == .bad && refused.errors.contains("which is not an id in these files"))
    #expect(!FileManager.default.fileExists(atPath: copy))

    // Nothing is written over.
    let again = ToolRun("export", store, "--to", folder.path("out"))
    #expect(again.code == .bad && again.errors.contains("not written over"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("out")) == ["Artwork.jsonl"])

    let file = folder.path("out") + "/Artwork.jsonl"
    try "{\"entity\":\"Artwork\",\"id\":\"1\"}\n{\"entity\":\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    let malformed = load("--model", store)
    #expect(malformed.code == .bad && malformed.errors.contains("Artwork.jsonl, line 2"))
    try "{\"id\":\"1\"}\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(load("--model", store).errors.contains("line 1: it has no entity"))
    try "{\"entity\":\"Artwork\",\"id\":\"1\",\"shape\":7}\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    #expect(load("--model", store).errors.contains("shape"))
    #expect(!FileManager.default.fileExists(atPath: copy))
    #expect(ToolRun("load", folder.path("nowhere"), "--to", copy).code == .bad)
  }

  /// A store from elsewhere had an entity called `../evil`: its objects were written beside the
  /// folder, and one with the path of a file would have been written there.
  @Test func `names of entities do not lead out of the folder of an export`() throws {
    let folder = try TemporaryFolder()
    let names = ["../evil", folder.path("absolute"), "..", ".hidden", "a/b", "a%2Fb", "Größe 1.5"]
    let model = try ManagedObjectModel { for name in names { Entity(name) {} } }
    let store = folder.path("odd.quire")
    let container = PersistentContainer(name: "Odd", managedObjectModel: model)
    try container.loadPersistentStore(at: URL(filePath: store))
    try container.writeAndWait { context in
      for name in names {
        _ = try EntityDescription.insertNewObject(forEntityName: name, into: context)
      }
    }
    try container.close()

    try FileManager.default.createDirectory(
      atPath: folder.path("deep"), withIntermediateDirectories: false)
    let run = ToolRun("export", store, "--to", folder.path("deep/out"))
    #expect(run.code == .good, "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("deep")) == ["out"])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("deep/out"))
    #expect(files.count == names.count && files.contains("%2E.%2Fevil.jsonl"))
    #expect(files.contains("Größe 1.5.jsonl") && files.contains("a%252Fb.jsonl"))

    let copy = folder.path("copy.quire")
    #expect(ToolRun("load", folder.path("deep/out"), "--to", copy, "--model", store).code == .good)
    #expect(try ToolRun("stat", copy, "--json").json()["objects"] as? Int == names.count)
  }

  @Test func `objects are loaded into a store that is there`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let total = GalleryGenerator.objectCounts["Gallery 2.7"]?.values.reduce(0, +) ?? 0
    #expect(ToolRun("export", store, "--to", folder.path("out")).code == .good)
    #expect(ToolRun("load", folder.path("out"), "--to", store, "--model", store).code == .bad)
    let run = try ToolRun("load", folder.path("out"), "--to", store, "--json").json()
    #expect(run["objects"] as? Int == total)
    #expect(try ToolRun("stat", store, "--json").json()["objects"] as? Int == 2 * total)
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `a backup is a store, and compaction keeps objects`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let dump = ToolRun("dump", store).output
    let backup = ToolRun("backup", store, "--to", folder.path("backup.quire"))
    #expect(backup.code == .good && backup.output.contains("is a backup: "))
    #expect(ToolRun("dump", folder.path("backup.quire")).output == dump)
    #expect(ToolRun("backup", store, "--to", folder.path("backup.quire")).code == .bad)
    #expect(ToolRun("restore", folder.path("backup.quire"), "--to", store).code == .good)

    let compaction = try ToolRun("compact", store, "--json").json()
    let (before, after) = (compaction["bytesBefore"] as? Int, compaction["bytesAfter"] as? Int)
    #expect(try #require(after) <= #require(before))
    #expect(ToolRun("dump", store).output == dump)
    #expect(ToolRun("compact", store).output.contains(" bytes now."))
    #expect(ToolRun("check", store).code == .good)
    #expect(ToolRun("compact", folder.path("nowhere.quire")).code == .bad)
    #expect(!FileManager.default.fileExists(atPath: folder.path("nowhere.quire")))
  }
}
