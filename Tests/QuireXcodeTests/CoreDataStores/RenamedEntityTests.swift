import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

/// Core Data can rename an entity in the store's own file. The list of entities, `Z_PRIMARYKEY`,
/// keeps the former name then, while the version hashes in the metadata have the new one. Such
/// stores were refused, as having an entity too many and one too few.
@Suite struct RenamedEntityTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// `Item`, then `Article` and at last `Product`, in a hierarchy or not, with tags and a photo.
  private static func model(
    _ name: String, renamedFrom former: String?, attributes: [String] = ["title"]
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity(name, renamedFrom: former) {
        for attribute in attributes { Attribute(attribute, .string) }
        Relationship("tags", toMany: "Tag", inverse: "items")
        Relationship("photo", toOne: "Photo", inverse: "item")
      }
      Entity("Tag") {
        Attribute("name", .string)
        Relationship("items", toMany: name, inverse: "tags")
      }
      Entity("Photo") { Relationship("item", toOne: name, inverse: "photo") }
    }
  }

  private func history(_ models: ManagedObjectModel...) throws -> VersionedModel {
    try #require(
      VersionedModel(
        versions: models.enumerated().map { VersionedModel.Version("\($0 + 1)", $1) }))
  }

  /// A store whose list calls the entity `Item`, whatever its hashes say.
  private func writer(
    table: String, hashed name: String, columns: [String] = ["ZTITLE VARCHAR"]
  ) -> CoreDataStoreWriter {
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item", maximum: 9)
    writer.addEntity(2, "Photo", maximum: 5)
    writer.addEntity(3, "Tag", maximum: 7)
    writer.renamedEntities = ["Item": name]
    writer.addTable(
      table, columns + ["ZPHOTO INTEGER"],
      [
        (4, 1, columns.map { _ in .text("four") } + [.integer(5)]),
        (9, 1, columns.map { _ in .text("nine") } + [.null]),
      ])
    writer.addTable("ZPHOTO", ["ZITEM INTEGER"], [(5, 2, [.integer(4)])])
    writer.addTable("ZTAG", ["ZNAME VARCHAR"], [(7, 3, [.text("red")])])
    writer.addJoinTable("Z_1TAGS", ["Z_1ITEMS", "Z_3TAGS"], [[4, 7], [9, 7]])
    return writer
  }

  private func checkObjects(_ contents: CoreDataContents, _ entity: String) throws {
    let (objects, report) = try contents.readAll()
    #expect(report.isComplete, "\(report)")
    #expect(objects.filter { $0.entity.name == entity }.map(\.primaryKey) == [4, 9])
    #expect(objects.keys("Tag", 7, toMany: "items") == [4, 9])
    #expect(objects.key(entity, 4, toOne: "photo") == 5)
    #expect(objects.key("Photo", 5, toOne: "item") == 4)
    #expect(contents.maximumPrimaryKeys[entity] == 9)
    #expect(report.notes.contains { $0.contains("renamed in place") && $0.contains("Item") })
  }

  @Test(arguments: ["ZITEM", "ZPRODUCT"])
  func `an entity renamed in place is found by its renaming identifier, under either table name`(
    _ table: String
  ) throws {
    let model = try history(
      Self.model("Item", renamedFrom: nil), Self.model("Product", renamedFrom: "Item"))
    let store = try writer(table: table, hashed: "Product").store(in: folder)
    #expect(try store.version(in: model).name == "2")
    #expect(!store.match(model.versions[0].model).isZero)
    try checkObjects(try store.contents(in: model), "Product")
    // The version that was named is compared like any other.
    try checkObjects(try store.contents(in: model, version: "2"), "Product")
    #expect(throws: CoreDataStoreError.self) { try store.contents(in: model, version: "1") }
  }

  @Test func `an entity renamed twice in place is found by way of the version between`() throws {
    let model = try history(
      Self.model("Item", renamedFrom: nil), Self.model("Article", renamedFrom: "Item"),
      Self.model("Product", renamedFrom: "Article"))
    let store = try writer(table: "ZPRODUCT", hashed: "Product").store(in: folder)
    try checkObjects(try store.contents(in: model), "Product")
  }

  @Test func `of the one name and the one hash that are left each is the other's`() throws {
    let model = try history(Self.model("Product", renamedFrom: nil))
    let store = try writer(table: "ZPRODUCT", hashed: "Product").store(in: folder)
    try checkObjects(try store.contents(in: model), "Product")
  }

  @Test func `a renamed entity must have the structure of the model all the same`() throws {
    let model = try history(
      Self.model("Item", renamedFrom: nil),
      Self.model("Product", renamedFrom: "Item", attributes: ["title", "price"]))
    let store = try writer(table: "ZPRODUCT", hashed: "Product").store(in: folder)
    #expect { try store.contents(in: model) } throws: {
      guard case .noVersionFits("2", let distance)? = ($0 as? CoreDataStoreError)?.reason else {
        return false
      }
      return distance.differences == [.missingColumn(table: "ZPRODUCT", column: "ZPRICE")]
    }
  }

  @Test func `a store that nobody has renamed anything in is of the old version`() throws {
    let model = try history(
      Self.model("Item", renamedFrom: nil), Self.model("Product", renamedFrom: "Item"))
    let store = try writer(table: "ZITEM", hashed: "Item").store(in: folder)
    #expect(try store.version(in: model).name == "1")
  }

  @Test func `entities that change names in a hierarchy keep their numbers`() throws {
    func model(_ names: [String], _ former: [String?]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity(names[0], abstract: true, renamedFrom: former[0]) { Attribute("title", .string) }
        Entity(names[1], parent: names[0], renamedFrom: former[1]) { Attribute("a", .string) }
        Entity(names[2], parent: names[0], renamedFrom: former[2]) { Attribute("b", .string) }
      }
    }
    let names = ["Node", "Folder", "Leaf"]
    let model2 = try model(["Element", "Group", "Entry"], names)
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Folder", parent: 3)
    writer.addEntity(2, "Leaf", parent: 3)
    writer.addEntity(3, "Node")
    writer.renamedEntities = ["Folder": "Group", "Leaf": "Entry", "Node": "Element"]
    writer.addTable(
      "ZNODE", ["ZTITLE VARCHAR", "ZA VARCHAR", "ZB VARCHAR"],
      [(1, 1, ["one", "a", nil]), (2, 2, ["two", nil, "b"])])
    writer.addIndex("Z_Folder_byA", on: "ZNODE")
    let store = try writer.store(in: folder)
    let history = try history(try model(names, [nil, nil, nil]), model2)
    let (objects, _) = try store.contents(in: history).readAll()
    #expect(objects.map(\.entity.name) == ["Group", "Entry"])
    #expect(objects[1].attributes["b"] == .string("b"))
    // Nothing says which is which, so that nothing is guessed.
    let unnamed = try self.history(
      try model(["Element", "Group", "Entry"], [nil, nil, nil]))
    #expect(throws: CoreDataStoreError.self) { try store.contents(in: unnamed) }
  }

  @Test func `fetch indexes of a renamed entity tell versions apart under either name`() throws {
    func version(_ name: String, index: String?) throws -> VersionedModel.Version {
      var entity = Entity("Product", renamedFrom: "Item") { Attribute("title", .string) }
      if let index { entity.indexes = [FetchIndexDescription(index, on: "title")] }
      return .init(name, try ManagedObjectModel(entities: [entity]))
    }
    let model = try #require(
      VersionedModel(
        versions: [try version("1", index: "byTitle"), try version("2", index: nil)], current: "2"))
    for indexed in ["Item", "Product"] {
      var writer = CoreDataStoreWriter()
      writer.addEntity(1, "Item")
      writer.renamedEntities = ["Item": "Product"]
      writer.addTable("ZPRODUCT", ["ZTITLE VARCHAR"], [])
      writer.addIndex("Z_\(indexed)_byTitle", on: "ZPRODUCT")
      #expect(try writer.store(in: folder, indexed).version(in: model).name == "1")
    }
  }

  @Test func `a renamed store is imported with its keys, and migrates further`() throws {
    let model = try history(
      Self.model("Item", renamedFrom: nil), Self.model("Product", renamedFrom: "Item"),
      Self.model("Ware", renamedFrom: "Product", attributes: ["title", "price"]))
    let source = try folder.write(
      writer(table: "ZPRODUCT", hashed: "Product").bytes(), to: "Shop.sqlite")
    let url = folder.file("Shop.quire")
    let report = try CoreDataImport(of: source, in: model).write(to: url)
    #expect(report.version == "2" && report.isComplete)
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let wares = try context.fetch(FetchRequest<ManagedObject>(entityName: "Ware"))
    #expect(try wares.map { try $0.value(forKey: "title") as? String } == ["four", "nine"])
    #expect(try (wares[0].value(forKey: "tags") as? Set<ManagedObject>)?.count == 1)
  }
}
