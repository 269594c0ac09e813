import Quire
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a store says about itself, and what its user adds.
@Suite struct `The metadata of a store` {
  private func store(of context: ManagedObjectContext) throws -> PersistentStore {
    try #require(context.persistentStoreCoordinator?.persistentStores.first)
  }

  @Test(arguments: GotchaHome.own)
  func `Core Data's keys say which store it is and which model wrote it`(_ home: GotchaHome) throws
  {
    let model = try ManagedObjectModel(
      entities: SmallGallery.model.entities.map(\.declaration), versionIdentifiers: ["2.1"])
    try home.withContext(model) { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let store = try store(of: context)
      let metadata = coordinator.metadata(for: store)
      #expect(metadata[StoreUUIDKey] as? String == store.identifier.uuidString)
      #expect(metadata[StoreTypeKey] as? String == store.type.rawValue)
      #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      let other = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
      #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      let hashes = try #require(metadata[StoreModelVersionHashesKey] as? [String: Data])
      #expect(hashes.count == model.entities.count)
      #expect(hashes["Artist"] == Data(model.entityVersionHashesByName["Artist"]?.bytes ?? []))
      #expect(metadata[StoreModelVersionIdentifiersKey] as? [String] == ["2.1"])
      #expect(
        metadata[StoreModelVersionChecksumKey] as? String == model.versionChecksum.description)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `metadata is written with the next save, which needs no other change`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let store = try store(of: context)
      let before = store.statistics.commitNumber
      var metadata = coordinator.metadata(for: store)
      metadata["source"] = "import"
      try coordinator.setMetadata(metadata, for: store)
      #expect(store.metadata["source"] as? String == "import")
      #expect(store.statistics.commitNumber == before, "nothing is written before the save")
      try context.save()
      #expect(store.statistics.commitNumber.rawValue == before.rawValue + 1)
      try context.save()
      #expect(store.statistics.commitNumber.rawValue == before.rawValue + 1, "and once only")
      metadata["source"] = nil
      metadata["count"] = 3
      try coordinator.setMetadata(metadata, for: store)
      try context.insert("Tag", ["word": "x"])
      try context.save()
      #expect(store.statistics.commitNumber.rawValue == before.rawValue + 2, "with the objects")
      #expect(store.metadata["source"] == nil)
      #expect(store.metadata["count"] as? Int == 3)
    }
  }

  @Test func `every value of a property list comes back as it was, from the file too`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let date = Date(timeIntervalSinceReferenceDate: 12.5)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      try coordinator.setMetadata(
        [
          "text": "ä", "whole": Int16(-7), "broken": 0.25, "yes": true, "when": date,
          "bytes": Data([1, 2]), "list": ["a", "b"], "mixed": [1, [true, "x"]] as [Any],
          "names": ["one": 1, "two": 2], "empty": [String](), "": "no name",
        ], for: store)
      try GotchaHome.context(of: coordinator).save()
      try coordinator.remove(store)
      let read = try PersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
      #expect(read["text"] as? String == "ä")
      #expect(read["whole"] as? Int == -7)
      #expect(read["broken"] as? Double == 0.25)
      #expect(read["yes"] as? Bool == true)
      #expect(read["when"] as? Date == date)
      #expect(read["bytes"] as? Data == Data([1, 2]))
      #expect(read["list"] as? [String] == ["a", "b"])
      let mixed = try #require(read["mixed"] as? [Any])
      #expect(mixed[0] as? Int == 1)
      #expect((mixed[1] as? [Any])?[1] as? String == "x")
      #expect(read["names"] as? [String: Int] == ["one": 1, "two": 2])
      #expect((read["empty"] as? [Any])?.isEmpty == true)
      #expect(read[""] as? String == "no name")
      #expect(read[StoreUUIDKey] as? String == store.identifier.uuidString)
      #expect(read[StoreTypeKey] as? String == "Quire")
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a value that cannot be kept is an error that says where it lies`(_ home: GotchaHome) throws
  {
    try home.withContext { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let store = try store(of: context)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.setMetadata(["a": ["b": [1, UUID()] as [Any]]], for: store)
      }
      #expect(error?.code == .unacceptableValue)
      #expect(error?.key == "a.b[1]")
      for (key, value) in [(StoreUUIDKey, UUID().uuidString), (StoreTypeKey, "Binary")] {
        let error = #expect(throws: PersistenceError.self) {
          try coordinator.setMetadata([key: value], for: store)
        }
        #expect(error?.code == .persistentStoreOperation)
        #expect(error?.key == key)
      }
      #expect(throws: PersistenceError.self) {
        try coordinator.setMetadata([String(repeating: "k", count: 5000): 1], for: store)
      }
      var deep: Any = 1
      for _ in 0..<100 { deep = [deep] }
      #expect(throws: PersistenceError.self) {
        try coordinator.setMetadata(["deep": deep], for: store)
      }
      try context.save()
      #expect(store.metadata["a"] == nil)
    }
  }

  @Test func `metadata are set and read without opening the store, whatever its model`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator.metadataForPersistentStore(type: .quire, at: url)
      }
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      try PersistentStoreCoordinator.setMetadata(["who": "open"], type: .quire, at: url)
      #expect(store.metadata["who"] as? String == "open", "a commit like any other")
      try coordinator.remove(store)
      var metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
      metadata["who"] = "closed"
      try PersistentStoreCoordinator.setMetadata(metadata, type: .quire, at: url)
      let again = try coordinator.addPersistentStore(type: .quire, at: url)
      #expect(again.metadata["who"] as? String == "closed")
      try coordinator.remove(again)
      #expect(again.metadata["who"] as? String == "closed", "as it was last known")
      let error = #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator.metadataForPersistentStore(type: .inMemory, at: url)
      }
      #expect(error?.code == .persistentStoreInvalidType)
    }
  }

  @Test func `metadata stay through a migration, deferred or not`() throws {
    let new = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("born", .integer32, default: 1900)
      }
    }
    let old = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
    let versions = try #require(VersionedModel(versions: [.init("1", old), .init("2", new)]))
    for options in [PersistentStoreOptions.migrating, .deferring] {
      try withTemporaryFolder { folder in
        let url = folder.appending(path: "gallery.quire")
        let first = PersistentStoreCoordinator(managedObjectModel: old)
        let store = try first.addPersistentStore(type: .quire, at: url)
        try first.setMetadata(["kept": ["deep": [1, 2]]], for: store)
        let context = GotchaHome.context(of: first)
        try context.insert("Artist", ["name": "Hilma"])
        try context.save()
        try first.remove(store)
        let second = PersistentStoreCoordinator(versionedModel: versions)
        let migrated = try second.addPersistentStore(type: .quire, at: url, options: options)
        #expect(migrated.migrationReport != nil)
        #expect((migrated.metadata["kept"] as? [String: [Int]])?["deep"] == [1, 2])
        try second.remove(migrated)
      }
    }
  }

  @Test
  func `metadata of another coordinator are seen, and not set in a read-only store`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinators = (0..<2).map { _ in
        PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      }
      let writable = try coordinators[0].addPersistentStore(type: .quire, at: url)
      let reading = try coordinators[1].addPersistentStore(
        type: .quire, at: url, options: [ReadOnlyPersistentStoreOption: true])
      try coordinators[0].setMetadata(["x": 1], for: writable)
      #expect(reading.metadata["x"] == nil)
      try GotchaHome.context(of: coordinators[0]).save()
      #expect(reading.metadata["x"] as? Int == 1)
      let error = #expect(throws: PersistenceError.self) {
        try coordinators[1].setMetadata(["x": 2], for: reading)
      }
      #expect(error?.code == .persistentStoreOperation)
      #expect(throws: PersistenceError.self) {
        try coordinators[1].setMetadata(["x": 2], for: writable)
      }
      for (coordinator, store) in zip(coordinators, [writable, reading]) {
        try coordinator.remove(store)
      }
    }
  }
}
