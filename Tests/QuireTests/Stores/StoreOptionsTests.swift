import Quire
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Types and options by the names under which Core Data code looks for them.
@Suite struct `Types and options of stores` {
  private func add(
    _ type: StoreType, _ options: PersistentStoreOptions = [:], at url: URL? = nil
  ) throws -> PersistentStore {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    try coordinator.remove(store)
    return store
  }

  @Test func `the binary and the XML store are refused with what to use instead`() throws {
    for type in [BinaryStoreType, XMLStoreType, StoreType(rawValue: "Odd")] {
      let error = #expect(throws: PersistenceError.self) { try add(type) }
      #expect(error?.code == .persistentStoreInvalidType)
      #expect(error?.message.contains(type.rawValue) == true)
      #expect(error?.message.contains("StoreType.quire") == true)
    }
    #expect(StoreType(rawValue: "SQLite") == .sqlite)
    #expect(SQLiteStoreType == .quire)
  }

  // A copy that ended early opened, and failed at its migration without the name of the file.
  @Test func `half a file is told with its path, also where a migration finds it`() throws {
    func model(_ more: [String] = []) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Note") {
          Attribute("text", .string)
          for name in more { Attribute(name, .integer16) }
        }
      }
    }
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "half.quire")
    let old = PersistentContainer(name: "Notes", managedObjectModel: try model())
    try old.loadPersistentStore(at: url)
    try old.writeAndWait { context in
      for _ in 0..<100 {
        let note = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
        try note.setValue(String(repeating: "note", count: 250), forKey: "text")
      }
    }
    try old.close()
    let whole = try Data(contentsOf: url)
    try whole.prefix(whole.count * 3 / 4).write(to: url)
    let new = PersistentContainer(name: "Notes", managedObjectModel: try model(["page"]))
    let error = #expect(throws: PersistenceError.self) { try new.loadPersistentStore(at: url) }
    let path = url.path(percentEncoded: false)
    #expect(
      error?.message == "the store at \(path) could not be migrated and has its old version")
    // The pages of the schema are behind the rows of the first save.
    try whole.prefix(whole.count / 8).write(to: url)
    let other = #expect(throws: PersistenceError.self) { try new.loadPersistentStore(at: url) }
    let text = other.map { "\($0)" } ?? ""
    #expect(text.contains("the store at \(path)"), "\(text)")
  }

  @Test func `a store at dev null is in memory`() throws {
    let null = URL(filePath: "/dev/null")
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: null, options: .migrating)
    #expect(store.type == .sqlite)
    #expect(coordinator.url(for: store) == null)
    #expect(coordinator.persistentStore(for: null) == nil)
    let context = GotchaHome.context(of: coordinator)
    _ = SmallGallery.Artist(context: context)
    try context.save()
    #expect(try SmallGallery.sibling(of: context).all(SmallGallery.Artist.self).count == 1)
    #expect(store.statistics.fileByteCount == 0)
  }

  @Test func `options without a meaning are taken, and unknown ones are named`() throws {
    _ = try add(
      .inMemory,
      [
        PersistentStoreRemoteChangeNotificationPostOptionKey: true,
        SQLiteAnalyzeOption: true, PersistentStoreFileProtectionKey: "complete",
        IgnorePersistentStoreVersioningOption: false,
      ])
    let error = #expect(throws: PersistenceError.self) {
      try add(.inMemory, PersistentStoreOptions(["NSWrongOption": 1, "other": 2]))
    }
    #expect(error?.code == .persistentStoreOperation)
    #expect(error?.message.contains("NSWrongOption") == true)
    #expect(error?.message.contains("other") == true)
    let wrongType = #expect(throws: PersistenceError.self) {
      try add(.inMemory, [ReadOnlyPersistentStoreOption: "yes"])
    }
    #expect(wrongType?.message.contains("NSReadOnlyPersistentStoreOption") == true)
    #expect(throws: PersistenceError.self) {
      try add(.inMemory, [IgnorePersistentStoreVersioningOption: true])
    }
  }

  @Test func `options are set by name, and unset by nil`() throws {
    var options: PersistentStoreOptions = [
      PersistentStoreTimeoutOption: 1.5, SQLitePragmasOption: ["synchronous": "normal"],
      SQLiteManualVacuumOption: true, PersistentStoreForceDestroyOption: 1,
    ]
    #expect(options.timeout == 1.5)
    #expect(options.durability == .ordered)
    #expect(options.compactsStore && options.forcesDestruction)
    options.set(nil, for: SQLitePragmasOption)
    options.set(["synchronous": "OFF"], for: SQLitePragmasOption)
    #expect(options.durability == .none)
    options.set(nil, for: SQLitePragmasOption)
    #expect(options.durability == .full)
    options.set("odd", for: PersistentStoreOption(rawValue: "x"))
    #expect(throws: PersistenceError.self) { try add(.inMemory, options) }
    options.set(nil, for: PersistentStoreOption(rawValue: "x"))
    _ = try add(.inMemory, options)
  }

  @Test(arguments: [Double.infinity, .nan, -1, 1e300])
  func `a timeout that no clock can count traps nobody`(timeout: Double) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store")
      var options = PersistentStoreOptions()
      options.timeout = timeout
      let store = try add(.quire, options, at: url)
      #expect(store.url == url)
    }
  }

  @Test func `a store that another process has is waited for, as long as the timeout says`() throws
  {
    let disk = MemoryFileSystem()
    let url = URL(filePath: "/folder/store.quire")
    @Sendable func add(timeout: Double) throws {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      let store = try coordinator.addPersistentStore(
        type: .quire, at: url, options: [PersistentStoreTimeoutOption: timeout], in: disk)
      try coordinator.remove(store)
    }
    try add(timeout: 0)
    let other = try disk.open(url.path(), .write)
    #expect(try other.lock(.exclusive))
    for timeout in [0, 0.03] {
      let error = #expect(throws: PersistenceError.self) { try add(timeout: timeout) }
      #expect(error?.code == (timeout > 0 ? .persistentStoreTimeout : .persistentStoreOpen))
    }
    // Threads of their own: a task might wait for the one that waits here.
    let failure = Mutex<(any Error)?>(nil)
    Threads.run([
      {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(50) {}
        other.unlock()
      },
      {
        do {
          try add(timeout: 30)
        } catch {
          failure.withLock { $0 = error }
        }
      },
    ])
    #expect(failure.withLock { $0 } == nil)
  }

  @Test func `vacuuming when the store is added makes the file small again`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      var tags: [ManagedObject] = []
      for _ in 0..<200 {
        tags.append(try context.insert("Tag", ["word": String(repeating: "w", count: 900)]))
      }
      try context.save()
      for tag in tags { context.delete(tag) }
      try context.save()
      let before = store.statistics.pageCount
      try coordinator.remove(store)
      let after = try coordinator.addPersistentStore(
        type: .quire, at: url, options: [SQLiteManualVacuumOption: true])
      #expect(after.statistics.pageCount < before / 2)
      try coordinator.remove(after)
    }
  }

  @Test func `without durability nothing is synced, and with it everything is`() throws {
    for durability in [Durability.full, .ordered, .none] {
      let disk = SimulatedDisk()
      var options = PersistentStoreOptions()
      options.durability = durability
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      try coordinator.addPersistentStore(
        type: .quire, at: URL(filePath: "/folder/store.quire"), options: options, in: disk)
      let context = GotchaHome.context(of: coordinator)
      try context.insert("Tag", ["word": "x"])
      try context.save()
      #expect(disk.reasons.contains(.commit) == (durability == .full), "\(durability)")
      #expect(disk.reasons.isEmpty == (durability == .none), "\(durability)")
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}
