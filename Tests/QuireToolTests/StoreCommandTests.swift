import Foundation
import Quire
import QuireModel
import QuireTool
import QuireXcode
import Testing

@Suite struct StoreCommandTests {
  private func total(_ version: String) -> Int {
    GalleryGenerator.objectCounts[version]?.values.reduce(0, +) ?? 0
  }

  @Test(arguments: Fixtures.someVersions)
  func `stat counts the objects of every entity`(version: String) throws {
    let json = try ToolRun("stat", Fixtures.store(version), "--json").json()
    #expect(json["modelVersion"] as? String == version)
    #expect(json["objects"] as? Int == total(version))
    let entities = try #require(json["entities"] as? [String: Int])
    #expect(entities.filter { $0.value > 0 } == GalleryGenerator.objectCounts[version])
    for key in ["pages", "freePages", "pageSize", "bytes", "logBytes", "commit", "objectFormat"] {
      #expect(json[key] is Int, "\(key)")
    }
    #expect((json["uuid"] as? String).flatMap(UUID.init(uuidString:)) != nil)
    #expect((json["modelChecksum"] as? String)?.count == 64)
    let text = ToolRun("stat", Fixtures.store(version))
    #expect(text.code == .good)
    #expect(text.output.contains("model version   \(version)\n"))
  }

