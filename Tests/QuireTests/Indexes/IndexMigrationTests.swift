import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a migration does to indexes.
@Suite struct IndexMigrationTests {
  private static func versions() throws -> VersionedModel {
    let old = try ManagedObjectModel {
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        Attribute("year", .integer16)
        FetchIndex("byTitle", on: "title")
        FetchIndex("byPrice", on: "price", where: "price > 10")
        FetchIndex("byYear", on: "year")
      }
      Entity("Room") {
        Attribute("number", .integer32)
        FetchIndex("byNumber", on: "number")
      }
    }
    let new = try ManagedObjectModel {
      Entity("Artwork", renamedFrom: "Work") {
        Attribute("name", .string, renamedFrom: "title")
        Attribute("price", .double)
        Attribute("year", .integer16, optional: false, default: 1900)
        Attribute("rating", .integer16, default: 3)
        FetchIndex("byName", on: "name")
        FetchIndex("byPrice", on: "price", where: "price > 10")
        FetchIndex("byYear", on: "year")
        FetchIndex("byRating", on: "rating", .descending("name"))
      }
    }
    return try #require(VersionedModel(versions: [.init("old", old), .init("new", new)]))
  }

  private func fixture() throws -> [String: [UInt8]] {
    let scene = IndexScene()
    let context = try scene.open(try #require(Self.versions().endingAt("old")))
    for number in 0..<200 {
      var values: [String: Any] = ["title": "title \(number)", "price": Double(number % 20)]
      if number % 2 == 0 { values["year"] = Int16(2000 + number) }
      try context.add("Work", values)
    }
    try context.add("Room", ["number": 1])
    try context.save()
    try scene.close(context)
    #expect(
      try scene.trees() == ["indexes/1 1", "indexes/2 200", "indexes/3 90", "indexes/4 200"])
    return scene.disk.files
  }

  @Test func `indexes whose keys stay are kept, others are made anew, and the plan says so`() throws
  {
    let scene = IndexScene(disk: SimulatedDisk(try fixture()))
    let context = try scene.open(try Self.versions(), .migrating)
    let report = try #require(
      context.persistentStoreCoordinator?.persistentStores.first?.migrationReport)
    let steps = report.plan.indexes.map {
      "\($0.action) \($0.kind) \($0.entityName).\($0.name) \($0.sourceName ?? "-") \($0.entryCount)"
    }
    #expect(
      steps == [
        "kept fetchIndex Artwork.byName byTitle 200",
        "kept fetchIndex Artwork.byPrice byPrice 90",
        "rebuilt fetchIndex Artwork.byRating - 200",
        "rebuilt fetchIndex Artwork.byYear byYear 200",
        "removed fetchIndex Room.byNumber byNumber 1",
      ])
    #expect(report.plan.description.contains("kept     Artwork.byName"))
    #expect(report.plan.description.contains("400 index keys"))
    #expect(try StoreFacts(context).findings == [])
    #expect(try context.found("Artwork", Key("year") == 1900).objects.count == 100)
    let one = try context.found("Artwork", Key("rating") == 3 && Key("name") == "title 5")
    #expect(one.plan == "index Artwork.byRating, 1 candidates")
    try scene.close(context)
    #expect(
      try scene.trees() == ["indexes/2 200", "indexes/3 90", "indexes/5 200", "indexes/6 200"])
  }

  @Test func `rows that a deferred migration leaves are in the indexes as if they were rewritten`()
    throws
  {
    let scene = IndexScene(disk: SimulatedDisk(try fixture()))
    var options = PersistentStoreOptions.migrating
    options.defersLightweightMigration = true
    let context = try scene.open(try Self.versions(), options)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let report = try #require(coordinator.persistentStores.first?.migrationReport)
    #expect(report.plan.deferredObjectCount == 200)
    #expect(try StoreFacts(context).findings == [])
    let old = try context.found("Artwork", Key("year") == 1900)
    #expect(old.objects.count == 100)
    try old.objects[0].setValue("other", forKey: "name")
    context.delete(old.objects[1])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    try coordinator.finishDeferredMigration(objectLimit: 50)
    #expect(try StoreFacts(context).findings == [])
    try coordinator.finishDeferredLightweightMigration()
    #expect(try StoreFacts(context).findings == [])
    #expect(try context.found("Artwork", Key("name") == "other").objects == [old.objects[0]])
    try scene.close(context)
    #expect(try scene.format() == 3)
  }

  @Test func `a migration with indexes that dies anywhere has happened or has not`() throws {
    let files = try fixture()
    let versions = try Self.versions()
    let whole = IndexScene(disk: SimulatedDisk(files))
    try whole.close(try whole.open(versions, .migrating))
    for operation in 0...whole.disk.operationCount {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? IndexScene(disk: disk).open(versions, .migrating)
      let images = disk.crashImages()
      for image in [images.first, images.last].compactMap({ $0 }) {
        let again = IndexScene(disk: SimulatedDisk(image))
        let context = try again.open(versions, .migrating)
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        #expect(try context.found("Artwork", Key("year") == 1900).objects.count == 100)
      }
    }
  }

  @Test func `a mapping model's destination has its indexes`() throws {
    try withTemporaryFolder { folder in
      let versions = try Self.versions()
      let source = folder.appending(path: "old.quire")
      let coordinator = PersistentStoreCoordinator(
        versionedModel: try #require(versions.endingAt("old")))
      let store = try coordinator.addPersistentStore(type: .quire, at: source)
      let context = GotchaHome.context(of: coordinator)
      for number in 0..<100 { try context.add("Work", ["title": "title \(number)"]) }
      try context.save()
      try coordinator.remove(store)
      let models = versions.versions.map(\.model)
      let mapping = try MappingModel.inferredMappingModel(
        forSourceModel: models[0], destinationModel: models[1])
      let manager = MigrationManager(sourceModel: models[0], destinationModel: models[1])
      manager.usesStoreSpecificMigrationManager = false
      let destination = folder.appending(path: "new.quire")
      try manager.migrateStore(from: source, mapping: mapping, to: destination)
      let inspection = try StoreInspection(of: destination)
      #expect(inspection.findings == [] && inspection.objectCount == 100)
      let new = PersistentStoreCoordinator(managedObjectModel: models[1])
      try new.addPersistentStore(type: .quire, at: destination)
      let newContext = GotchaHome.context(of: new)
      let found = try newContext.found("Artwork", Key("name") == "title 5")
      #expect(found.plan == "index Artwork.byName, 1 candidates")
    }
  }

  @Test func `a store that is built has its indexes`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let model = try #require(try Self.versions().versions.first).model
      let builder = try StoreBuilder(
        creating: url, model: model, versionName: nil, uuid: UUID())
      for key in 1...100 {
        try builder.insert(
          .init("Work", Int64(key)), attributes: ["title": .string("title \(key)")], toOne: [:])
      }
      try builder.finish()
      #expect(try StoreInspection(of: url).findings == [])
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      #expect(try context.found("Work", Key("title") == "title 5").plan.hasPrefix("index"))
    }
  }
}
