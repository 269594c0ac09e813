import Quire
import QuireModel
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Another delete rule made another version of a model, as it does not in Core Data: a store was
/// refused, or migrated, for what is written nowhere in it.
@Suite struct DeleteRuleTests {
  private func model(
    _ rule: DeleteRule, back: DeleteRule = .nullify, note: Bool = false
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Show") {
        Attribute("name", .string)
        if note { Attribute("note", .string) }
        Relationship("rooms", toMany: "Room", inverse: "show", deleteRule: rule)
      }
      Entity("Room") {
        Attribute("number", .integer32)
        Relationship("show", toOne: "Show", inverse: "rooms", deleteRule: back)
      }
    }
  }

  private func withStore(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { try body($0.appending(path: "store.quire")) }
  }

  private func open(
    _ model: VersionedModel, _ url: URL, _ body: (ManagedObjectContext) throws -> Void
  ) throws { try open(model, url, [:], body) }

  private func open(
    _ model: VersionedModel, _ url: URL, _ options: PersistentStoreOptions,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    try body(GotchaHome.context(of: coordinator))
    #expect(store.migrationReport == nil || options.migratesAutomatically)
    try coordinator.remove(store)
  }

  /// Two shows with a room each.
  private func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<2 {
      let show = try context.insert("Show", ["name": "\(number)"])
      try context.insert("Room", ["number": number, "show": show])
    }
    try context.save()
  }

  private func count(_ entity: String, _ context: ManagedObjectContext) throws -> Int {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).count
  }

  /// Puts the hashes that a release made which counted delete rules into a closed store.
  private func makeFormer(_ model: ManagedObjectModel, _ url: URL) throws {
    try DeferredTrial.changeSchema(of: url) { tree in
      var bytes: [UInt8] = []
      func append(_ number: Int) {
        for shift in 0..<4 { bytes.append(UInt8(number >> (8 * shift) & 255)) }
      }
      append(model.entities.count)
      for entity in model.entities {
        append(entity.name.utf8.count)
        bytes += Array(entity.name.utf8)
        append(32)
        bytes += entity.formerVersionHash.bytes
      }
      let key = Array("hashes".utf8)
      let isLikeOurs = try tree.withValue(for: key) { $0.count == bytes.count }
      #expect(isLikeOurs == true)
      try tree.put(bytes, for: key)
    }
  }

  private func writtenHashes(_ url: URL) throws -> [UInt8]? {
    try DeferredTrial.content(of: url)["schema hashes"]
  }

  @Test func `another delete rule is no other version, and is in force at once`() throws {
    try withStore { url in
      try open(VersionedModel(model(.nullify)), url, fill)
      let before = try writtenHashes(url)
      try open(VersionedModel(model(.cascade)), url) { context in
        let shows = try context.fetch(FetchRequest<ManagedObject>(entityName: "Show"))
        context.delete(shows[0])
        try context.save()
        #expect(try count("Room", context) == 1)
      }
      #expect(try writtenHashes(url) == before)
      // The store's copy of its model has the rule, for tools.
      let stored = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
      #expect(stored.entity(named: "Show")?.relationship(named: "rooms")?.deleteRule == .cascade)
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test(arguments: [DeleteRule.cascade, .deny, .nullify])
  func `a store of a release that counted delete rules opens, whatever they are now`(
    _ rule: DeleteRule
  ) throws {
    try withStore { url in
      let former = try model(.cascade)
      try open(VersionedModel(former), url, fill)
      let ours = try writtenHashes(url)
      try makeFormer(former, url)
      #expect(try writtenHashes(url) != ours)
      let current = VersionedModel(try model(rule))
      #expect(try StoreInspection(of: url).findings == [])
      let readOnly: PersistentStoreOptions = [ReadOnlyPersistentStoreOption: true]
      try open(current, url, readOnly) { context in
        #expect(try count("Room", context) == 2)
        let room = try context.fetch(FetchRequest<ManagedObject>(entityName: "Room"))[0]
        #expect(try room.value(forKey: "show") != nil)
      }
      #expect(try writtenHashes(url) != ours, "nothing was written")
      try open(current, url) { context in
        try context.insert("Room", ["number": 7])
        try context.save()
      }
      #expect(try writtenHashes(url) == ours)
      try open(current, url) { context in
        let rooms = try count("Room", context)
        #expect(rooms == 3)
      }
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `a store of such a release migrates, is mapped and goes through stages`() throws {
    let (old, new) = (try model(.cascade), try model(.cascade, note: true))
    let versions = try MigrationTrial.versioned(old, new)
    var mapping = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    mapping.sourceVersionChecksum = old.formerVersionChecksum
    mapping.destinationVersionChecksum = new.formerVersionChecksum
    for index in mapping.entityMappings.indices {
      let name = mapping.entityMappings[index].sourceEntityName ?? ""
      mapping.entityMappings[index].sourceEntityVersionHash =
        old.entity(named: name)?.formerVersionHash
    }
    var mapped = PersistentStoreOptions.migrating
    mapped.mappingModels = [mapping]
    var staged = PersistentStoreOptions.migrating
    staged.stagedMigrationManager = StagedMigrationManager([
      LightweightMigrationStage([old.formerVersionChecksum, new.formerVersionChecksum])
    ])
    var custom = PersistentStoreOptions.migrating
    custom.stagedMigrationManager = StagedMigrationManager([
      CustomMigrationStage(
        migratingFrom: .init(model: old, versionChecksum: old.formerVersionChecksum),
        to: .init(model: new, versionChecksum: new.formerVersionChecksum))
    ])
    // The last has no model of the old version: the stage has its checksum, the store its model.
    for (options, model) in [
      (.migrating, versions), (mapped, versions), (staged, versions), (custom, versions),
      (staged, VersionedModel(new)),
    ] {
      try withStore { url in
        try open(try #require(versions.endingAt("old")), url, fill)
        try makeFormer(old, url)
        let coordinator = PersistentStoreCoordinator(versionedModel: model)
        let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
        #expect(store.migrationReport?.plans.count == 1)
        #expect(try count("Room", GotchaHome.context(of: coordinator)) == 2)
        try coordinator.remove(store)
        #expect(try StoreInspection(of: url).findings == [])
      }
    }
    var wrong = mapping
    wrong.sourceVersionChecksum = new.formerVersionChecksum
    #expect(mapping.matches(source: old, destination: new))
    #expect(!wrong.matches(source: old, destination: new))
  }

  /// Rooms are led to by nothing any more, and lead to what is gone: by *no action* that is so.
  private func fillDangling(_ context: ManagedObjectContext) throws {
    try fill(context)
    let shows = try context.fetch(FetchRequest<ManagedObject>(entityName: "Show"))
    context.delete(shows[0])
    try context.save()
    #expect(try count("Room", context) == 2)
  }

  private func expectCleared(_ context: ManagedObjectContext) throws {
    let rooms = try context.fetch(FetchRequest<ManagedObject>(entityName: "Room"))
    let shows = try rooms.map {
      try ($0.value(forKey: "show") as? ManagedObject)?.value(forKey: "name")
    }
    #expect(shows.count == 2 && shows.count { $0 != nil } == 1)
    #expect(try context.values(of: "number", "Room", "show == nil").count == 1)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test(arguments: [false, true])
  func `where no action was, what leads to objects that are gone is cleared when a store is opened`(
    _ isFormer: Bool
  ) throws {
    try withStore { url in
      let dangling = try model(.noAction)
      try open(VersionedModel(dangling), url, fillDangling)
      if isFormer { try makeFormer(dangling, url) }
      let told = VersionedModel(try model(.nullify))
      let error = #expect(throws: PersistenceError.self) {
        try open(told, url, [ReadOnlyPersistentStoreOption: true]) { _ in }
      }
      #expect(error?.code == .migration && error?.message.contains("Room.show") == true)
      try open(told, url, expectCleared)
      try open(told, url, [ReadOnlyPersistentStoreOption: true], expectCleared)
    }
  }

  /// The version that a program has may be edited; the store's own copy says by which rules objects
  /// were deleted.
  @Test func `a migration knows the delete rules that the store had`() throws {
    let (dangling, edited) = (try model(.noAction), try model(.nullify))
    let new = try model(.nullify, note: true)
    try withStore { url in
      try open(
        try #require(VersionedModel(versions: [.init("old", dangling)])), url, fillDangling)
      try open(try MigrationTrial.versioned(edited, new), url, .migrating, expectCleared)
    }
  }
}
