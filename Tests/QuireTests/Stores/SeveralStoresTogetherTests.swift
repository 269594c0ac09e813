import Foundation
import Quire
import Synchronization
import Testing

/// What contexts do for one store, done for several at once.
@Suite struct `Several stores together` {
  typealias Scene = SeveralStoresScene

  @Test(arguments: GotchaHome.own)
  func `a merge policy resolves conflicts in the store where they are`(_ home: GotchaHome) throws {
    try Scene.with((home, .memory)) { scene in
      let (hilma, wassily) = try scene.artists()
      let other = scene.sibling()
      let theirs = try other.existingObject(with: wassily.objectID)
      try theirs.setValue(1, forKey: "born")
      try theirs.setValue("theirs", forKey: "name")
      try other.save()
      try hilma.setValue("mine", forKey: "name")
      try wassily.setValue("mine too", forKey: "name")
      let error = #expect(throws: PersistenceError.self) { try scene.context.save() }
      #expect(error?.code == .managedObjectMerge)
      #expect(error?.conflicts.map(\.objectID) == [wassily.objectID])
      #expect(try scene.sibling().values(of: "name", "Artist") == ["Hilma", "theirs"])
      scene.context.mergePolicy = .mergeByPropertyStoreTrump
      try scene.context.save()
      #expect(try scene.sibling().values(of: "name", "Artist") == ["mine", "theirs"])
      #expect(try wassily.value(forKey: "born") as? Int == 1)
    }
  }

  @Test func `an object that a save rests on is compared in a store that it does not write to`()
    throws
  {
    try Scene.with { scene in
      let (hilma, wassily) = try scene.artists()
      let other = scene.sibling()
      try other.existingObject(with: wassily.objectID).setValue("theirs", forKey: "name")
      try other.save()
      try hilma.setValue("mine", forKey: "name")
      scene.context.detectConflicts(for: wassily)
      #expect { try scene.context.save() } throws: { code(of: $0) == .managedObjectMerge }
      scene.context.refresh(wassily, mergeChanges: false)
      _ = wassily.text("name")
      try scene.context.save()
    }
  }

  @Test func `an object that a save rests on must still be there, in whichever store`() throws {
    try Scene.with { scene in
      let (hilma, wassily) = try scene.artists()
      try hilma.setValue("mine", forKey: "name")
      scene.context.detectConflicts(for: wassily)
      let other = scene.sibling()
      other.delete(try other.existingObject(with: wassily.objectID))
      try other.save()
      #expect { try scene.context.save() } throws: { code(of: $0) == .managedObjectMerge }
      #expect(try scene.sibling().values(of: "name", "Artist") == ["Hilma"])
    }
  }

  // A save keeps others out of all its stores. If each began with the one that its coordinator has
  // first, a save with one of them would wait for a save with the other, and that one for it.
  @Test func `saves do not wait for each other, in whichever order stores were added`()
    throws
  {
    try withTemporaryFolder { folder in
      let failures = Mutex<[String]>([])
      let threads = DispatchGroup()
      for number in 0..<4 {
        threads.enter()
        // One that waits for ever must not be waited for.
        Thread {
          do {
            let names = ["one", "two"]
            try Self.save(to: number.isMultiple(of: 2) ? names : names.reversed(), in: folder)
          } catch {
            failures.withLock { [text = "\(error)"] in $0.append(text) }
          }
          threads.leave()
        }.start()
      }
      #expect(threads.wait(timeout: .now() + 30) == .success)
      #expect(failures.withLock { $0 } == [])
    }
  }

