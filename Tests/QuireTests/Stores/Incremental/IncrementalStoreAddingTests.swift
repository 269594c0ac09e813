import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private typealias Artist = SmallGallery.Artist

@Suite struct IncrementalStoreAddingTests {
  private func code(_ body: () throws -> Void) -> PersistenceError.Code? {
    #expect(throws: PersistenceError.self, performing: body)?.code
  }

  @Test func `a type is known to the coordinator that it was registered with, and to no other`()
    throws
  {
    let server = RowServer()
    let coordinator = try server.coordinator()
    #expect(coordinator.persistentStores.first?.incrementalStore is RowStore)
    #expect(coordinator.persistentStores.first?.type == RowStore.type)
    let other = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    func add() throws { try other.addPersistentStore(type: RowStore.type, at: nil) }
    #expect(code(add) == .persistentStoreInvalidType)
    try server.register(with: other)
    try add()
    try other.remove(other.persistentStores[0])
    try other.registerStoreClass(forStoreType: RowStore.type, nil)
    #expect(code(add) == .persistentStoreInvalidType)
    for own in [StoreType.quire, .inMemory, .sqlite] {
      #expect(
        code { try other.registerStoreClass(forStoreType: own, nil) }
          == .persistentStoreInvalidType)
    }
  }

  @Test func `a description may name the type`() throws {
    let server = RowServer()
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try server.register(with: container.persistentStoreCoordinator)
    let url = try #require(URL(string: "https://example.org/gallery"))
    let description = PersistentStoreDescription(url: url)
    description.type = RowStore.type
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let store = container.persistentStoreCoordinator.persistentStore(for: url)
    #expect(store?.identifier == server.identifier)
    let context = container.newBackgroundContext()
    Artist(context: context).name = "Hokusai"
    try context.save()
    #expect(server.now.records.count == 1)
  }

  @Test func `one server is added once to a coordinator`() throws {
    let coordinator = try RowServer().coordinator()
    #expect(
      code { try coordinator.addPersistentStore(type: RowStore.type, at: nil) }
        == .persistentStoreOpen)
  }

  @Test func `a store of another version of the model is refused`() throws {
    let server = RowServer()
    server.edit { $0.versionHashes = SmallGallery.model.entityVersionHashesByName }
    let coordinator = try server.coordinator()
    #expect(coordinator.persistentStores.count == 1)
    let model = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
    let error = #expect(throws: PersistenceError.self) {
      _ = try server.coordinator(.plain, model, classes: [])
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.message.contains("Artist differs") == true)
  }

  @Test func `an incremental store refuses constraints, derived attributes and history`() throws {
    let unique = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        UniquenessConstraint("name")
      }
    }
    let derived = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("count", .integer64, derivedFrom: "works.@count")
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") { Relationship("artist", toOne: "Artist", inverse: "works") }
    }
    for model in [unique, derived] {
      let error = #expect(throws: PersistenceError.self) {
        _ = try RowServer().coordinator(.plain, model, classes: [])
      }
      #expect(error?.code == .persistentStoreOperation && error?.entityName == "Artist")
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    try RowServer().register(with: coordinator)
    #expect(
      code {
        try coordinator.addPersistentStore(
          type: RowStore.type, at: nil, options: [PersistentHistoryTrackingKey: true])
      } == .persistentStoreOperation)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `an attribute that is derived from its own object is worked out before the save`()
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("key", .string, derivedFrom: "lowercase:(name)")
      }
    }
    let server = RowServer()
    let context = GotchaHome.context(of: try server.coordinator(.plain, model, classes: []))
    let artist = try context.insert("Artist", ["name": "HOKUSAI"])
    try context.save()
    #expect(server.now.record("Artist", "key", "hokusai") != nil)
    try artist.setValue("Utamaro", forKey: "name")
    try context.save()
    #expect(server.now.record("Artist", "key", "utamaro") != nil)
    #expect(server.now.lastSave?.updated.first?.changedProperties == ["key", "name"])
  }

  @Test func `moving, backing up or pinning an incremental store is an error`() throws {
    let server = RowServer()
    let coordinator = try server.coordinator()
    let store = coordinator.persistentStores[0]
    let context = GotchaHome.context(of: coordinator)
    #expect(
      code { try coordinator.migratePersistentStore(store, to: nil, type: .inMemory) }
        == .persistentStoreOperation)
    #expect(
      code { try coordinator.setURL(URL(filePath: "/tmp/nowhere"), for: store) }
        == .persistentStoreOperation)
    #expect(code { try context.setQueryGeneration(from: .current) } == .persistentStoreOperation)
    #expect(
      code { try store.backUp(to: URL(filePath: "/tmp/nowhere")) } == .persistentStoreOperation)
    #expect(coordinator.persistentStores.map(ObjectIdentifier.init) == [ObjectIdentifier(store)])
    try context.setQueryGeneration(from: nil)
  }

  @Test func `a store that was added read-only is not written`() throws {
    let server = RowServer()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try server.register(with: coordinator)
    try coordinator.addPersistentStore(
      type: RowStore.type, at: nil, options: [ReadOnlyPersistentStoreOption: true])
    let context = GotchaHome.context(of: coordinator)
    Artist(context: context).name = "Hokusai"
    #expect(code { try context.save() } == .persistentStoreSave)
    #expect(server.now.calls(.save) == 0)
  }

  @Test func `a store that was removed is closed, and its objects are found when it is back`()
    throws
  {
    let server = RowServer()
    let coordinator = try server.coordinator()
    let context = GotchaHome.context(of: coordinator)
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    try coordinator.remove(coordinator.persistentStores[0])
    #expect(server.now.calls(.close) == 1)
    #expect(throws: PersistenceError.self) { try context.all(Artist.self) }
    try coordinator.addPersistentStore(type: RowStore.type, at: nil)
    #expect(try context.all(Artist.self) == [artist])
    #expect(artist.name == "Hokusai")
  }

  @Test func `metadata that are set while the store is saving are saved with the next save`() throws
  {
    let server = RowServer()
    let coordinator = try server.coordinator()
    let context = GotchaHome.context(of: coordinator)
    try coordinator.setMetadata(["import": 1], for: coordinator.persistentStores[0])
    try context.insert("Tag", ["word": "x"])
    server.edit { state in
      state.interference = { _ in
        try? coordinator.setMetadata(["import": 2], for: coordinator.persistentStores[0])
      }
    }
    try context.save()
    #expect(server.now.userMetadata["import"] as? Int64 == 1)
    #expect(coordinator.persistentStores[0].metadata["import"] as? Int == 2)
    try context.save()
    #expect(server.now.userMetadata["import"] as? Int64 == 2)
    #expect(coordinator.persistentStores[0].metadata["import"] as? Int == 2)
  }

  @Test func `metadata are saved with the rows, and read when the store is added`() throws {
    let server = RowServer()
    let coordinator = try server.coordinator()
    let store = coordinator.persistentStores[0]
    #expect(
      coordinator.metadata(for: store)[StoreUUIDKey] as? String == server.identifier.uuidString)
    #expect(coordinator.metadata(for: store)[StoreTypeKey] as? String == "Rows")
    var metadata = coordinator.metadata(for: store)
    metadata["place"] = "Edo"
    metadata["years"] = [1760, 1849]
    try coordinator.setMetadata(metadata, for: store)
    let context = GotchaHome.context(of: coordinator)
    server.refuse(call: 1)
    #expect(code { try context.save() } == .persistentStoreSave)
    server.refuse(call: nil)
    try context.save()
    #expect(server.now.userMetadata["place"] as? String == "Edo")
    #expect(server.now.userMetadata["years"] as? [Int64] == [1760, 1849])
    let other = try server.coordinator()
    #expect(other.metadata(for: other.persistentStores[0])["place"] as? String == "Edo")
  }

  // MARK: Beside other stores

  @Test func `a store of another make has its configuration's entities beside a file's`() throws {
    let model = try ManagedObjectModel {
      Entity("Note") { Attribute("text", .string) }
      Entity("Place") {
        Attribute("name", .string)
        Attribute("note", .string)
      }
      ModelConfiguration("Here", "Note")
      ModelConfiguration("There", "Place")
    }
    let server = RowServer()
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try server.register(with: coordinator)
      try coordinator.addPersistentStore(
        type: .quire, configuration: "Here", at: folder.appending(path: "notes"))
      let there = try coordinator.addPersistentStore(
        type: RowStore.type, configuration: "There", at: nil)
      let context = GotchaHome.context(of: coordinator)
      let note = try context.insert("Note", ["text": "a"])
      let place = try context.insert("Place", ["name": "Edo"])
      try context.save()
      #expect(server.now.records.keys.map { $0 } == [IncrementalStoreKey("Place", 1)])
      #expect(place.objectID.persistentStore === there)
      #expect(note.objectID.persistentStore !== there)

      // What the far store refuses is not half saved in the near one.
      try note.setValue("b", forKey: "text")
      try place.setValue("Kyoto", forKey: "name")
      server.refuse(call: 2)
      #expect(code { try context.save() } == .persistentStoreSave)
      server.refuse(call: nil)
      let fresh = GotchaHome.context(of: coordinator)
      #expect(try fresh.values(of: "text", "Note") == ["a"])
      #expect(note.isUpdated && place.isUpdated)
      try context.save()
      fresh.reset()
      #expect(try fresh.values(of: "text", "Note") == ["b"])
      #expect(try fresh.values(of: "name", "Place") == ["Kyoto"])
    }
  }

  @Test func `objects of two stores are fetched in one order`() throws {
    let coordinator = try RowServer().coordinator(.searching)
    let near = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    for number in 0..<20 {
      let artist = Artist(context: context)
      artist.born = Int16(number)
      if number.isMultiple(of: 2) { context.assign(artist, to: near) }
    }
    try context.save()
    var request = FetchRequest<Artist>()
    request.predicate = Key("born") > 3
    request.sortDescriptors = [FetchSortDescriptor(key: "born", ascending: false)]
    request.fetchLimit = 10
    let fresh = SmallGallery.sibling(of: context)
    #expect(try fresh.fetch(request).map(\.born) == (10...19).reversed().map { Int16($0) })
    request.affectedStores = [near]
    #expect(try fresh.count(for: request) == 8)
  }

  // MARK: Answers

  @Test func `answers that contradict the model are errors that say which`() throws {
    func error(_ node: IncrementalStoreNode) throws -> PersistenceError? {
      let server = RowServer()
      let context = try server.context()
      server.edit { $0.records[node.key] = .init(node: node) }
      return #expect(throws: PersistenceError.self) {
        _ = try context.values(of: "name", "Artist", "name != 'x'")
      }
    }
    let key = IncrementalStoreKey("Artist", 1)
    for (node, text) in [
      (IncrementalStoreNode(key: key, version: 0), "version 0"),
      (IncrementalStoreNode(key: key, version: 1, values: ["nam": .string("a")]), "nam of"),
      (IncrementalStoreNode(key: key, version: 1, values: ["name": .integer(1)]), "name"),
      (IncrementalStoreNode(key: key, version: 1, values: ["spouse": .integer(1)]), "spouse"),
      (IncrementalStoreNode(key: key, version: 1, values: ["born": .integer(70_000)]), "70000"),
      (IncrementalStoreNode(key: key, version: 1, destinations: ["name": key]), "name"),
      (
        IncrementalStoreNode(
          key: key, version: 1, destinations: ["spouse": IncrementalStoreKey("Tag", 1)]), "Tag/p1"
      ),
      (IncrementalStoreNode(key: IncrementalStoreKey("Artist", 0), version: 1), "Artist/p0"),
    ] {
      let found = try #require(try error(node))
      #expect(found.code == .persistentStoreOperation)
      #expect("\(found)".contains(text), "\(found)")
    }
  }
}
