import Foundation
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

@Suite struct CoreDataStoreTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a store tells its identity and what its framework noted`() throws {
    var writer = itemWriter()
    writer.identifiers = ["7"]
    let store = try writer.store(in: folder)
    #expect(store.metadata.uuid == writer.uuid)
    #expect(store.metadata.versionIdentifiers == ["7"])
    #expect(store.metadata.frameworkVersion == 1251)
    #expect(store.metadata.storeType == "SQLite")
    #expect(store.metadata.versionHashes["Item"]?.count == 32)
    #expect(store.entityNames == ["Item"])
  }

  @Test func `the version of the same structure is found among others`() throws {
    let model = try history(["a"], ["a", "b"], ["b"])
    let store = try itemWriter(columns: ["ZA VARCHAR", "ZB VARCHAR"]).store(in: folder)
    #expect(try store.version(in: model).name == "2")
    #expect(try store.version(named: "2", in: model).name == "2")
    #expect(store.match(model.versions[0].model).count == 1)
  }

  @Test func `a store that fits no version is refused with the nearest and what differs`() throws {
    let model = try history(["a"], ["a", "b", "c"], ["x", "y", "z"])
    let store = try itemWriter(columns: ["ZA VARCHAR", "ZB VARCHAR"]).store(in: folder)
    #expect { try store.contents(in: model) } throws: { error in
      guard
        case .noVersionFits("2", let distance)? = (error as? CoreDataStoreError)?.reason
      else { return false }
      return distance.differences == [.missingColumn(table: "ZITEM", column: "ZC")]
        && "\(error)".contains("the store's ZITEM has no column ZC")
    }
    #expect { try store.contents(in: model, version: "1") } throws: { error in
      guard case .versionDoesNotFit("1", let distance)? = (error as? CoreDataStoreError)?.reason
      else { return false }
      return distance.differences == [.extraColumn(table: "ZITEM", column: "ZB")]
    }
    #expect { try store.contents(in: model, version: "9") } throws: {
      "\($0)".contains("no version “9”; it has “1”, “2”, “3”")
    }
  }

  @Test func `missing and extra entities, tables, links and types all count`() throws {
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("a", .date)
        Relationship("tags", toMany: "Tag", inverse: "items")
      }
      Entity("Tag") {
        Attribute("name", .string)
        Relationship("items", toMany: "Item", inverse: "tags")
      }
    }
    var writer = itemWriter()
    writer.addEntity(2, "Thing")
    writer.addTable("ZTHING", ["ZX INTEGER", "ZY INTEGER"], [])
    writer.addJoinTable("Z_1THINGS", ["Z_1ITEMS", "Z_2THINGS"], [])
    let distance = try writer.store(in: folder).match(model)
    #expect(
      distance.differences == [
        .missingEntity("Tag"), .extraEntity("Thing"),
        .columnType(table: "ZITEM", column: "ZA", declared: "VARCHAR", expected: "TIMESTAMP"),
        .missingTable("ZTAG", columnCount: 1), .missingLinks(relationship: "Item.tags"),
        .extraTable("ZTHING", columnCount: 2), .extraJoinTable("Z_1THINGS"),
      ])
    #expect(distance.count == 10)
  }

  @Test func `of versions with one structure indexes decide, then identifiers, then currency`()
    throws
  {
    func version(_ name: String, index: String? = nil, identifier: String = "") throws
      -> VersionedModel.Version
    {
      var entity = Entity("Item") { Attribute("a", .string) }
      if let index { entity.indexes = [FetchIndexDescription(index, on: "a")] }
      return .init(
        name, try ManagedObjectModel(entities: [entity], versionIdentifiers: [identifier]))
    }
    let model = try #require(
      VersionedModel(
        versions: [
          version("1"), version("2", index: "byA"), version("3", identifier: "three"), version("4"),
          version("5"),
        ], current: "4"))
    var plain = itemWriter()
    #expect(try plain.store(in: folder, "1").version(in: model).name == "4")
    let earlier = try #require(VersionedModel(versions: [model.versions[0], model.versions[4]]))
    #expect(try plain.store(in: folder, "2").version(in: earlier).name == "5")
    plain.identifiers = ["three"]
    #expect(try plain.store(in: folder, "3").version(in: model).name == "3")
    plain.addIndex("Z_Item_byA", on: "ZITEM")
    plain.addIndex("Z_Item_a", on: "ZITEM")
    #expect(try plain.store(in: folder, "4").version(in: model).name == "2")
    let report = try plain.store(in: folder, "4").contents(in: model).objects.report
    #expect(report.notes.contains { $0.contains("of the same structure") })
  }

  @Test func `Core Data's own table for history is no entity of the model`() throws {
    var writer = itemWriter()
    writer.addEntity(16001, "CHANGE")
    writer.addTable("ACHANGE", ["ZCHANGETYPE INTEGER"], [(1, 16001, [0])])
    let store = try writer.store(in: folder)
    #expect(store.match(try history(["a"]).current).isZero)
    #expect(store.entityNames == ["Item"])
  }

  @Test(arguments: ["Z_METADATA", "Z_PRIMARYKEY"])
  func `a SQLite file that is no store is refused with what is missing`(table: String) throws {
    var file = SQLiteFileWriter()
    if table == "Z_PRIMARYKEY" {
      file.tables = [
        .init(
          name: "Z_METADATA", statement: "CREATE TABLE Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST)",
          rows: [(1, [1, "UUID", nil])])
      ]
    } else {
      file.tables = [.init(name: "T", statement: "CREATE TABLE T (a)")]
    }
    let url = try folder.write(file.bytes(), to: "other.sqlite")
    #expect { try CoreDataStore(contentsOf: url) } throws: {
      "\($0)".contains("not a store of Core Data: it has no table \(table)")
    }
  }

  @Test func `a store that is written to while it is read is an error at the end`() throws {
    let store = try itemWriter().store(in: folder)
    var objects = try store.contents(of: history(["a"]).current).objects
    #expect(try objects.next() != nil)
    var other = itemWriter()
    other.addTable("ZLATER", [], [])
    try folder.write(other.bytes(), to: "Test.sqlite")
    #expect {
      while try objects.next() != nil {}
    } throws: {
      guard case .file(let error)? = ($0 as? CoreDataStoreError)?.reason else { return false }
      return error.reason == .changedWhileReading
    }
  }

  @Test func `reading leaves the folder as it was`() throws {
    let bytes = try itemWriter().bytes()
    let url = try folder.write(bytes, to: "Test.sqlite")
    try folder.write([1, 2, 3], to: "Test.sqlite-wal")
    _ = try CoreDataStore(contentsOf: url).contents(of: history(["a"]).current).readAll()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["Test.sqlite", "Test.sqlite-wal"])
    #expect(try Array(Data(contentsOf: url)) == bytes)
  }

  @Test(arguments: UInt64(1)...4)
  func `a store with flipped bytes gives objects or an error`(seed: UInt64) throws {
    let model = try history(["a"]).current
    let original = try itemWriter().bytes()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      var bytes = original
      for _ in 0..<3 {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      let url = try folder.write(bytes, to: "damaged.sqlite")
      do {
        _ = try CoreDataStore(contentsOf: url).contents(of: model).readAll()
      } catch {
        #expect(error.description.contains("damaged.sqlite"), "seed \(seed)")
      }
    }
  }

  private func itemWriter(columns: [String] = ["ZA VARCHAR"]) -> CoreDataStoreWriter {
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable(
      "ZITEM", columns,
      (1...30).map { number in (number, 1, columns.map { .text("\($0) \(number)") }) })
    return writer
  }

  /// Versions "1", "2"… of a model with one entity, with these string attributes.
  private func history(_ attributes: [String]...) throws -> VersionedModel {
    let versions = try attributes.enumerated().map { index, names in
      VersionedModel.Version(
        "\(index + 1)",
        try ManagedObjectModel {
          Entity("Item") { for name in names { Attribute(name, .string) } }
        })
    }
    return try #require(VersionedModel(versions: versions))
  }
}
