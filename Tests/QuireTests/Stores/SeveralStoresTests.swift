import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Contexts whose coordinator has more than one store.
@Suite struct `Several stores` {
  typealias Scene = SeveralStoresScene

  private func request(
    _ entity: String = "Artist", sortedBy key: String? = "name"
  ) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    if let key { request.sortDescriptors = [FetchSortDescriptor(key: key)] }
    return request
  }

  @Test(arguments: GotchaHome.own, GotchaHome.own)
  func `a new object is in the first store that takes it, or in the one it was assigned to`(
    _ one: GotchaHome, _ two: GotchaHome
  ) throws {
    try Scene.with((one, two)) { scene in
      let (hilma, wassily) = try scene.artists()
      #expect(scene.coordinator.persistentStore(for: hilma.objectID) === scene.first)
      #expect(scene.coordinator.persistentStore(for: wassily.objectID) === scene.second)
      #expect(hilma.objectID != wassily.objectID)
      // Both are the first object of their store.
      #expect(hilma.objectID.key == wassily.objectID.key)
      let other = scene.sibling()
      for artist in [hilma, wassily] {
        let found = try other.existingObject(with: artist.objectID)
        #expect(found.text("name") == artist.text("name"))
        #expect(other.object(with: artist.objectID) === found)
        let uri = artist.objectID.uriRepresentation()
        #expect(scene.coordinator.managedObjectID(forURIRepresentation: uri) == artist.objectID)
      }
      let promised = try scene.insertSecond("Artist", [:])
      try scene.context.obtainPermanentIDs(for: [promised])
      let id = promised.objectID
      #expect(scene.coordinator.persistentStore(for: id) === scene.second)
      #expect(scene.context.registeredObject(for: id) === promised)
      try scene.context.save()
      #expect(promised.objectID == id)
    }
  }

  @Test func `an assignment that cannot be is an error, and the object goes where it would`() throws
  {
    try Scene.with(configurations: ("Collection", nil)) { scene in
      let context = scene.context
      let note = try context.insert("Note")
      context.assign(note, to: scene.first)
      #expect { try context.save() } throws: { code(of: $0) == .persistentStoreOperation }
      try context.save()
      #expect(scene.coordinator.persistentStore(for: note.objectID) === scene.second)
      context.assign(note, to: scene.first)
      #expect { try context.save() } throws: { code(of: $0) == .persistentStoreOperation }
      let stranger = PersistentStoreCoordinator(managedObjectModel: Scene.model)
      let store = try stranger.addPersistentStore(type: .inMemory, at: nil)
      context.assign(try context.insert("Note"), to: store)
      #expect { try context.save() } throws: { code(of: $0) == .persistentStoreOperation }
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a relationship to an object of another store is refused, and nothing is written`(
    _ home: GotchaHome
  ) throws {
    try Scene.with((home, .memory)) { scene in
      let (hilma, wassily) = try scene.artists()
      let context = scene.context
      let work = try context.insert("Work", ["title": "Swan", "artist": wassily])
      try hilma.setValue("other", forKey: "name")
      for _ in 0..<2 {
        #expect {
          try context.save()
        } throws: {
          code(of: $0) == .managedObjectExternalRelationship && "\($0)".contains("artist")
        }
      }
      #expect(try scene.sibling().count(for: request("Work", sortedBy: nil)) == 0)
      #expect(try scene.sibling().values(of: "name", "Artist") == ["Hilma", "Wassily"])
      // A fetch shows what there is all the same.
      #expect(try context.values(of: "title", "Work", "artist.name == 'Wassily'") == ["Swan"])
      context.assign(work, to: scene.second)
      try context.save()
      #expect(scene.coordinator.persistentStore(for: work.objectID) === scene.second)
      #expect(throws: PersistenceError.self) { try work.setValue(hilma, forKey: "artist") }
      #expect(try (work.value(forKey: "artist") as? ManagedObject) === wassily)
    }
  }

  @Test(arguments: GotchaHome.own, GotchaHome.own)
  func `a fetch merges the stores in its order, and counts them all`(
    _ one: GotchaHome, _ two: GotchaHome
  ) throws {
    try Scene.with((one, two)) { scene in
      let context = scene.context
      for (index, name) in ["b", "d", "f", "h", "x"].enumerated() {
        try context.insert("Artist", ["name": name, "born": index])
      }
      for name in ["a", "c", "e", "g", "x"] { try scene.insertSecond("Artist", ["name": name]) }
      try context.save()
      #expect(try context.values(of: "name", "Artist", sortedBy: "name").joined() == "abcdefghxx")
      var request = request()
      request.fetchOffset = 2
      request.fetchLimit = 5
      #expect(try context.fetch(request).compactMap { $0.text("name") }.joined() == "cdefg")
      #expect(try context.count(for: request) == 5)
      // Ties: store by store, also where changes make a new order.
      let last = try context.fetch(self.request()).suffix(2)
      #expect(
        last.map { scene.coordinator.persistentStore(for: $0.objectID)?.identifier }
          == [scene.first.identifier, scene.second.identifier])
      #expect(try context.values(of: "name", "Artist").joined() == "bdfhxacegx")
      request = self.request(sortedBy: nil)
      request.fetchLimit = 7
      #expect(try context.fetch(request).compactMap { $0.text("name") }.joined() == "bdfhxac")
      // A change in one store does not hide the row in the same place of the other.
      try context.insert("Artist", ["name": "new"])
      let changed = try #require(
        try context.fetch(self.request()).first { $0.text("name") == "b" })
      try changed.setValue("z", forKey: "name")
      #expect(
        try context.values(of: "name", "Artist", sortedBy: "name").joined() == "acdefghnewxxz")
      #expect(try context.count(for: self.request()) == 11)
      request = self.request()
      request.affectedStores = [scene.second]
      #expect(try context.fetch(request).compactMap { $0.text("name") }.joined() == "acegx")
      #expect(try context.count(for: request) == 5)
      request.affectedStores = [scene.first]
      #expect(try context.count(for: request) == 6)
      request.affectedStores = []
      #expect(try context.count(for: request) == 0)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `objects in the same places of two stores are changed, undone and deleted apart`(
    _ home: GotchaHome
  ) throws {
    try Scene.with((home, .memory)) { scene in
      let (hilma, wassily) = try scene.artists()
      let context = scene.context
      context.undoManager = UndoManager()
      let swan = try context.insert("Work", ["title": "Swan", "artist": hilma])
      let bow = try scene.insertSecond("Work", ["title": "Bow", "artist": wassily])
      try context.save()
      let other = scene.sibling()
      #expect(try other.values(of: "title", "Work", "artist.name == 'Wassily'") == ["Bow"])
      #expect(try (bow.value(forKey: "artist") as? ManagedObject) === wassily)
      context.delete(wassily)
      try context.save()
      #expect(try other.values(of: "title", "Work") == ["Swan"])
      #expect(try (swan.value(forKey: "artist") as? ManagedObject) === hilma)
      context.undo()
      try context.save()
      #expect(try scene.sibling().values(of: "title", "Work") == ["Swan", "Bow"])
      #expect(scene.coordinator.persistentStore(for: bow.objectID) === scene.second)
      try hilma.setValue("H", forKey: "name")
      try wassily.setValue("W", forKey: "name")
      context.refresh(wassily, mergeChanges: false)
      #expect(wassily.text("name") == "Wassily" && hilma.text("name") == "H")
      context.rollback()
      #expect(hilma.text("name") == "Hilma")
    }
  }

  @Test func `a read-only store gets no new objects, and changes there are refused`() throws {
    try withTemporaryFolder { folder in
      let writer = PersistentStoreCoordinator(managedObjectModel: Scene.model)
      let store = try writer.addPersistentStore(.file, "base", nil, in: folder)
      let context = GotchaHome.context(of: writer)
      try context.insert("Artist", ["name": "Hilma"])
      try context.save()
      try writer.remove(store)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Scene.model)
      var options = PersistentStoreOptions()
      options.isReadOnly = true
      let base = try coordinator.addPersistentStore(
        .file, "base", nil, in: folder, options: options)
      let own = try coordinator.addPersistentStore(.memory, "own", nil, in: folder)
      let mixed = GotchaHome.context(of: coordinator)
      let new = try mixed.insert("Artist", ["name": "Wassily"])
      try mixed.save()
      #expect(coordinator.persistentStore(for: new.objectID) === own)
      let old = try #require(try mixed.fetch(request()).first)
      #expect(coordinator.persistentStore(for: old.objectID) === base)
      try old.setValue("other", forKey: "name")
      try new.setValue("other", forKey: "name")
      #expect { try mixed.save() } throws: { code(of: $0) == .persistentStoreSave }
      mixed.refresh(old, mergeChanges: false)
      try mixed.save()
      #expect(
        try GotchaHome.context(of: coordinator).values(of: "name", "Artist") == [
          "Hilma", "other",
        ])
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  @Test(arguments: GotchaHome.own)
  func `objects of a removed store are out of reach, and the others go on`(_ home: GotchaHome)
    throws
  {
    try Scene.with((home, .memory)) { scene in
      let (hilma, wassily) = try scene.artists()
      let context = scene.context
      try hilma.setValue("lost", forKey: "name")
      try wassily.setValue("kept", forKey: "name")
      try scene.coordinator.remove(scene.first)
      #expect(try context.values(of: "name", "Artist") == ["kept"])
      #expect(hilma.isFault && !hilma.hasChanges)
      #expect { try hilma.value(forKey: "name") } throws: {
        code(of: $0) == .persistentStoreOperation && "\($0)".contains("removed")
      }
      #expect(context.object(with: hilma.objectID) == nil)
      try context.save()
      let new = try context.insert("Artist", ["name": "new"])
      try context.save()
      #expect(scene.coordinator.persistentStore(for: new.objectID) === scene.second)
      guard home == .file, let url = scene.first.url else { return }
      try scene.coordinator.addPersistentStore(type: .quire, at: url)
      #expect(try context.values(of: "name", "Artist") == ["kept", "new", "Hilma"])
      #expect(hilma.text("name") == "Hilma")
    }
  }

  // What happened: IDs of a store and its copy are equal, and a context took one for the other.
  @Test func `51 – a store and its copy cannot be in one coordinator`() throws {
    try Scene.with((.file, .memory)) { scene in
      _ = try scene.artists()
      let url = try #require(scene.first.url)
      let copy = url.deletingLastPathComponent().appending(path: "copy.quire")
      try scene.first.backUp(to: copy)
      for again in [copy, url] {
        #expect {
          try scene.coordinator.addPersistentStore(type: .quire, at: again)
        } throws: {
          code(of: $0) == .persistentStoreOpen && "\($0)".contains("UUID")
        }
      }
      #expect(scene.coordinator.persistentStores.count == 2)
      #expect(try scene.sibling().values(of: "name", "Artist") == ["Hilma", "Wassily"])
    }
  }

  @Test func `a save that fails at its second store says what is saved, and can go on`() throws {
    let disk = SimulatedDisk()
    func addSecond(to coordinator: PersistentStoreCoordinator) throws -> PersistentStore {
      try coordinator.addPersistentStore(
        type: .quire, at: URL(filePath: "/second.quire"), options: [:], in: disk)
    }
    let before = PersistentStoreCoordinator(managedObjectModel: Scene.model)
    try before.remove(try addSecond(to: before))
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Scene.model)
    let first = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let second = try addSecond(to: coordinator)
    let context = GotchaHome.context(of: coordinator)
    let one = try context.insert("Artist", ["name": "Hilma"])
    let two = try context.insert("Artist", ["name": "Wassily"])
    context.assign(two, to: second)
    // The first commit to a closed store needs a log, for which there is no room.
    disk.limit(to: disk.byteCount)
    let error = try #require(throws: PersistenceError.self) { try context.save() }
    #expect(error.code == .persistentStoreIncompleteSave)
    #expect(error.message.contains("memory") && error.message.contains("second.quire"))
    #expect(coordinator.persistentStore(for: one.objectID) === first && !one.hasChanges)
    #expect(two.isInserted && two.objectID.isTemporaryID)
    #expect(context.insertedObjects == [two])
    #expect(try GotchaHome.context(of: coordinator).values(of: "name", "Artist") == ["Hilma"])
    disk.heal()
    try context.save()
    #expect(coordinator.persistentStore(for: two.objectID) === second)
  }

  @Test func `a batch that fails at its second store says what is done, and so do contexts`() throws
  {
    let disk = SimulatedDisk()
    func add(to coordinator: PersistentStoreCoordinator) throws -> ManagedObjectContext {
      try coordinator.addPersistentStore(
        type: .quire, at: URL(filePath: "/second.quire"), options: [:], in: disk)
      return GotchaHome.context(of: coordinator)
    }
    let before = try add(to: PersistentStoreCoordinator(managedObjectModel: Scene.model))
    _ = try before.insert("Artist", ["name": "Wassily"])
    try before.save()
    try before.closeStores()
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Scene.model)
    let first = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = try add(to: coordinator)
    context.automaticallyMergesChangesFromParent = true
    let hilma = try context.insert("Artist", ["name": "Hilma"])
    context.assign(hilma, to: first)
    try context.save()
    let wassily = try #require(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist")).first { $0 !== hilma })
    let artists = [hilma, wassily]
    // The first commit to a closed store needs a log, for which there is no room.
    disk.limit(to: disk.byteCount)
    let request = BatchUpdateRequest(entityName: "Artist", propertiesToUpdate: ["born": 1862])
    let error = try #require(throws: PersistenceError.self) { try context.execute(request) }
    #expect(error.code == .persistentStoreIncompleteSave)
    #expect(error.message.contains("memory") && error.message.contains("second.quire"))
    context.processPendingChanges()
    #expect(try artists.map { try $0.value(forKey: "born") as? Int } == [1862, nil])
    disk.heal()
    #expect(try context.execute(request).count == 2)
    context.processPendingChanges()
    #expect(try artists.map { try $0.value(forKey: "born") as? Int } == [1862, 1862])
  }
}