  @Test func `stat counts what the log holds`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let model = try PersistentStoreCoordinator.managedObjectModel(
      storedAt: URL(filePath: store))
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: store))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let user = try EntityDescription.insertNewObject(forEntityName: "User", into: context)
    for attribute in user.entity.attributes where attribute.type == .string {
      try user.setValue("someone", forKey: attribute.name)
    }
    try context.save()
    // As a crash would leave it: saved, and not yet in the pages.
    let copy = folder.path("crashed.quire")
    try FileManager.default.copyItem(atPath: store, toPath: copy)
    try FileManager.default.copyItem(atPath: store + "-log", toPath: copy + "-log")
    try coordinator.remove(opened)

    let before = try Data(contentsOf: URL(filePath: copy))
    let json = try ToolRun("stat", copy, "--json").json()
    #expect(json["objects"] as? Int == total("Gallery 2.7") + 1)
    #expect(ToolRun("check", copy).code == .good)
    #expect(try Data(contentsOf: URL(filePath: copy)) == before)
    #expect(FileManager.default.fileExists(atPath: copy + "-log"))
  }

  @Test(arguments: Fixtures.someVersions)
  func `check finds the fixtures sound`(version: String) throws {
    let run = ToolRun("check", Fixtures.store(version), "--json")
    #expect(run.code == .good)
    let json = try run.json()
    #expect(json["isSound"] as? Bool == true)
    #expect(json["findings"] as? [String] == [])
    #expect(json["objects"] as? Int == total(version))
    #expect((json["references"] as? Int ?? 0) > 0)
    #expect(json["notes"] is [String])
    #expect(ToolRun("check", Fixtures.store(version)).output.contains(" is sound: "))
  }

  @Test func `check lists damage, and everything else says where it is`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    try folder.damage(store) { $0[14 * 4096 + 100] ^= 0xFF }
    let run = ToolRun("check", store)
    #expect(run.code == .bad)
    #expect(run.output.contains("is not sound: "))
    #expect(run.output.contains("page 14"))
    let json = try ToolRun("check", store, "--json").json()
    #expect(json["isSound"] as? Bool == false)
    #expect((json["findings"] as? [String])?.isEmpty == false)
    let dump = ToolRun("dump", store)
    #expect(dump.code == .bad)
    #expect(dump.errors.contains(store))
    #expect(dump.errors.contains("page 14"))
  }

  @Test func `a file cut short is not sound`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    try folder.damage(store) { $0 = $0.prefix(100_000) }
    #expect(ToolRun("check", store).code == .bad)
    try folder.damage(store) { $0 = $0.prefix(1000) }
    let run = ToolRun("check", store)
    #expect(run.code == .bad)
    #expect(run.errors.contains(store))
  }

  @Test(arguments: ["stat", "check", "dump"])
  func `stat, check and dump name a file that is no store, and print nothing`(command: String)
    throws
  {
    let folder = try TemporaryFolder()
    let cases = [
      ("empty", Data()), ("text", Data(repeating: 65, count: 20_000)),
      ("sqlite", Data("SQLite format 3\0".utf8) + Data(count: 20_000)),
    ]
    for (name, data) in cases {
      try data.write(to: URL(filePath: folder.path(name)))
      let run = ToolRun(command, folder.path(name))
      #expect(run.code == .bad)
      #expect(run.output.isEmpty)
      #expect(run.errors.contains(folder.path(name)))
      #expect(run.errors.contains("quire import") == (name == "sqlite"))
    }
    for path in [folder.url.path, folder.path("missing")] {
      let run = ToolRun(command, path)
      #expect(run.code == .bad)
      #expect(run.errors.contains(path))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("missing")))
  }

  /// Commands that show what is in it look at a copy; those that write to it cannot.
  @Test func `a store in use elsewhere names its owner`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    // A lock belongs to the open file: a second opening in this process is as good as another
    // process.
    let descriptor = open(store, O_RDWR)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    try Data("4711\nshop\nhost.example\n0\n".utf8).write(to: URL(filePath: store + "-owner"))
    let sound = Fixtures.store("Gallery 1.3")
    for words in [["stat"], ["check"], ["dump"], ["query", "--entity", "Artwork", "--count"]] {
      let run = ToolRun([words[0], store] + words.dropFirst())
      #expect(run.code == .good)
      // The meta pages of a copy are those of a new store.
      let still = ToolRun([words[0], sound] + words.dropFirst()).output
      #expect(words == ["stat"] || run.output == still.replacing(sound, with: store))
      #expect(
        run.errors.contains("process 4711 (shop) on host.example: this is its commit"),
        "\(run.errors)")
    }
    let copy = folder.path("copy.quire")
    #expect(ToolRun("backup", store, "--to", copy).code == .good)
    #expect(ToolRun("dump", copy).output == ToolRun("dump", sound).output)
    #expect(ToolRun("backup", store, "--to", copy).code == .bad, "it is not written over")
    #expect(ToolRun("doctor", store).output.contains("Nothing is wrong."))
    #expect(
      ToolRun("migrate", store, "--model", Fixtures.model, "--dry-run").output
        == ToolRun("migrate", sound, "--model", Fixtures.model, "--dry-run").output)
    let log = ToolRun("dump", store, "--log")
    #expect(log.code == .good && log.output == "There is no log \(store)-log.\n")
    #expect(log.errors.contains("is being written to: this is its log as of commit"))
    let run = ToolRun("compact", store)
    #expect(run.code == .bad)
    #expect(run.errors.contains("process 4711 (shop) on host.example"), "\(run.errors)")
    #expect(run.errors.contains(store))
    // What to do is what can be done: the log beside it is no help while the store is open.
    #expect(run.errors.contains("make a copy by quire backup"))
    #expect(!run.errors.contains("-wal") && !run.errors.contains("-log"))
  }

  // MARK: Dump

  @Test(arguments: Fixtures.someVersions)
  func `a dump has every object with every property, in order`(version: String) throws {
    let run = ToolRun("dump", Fixtures.store(version))
    #expect(run.code == .good)
    let objects = try run.jsonLines()
    #expect(objects.count == total(version))
    #expect(objects.count == run.lines.count)
    let model = try PersistentStoreCoordinator.managedObjectModel(
      storedAt: URL(filePath: Fixtures.store(version)))
    var names: [String] = []
    for object in objects {
      let entity = try #require(model.entity(named: object["entity"] as? String ?? ""))
      let attributes = try #require(object["attributes"] as? [String: Any])
      let relationships = try #require(object["relationships"] as? [String: Any])
      #expect(Set(attributes.keys) == Set(entity.attributes.map(\.name)))
      #expect(Set(relationships.keys) == Set(entity.relationships.map(\.name)))
      names.append("\(entity.name)/\(object["id"] as? String ?? "")")
    }
    #expect(Set(names).count == names.count)
    // Wherever a relationship leads, there is a line.
    let known = Set(names)
    for object in objects {
      for value in (object["relationships"] as? [String: Any] ?? [:]).values {
        let targets = (value as? [String]) ?? (value as? String).map { [$0] } ?? []
        #expect(known.isSuperset(of: targets))
      }
    }
    #expect(ToolRun("dump", Fixtures.store(version)).output == run.output)
  }

  @Test func `a dump of one entity is that part of the whole`() throws {
    let store = Fixtures.store("Gallery 1.4")
    let whole = ToolRun("dump", store).lines
    let artists = ToolRun("dump", store, "--entity", "Artist").lines
    #expect(artists == whole.filter { $0.hasPrefix(#"{"entity":"Artist","#) })
    // Those of an abstract entity are those of its subentities.
    let documents = ToolRun("dump", store, "--entity=Document")
    #expect(documents.code == .good)
    #expect(documents.lines.count == 18)
    let unknown = ToolRun("dump", store, "--entity", "Sculptor")
    #expect(unknown.code == .bad)
    #expect(unknown.errors.contains("no entity Sculptor; it has Album, Artist, "))
  }
}