  private static func save(to names: [String], in folder: URL) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Scene.model)
    var options: PersistentStoreOptions = [:]
    options.durability = .none
    let stores = try names.map {
      try coordinator.addPersistentStore(.file, $0, nil, in: folder, options: options)
    }
    let context = GotchaHome.context(of: coordinator)
    let notes = try stores.map { store in
      let note = try context.insert("Note")
      context.assign(note, to: store)
      return note
    }
    for round in 0..<50 {
      for note in notes { try note.setValue("\(round)", forKey: "text") }
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.own)
  func `saves of each store are merged by themselves, and told with the store`(_ home: GotchaHome)
    throws
  {
    try Scene.with((.memory, home)) { scene in
      let (hilma, wassily) = try scene.artists()
      let changes = Received()
      let token = scene.coordinator.observeRemoteChanges { changes.add($0.storeUUID) }
      scene.context.automaticallyMergesChangesFromParent = true
      let other = scene.sibling()
      try other.existingObject(with: wassily.objectID).setValue("W", forKey: "name")
      try other.save()
      scene.context.processPendingChanges()
      #expect(wassily.text("name") == "W" && hilma.text("name") == "Hilma")
      other.delete(try other.existingObject(with: hilma.objectID))
      try other.save()
      scene.context.processPendingChanges()
      #expect(hilma.managedObjectContext == nil && wassily.managedObjectContext != nil)
      #expect(changes.all == [scene.second.identifier, scene.first.identifier])
      token.cancel()
    }
  }

  private final class Received: @unchecked Sendable {
    // Called on the thread of the test alone.
    private(set) var all: [UUID] = []
    func add(_ identifier: UUID) { all.append(identifier) }
  }

  @Test func `a query generation keeps all stores as they are`() throws {
    try Scene.with { scene in
      let (hilma, wassily) = try scene.artists()
      let pinned = scene.sibling()
      try pinned.setQueryGeneration(from: .current)
      let second = scene.sibling()
      try second.setQueryGeneration(from: pinned.queryGenerationToken)
      #expect(second.queryGenerationToken == pinned.queryGenerationToken)
      try hilma.setValue("H", forKey: "name")
      try wassily.setValue("W", forKey: "name")
      try scene.context.save()
      for context in [pinned, second] {
        #expect(try context.values(of: "name", "Artist") == ["Hilma", "Wassily"])
      }
      try pinned.setQueryGeneration(from: nil)
      #expect(try pinned.values(of: "name", "Artist") == ["H", "W"])
    }
  }

  @Test func `one of two stores moves, and has metadata of its own`() throws {
    try Scene.with((.file, .memory)) { scene in
      let (hilma, wassily) = try scene.artists()
      try wassily.setValue("unsaved", forKey: "name")
      try scene.coordinator.setMetadata(["a": 1], for: scene.first)
      let moved = try scene.coordinator.migratePersistentStore(
        scene.second,
        to: scene.first.url?.deletingLastPathComponent().appending(path: "moved.quire"),
        type: .quire)
      #expect(
        scene.coordinator.persistentStores.map(\.identifier) == [
          scene.first.identifier, moved.identifier,
        ])
      try scene.context.save()
      #expect(try scene.sibling().values(of: "name", "Artist") == ["Hilma", "unsaved"])
      #expect(scene.first.metadata["a"] as? Int == 1 && moved.metadata["a"] == nil)
      #expect(scene.coordinator.persistentStore(for: hilma.objectID) === scene.first)
    }
  }

  // MARK: Configurations

  @Test(arguments: GotchaHome.own, GotchaHome.own)
  func `a store for a configuration has its entities alone`(
    _ one: GotchaHome, _ two: GotchaHome
  ) throws {
    try Scene.with((one, two), configurations: ("Collection", "Private")) { scene in
      #expect(scene.first.configurationName == "Collection")
      let artist = try scene.context.insert("Artist", ["name": "Hilma"])
      let note = try scene.context.insert("Note", ["text": "hm"])
      try scene.context.save()
      #expect(scene.coordinator.persistentStore(for: artist.objectID) === scene.first)
      #expect(scene.coordinator.persistentStore(for: note.objectID) === scene.second)
      #expect(try scene.sibling().values(of: "text", "Note") == ["hm"])
      for (store, name) in [(scene.first, "Collection"), (scene.second, "Private")] {
        for other in ["Collection", "Private", nil] {
          #expect(
            Scene.model.isConfiguration(
              withName: other, compatibleWithStoreMetadata: store.metadata) == (other == name))
        }
      }
      guard two == .file, let url = scene.second.url else { return }
      try scene.coordinator.remove(scene.second)
      #expect {
        try scene.context.insert("Note"); try scene.context.save()
      } throws: {
        code(of: $0) == .persistentStoreSave && "\($0)".contains("Note")
      }
      for other in [nil, "Collection"] {
        #expect {
          try scene.coordinator.addPersistentStore(
            type: .quire, configuration: other, at: url, options: .migrating)
        } throws: {
          code(of: $0) == .persistentStoreIncompatibleVersionHash && "\($0)".contains("Private")
        }
      }
      try scene.coordinator.addPersistentStore(type: .quire, configuration: "Private", at: url)
      try scene.context.save()
      #expect(try scene.context.values(of: "text", "Note", sortedBy: "text").count == 2)
    }
  }

  @Test func `a configuration that a relationship leaves, or that is not there, is refused`() throws
  {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Scene.model)
    for (name, word) in [("Torn", "Work.artist"), ("Nowhere", "Collection")] {
      #expect {
        try coordinator.addPersistentStore(type: .inMemory, configuration: name, at: nil)
      } throws: {
        code(of: $0) == .persistentStoreOperation && "\($0)".contains(word)
      }
    }
    #expect(coordinator.persistentStores.isEmpty)
    let store = try coordinator.addPersistentStore(
      type: .inMemory, configuration: DefaultConfigurationName, at: nil)
    #expect(store.configurationName == DefaultConfigurationName)
  }

  @Test func `a store is migrated only where an entity of its configuration has changed`() throws {
    func model(_ noteHasDate: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Artist") { Attribute("name", .string) }
        Entity("Paper", abstract: true) { Attribute("text", .string) }
        if noteHasDate {
          Entity("Note", parent: "Paper") { Attribute("written", .date) }
        } else {
          Entity("Note", parent: "Paper")
        }
        ModelConfiguration("Collection", "Artist")
        ModelConfiguration("Private", "Note")
      }
    }
    let versions = try [
      VersionedModel.Version("one", model(false)), .init("two", model(true)),
    ]
    try withTemporaryFolder { folder in
      for name in ["one", "two"] {
        let versioned = try #require(VersionedModel(versions: versions, current: name))
        let coordinator = PersistentStoreCoordinator(versionedModel: versioned)
        var reports: [MigrationReport?] = []
        for configuration in ["Collection", "Private"] {
          reports.append(
            try coordinator.addPersistentStore(
              .file, configuration, configuration, in: folder, options: .migrating
            ).migrationReport)
        }
        let context = GotchaHome.context(of: coordinator)
        if name == "one" {
          try context.insert("Artist", ["name": "Hilma"])
          try context.insert("Note", ["text": "hm"])
          try context.save()
        }
        #expect(reports.map { $0 != nil } == [false, name == "two"])
        #expect(try context.values(of: "text", "Note") == ["hm"])
        #expect(try context.values(of: "name", "Artist") == ["Hilma"])
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }
  }
}
