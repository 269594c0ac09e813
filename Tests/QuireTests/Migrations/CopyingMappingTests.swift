import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Entities that a mapping model copies, and those that it does not mention.
///
/// A mapping of type copy carried over nothing unless each property was mapped, and the objects of
/// an entity without a mapping were gone, both without a word.
@Suite struct CopyingMappingTests {
  private static func model(_ title: String) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Item") {
        Attribute(title, .string)
        Relationship("shelf", toOne: "Shelf", inverse: "items")
      }
      Entity("Shelf") {
        Attribute("code", .string, optional: false)
        Attribute("itemCount", .integer64, derivedFrom: "items.@count")
        Relationship("items", toMany: "Item", inverse: "shelf", ordered: true)
        Relationship("above", toOne: "Shelf", inverse: "below")
        Relationship("below", toOne: "Shelf", inverse: "above")
      }
      Entity("Note") { Attribute("text", .string) }
    }
  }

  private let old = Result { try model("name") }
  private let new = Result { try model("title") }

  private var items: EntityMapping {
    var items = EntityMapping(from: "Item", to: "Item", .transformEntityMappingType)
    items.attributeMappings = [PropertyMapping("title", source: "name")]
    return items
  }
  private let shelves = EntityMapping(from: "Shelf", to: "Shelf", .copyEntityMappingType)

  private func fill(_ url: URL, noteCount: Int = 0) throws {
    try withStore(old.get(), url) { context in
      let shelves = try ["S1", "S2"].map { try context.insert("Shelf", ["code": $0]) }
      try shelves[0].setValue(shelves[1], forKey: "above")
      let items = try (0..<5).map { try context.insert("Item", ["name": "item \($0)"]) }
      try shelves[0].setValue(Array(items.prefix(3).reversed()), forKey: "items")
      for _ in 0..<noteCount { try context.insert("Note", ["text": "kept"]) }
      try context.save()
    }
  }

  @Test func `a mapping that copies keeps all values and relationships`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "shop.quire")
      try fill(url)
      try MigrationManager(sourceModel: old.get(), destinationModel: new.get())
        .migrateStore(from: url, mapping: MappingModel(entityMappings: [items, shelves]), to: url)
      try withStore(new.get(), url) { context in
        var request = FetchRequest<ManagedObject>(entityName: "Shelf")
        request.sortDescriptors = [FetchSortDescriptor(key: "code")]
        let shelves = try context.fetch(request)
        #expect(try shelves.map { try $0.value(forKey: "code") as? String } == ["S1", "S2"])
        #expect(try shelves[0].value(forKeyPath: "above.code") as? String == "S2")
        #expect(try shelves[1].value(forKeyPath: "below.code") as? String == "S1")
        let items = try #require(try shelves[0].value(forKey: "items") as? [ManagedObject])
        #expect(
          try items.map { try $0.value(forKey: "title") as? String }
            == ["item 2", "item 1", "item 0"])
        #expect(try shelves.map { try $0.value(forKey: "itemCount") as? Int } == [3, 0])
      }
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `a property that is mapped is not copied over it`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "shop.quire")
      try fill(url)
      var shelves = shelves
      shelves.attributeMappings = [
        PropertyMapping("code") { "new \(try $0.source?.value(forKey: "code") as? String ?? "")" }
      ]
      shelves.relationshipMappings = [PropertyMapping("above"), PropertyMapping("below")]
      try MigrationManager(sourceModel: old.get(), destinationModel: new.get())
        .migrateStore(from: url, mapping: MappingModel(entityMappings: [items, shelves]), to: url)
      try withStore(new.get(), url) { context in
        var request = FetchRequest<ManagedObject>(entityName: "Shelf")
        request.predicate = try FetchPredicate(
          format: "code BEGINSWITH 'new ' AND items.@count == 3 AND above == nil")
        #expect(try context.count(for: request) == 1)
      }
    }
  }

  @Test func `an entity that is forgotten fails the migration`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "shop.quire")
      try fill(url, noteCount: 1)
      let before = try Data(contentsOf: url)
      let error = #expect(throws: PersistenceError.self) {
        try MigrationManager(sourceModel: old.get(), destinationModel: new.get())
          .migrateStore(from: url, mapping: MappingModel(entityMappings: [items]), to: url)
      }
      #expect(error?.code == .migrationMissingMappingModel)
      let message = try #require(error?.message)
      #expect(message.contains("no mapping for Note (1 object), Shelf (2 objects)"), "\(message)")
      #expect(
        message.contains(#"EntityMapping(from: "Shelf", to: "Shelf", .copyEntityMappingType)"#))
      #expect(try Data(contentsOf: url) == before)

      // The same where the mapping is one of the options of an opening.
      let versions = try #require(
        VersionedModel(
          name: "Shop", versions: [.init("1", try old.get()), .init("2", try new.get())]))
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      var options = PersistentStoreOptions.migrating
      options.mappingModels = [MappingModel(entityMappings: [items, shelves])]
      let refusal = #expect(throws: PersistenceError.self) {
        try coordinator.addPersistentStore(type: .quire, at: url, options: options)
      }
      #expect(refusal?.code == .migrationMissingMappingModel)

      #expect(refusal?.message.contains("removesUnmappedEntities") == true)

      // Removing what has no mapping may be said for each entity, or for all.
      let other = folder.appending(path: "copy.quire")
      try FileManager.default.copyItem(at: url, to: other)
      var mapping = MappingModel(entityMappings: [items, shelves])
      mapping.removesUnmappedEntities = true
      try MigrationManager(sourceModel: old.get(), destinationModel: new.get())
        .migrateStore(from: other, mapping: mapping, to: other)
      try withStore(try new.get(), other) { context in
        let counts = try ["Note", "Shelf"].map {
          try context.count(for: FetchRequest<ManagedObject>(entityName: $0))
        }
        #expect(counts == [0, 2])
      }

      let notes = EntityMapping(from: "Note", .removeEntityMappingType)
      options.mappingModels = [MappingModel(entityMappings: [items, shelves, notes])]
      let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 0)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Shelf")) == 2)
      try coordinator.remove(store)
    }
  }
}
