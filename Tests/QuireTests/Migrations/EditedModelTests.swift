import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A program whose model was edited in place, an attribute added and the program run again, was
/// told that a newer version of the program might have written its store. The store carries the
/// model that it was written with; the migration begins there.
@Suite struct EditedModelTests {
  private func model(
    _ attributes: [Attribute] = [], entity: String = "Person"
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity(entity) {
        Attribute("name", .string)
        for attribute in attributes { attribute }
      }
    }
  }

  private func open(
    _ model: VersionedModel, at url: URL, _ options: PersistentStoreOptions = .migrating,
    _ body: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws -> MigrationReport? {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    let context = GotchaHome.context(of: coordinator)
    try body(context)
    try coordinator.remove(store)
    return store.migrationReport
  }

  private func insert(_ context: ManagedObjectContext) throws {
    let person = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
    try person.setValue("Ada", forKey: "name")
    try context.save()
  }

  private func people(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
  }

  private func values(_ key: String, _ context: ManagedObjectContext) throws -> [Int?] {
    try people(context).map { try $0.value(forKey: key) as? Int }
  }

  private func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
  }

  @Test func `an attribute that is added in place is there when the program runs again`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      _ = try open(VersionedModel(model()), at: url) { try insert($0) }
      let edited = try model([Attribute("age", .integer16, optional: false, default: 7)])
      let path = try #require(
        try MigrationPath.path(forStoreAt: url, to: VersionedModel(edited)))
      #expect(path.isFromStoredModel)
      #expect(path.description.contains("the store's own model"), "\(path)")
      let report = try open(VersionedModel(edited), at: url) { context in
        try #expect(values("age", context) == [7])
        try #expect(people(context).first?.value(forKey: "name") as? String == "Ada")
      }
      let plan = try #require(report?.plan)
      #expect(plan.sourceVersion == "Model (the store's own model)")
      #expect(!plan.dropsValues)
      #expect(report?.backup == nil)
      #expect(try files(in: folder) == ["people.quire"])
      // And again, and once more with nothing edited.
      let again = try model([
        Attribute("age", .integer16, optional: false, default: 7),
        Attribute("email", .string),
      ])
      try #expect(open(VersionedModel(again), at: url) != nil)
      try #expect(open(VersionedModel(again), at: url) == nil)
      let history = try StoreSummary(of: url).migrationHistory
      #expect(history.allSatisfy { $0.sourceVersion == "Model (the store's own model)" })
      #expect(history.count == 2)
    }
  }

  @Test func `values that an edited model drops can be restored from the backup`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      let former = try model([Attribute("age", .integer16, default: 7)])
      _ = try open(VersionedModel(former), at: url) { try insert($0) }
      let report = try #require(
        try open(VersionedModel(model()), at: url) { context in
          try #expect(people(context).count == 1)
        })
      #expect(report.plan.dropsValues)
      #expect(report.backup?.lastPathComponent == "people.quire~")
      try PersistentStoreCoordinator.restorePersistentStore(
        at: url, fromBackupAt: #require(report.backup))
      _ = try open(VersionedModel(former), at: url) { context in
        try #expect(values("age", context) == [7])
      }
    }
  }

  /// A program that is older than its store has the model that the store had once.
  @Test func `a newer store is not migrated back by an older program if values would go`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      let older = try VersionedModel(model())
      let newer = try VersionedModel(model([Attribute("age", .integer16, default: 7)]))
      _ = try open(older, at: url) { try insert($0) }
      _ = try open(newer, at: url)
      let bytes = try Data(contentsOf: url)
      let error = #expect(throws: PersistenceError.self) { try open(older, at: url) }
      #expect(error?.code == .migrationMissingSourceModel)
      #expect(error?.message.contains("would drop Person.age") ?? false, "\(error?.message ?? "")")
      #expect(try Data(contentsOf: url) == bytes)
      #expect(try files(in: folder) == ["people.quire"])
      _ = try open(newer, at: url) { context in try #expect(values("age", context) == [7]) }
      // The remedy that the error names.
      let stored = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
      let both = try #require(
        VersionedModel(versions: [.init("newer", stored), older.currentVersion]))
      #expect(try open(both, at: url)?.plan.dropsValues == true)
      // What is added again was not there before.
      #expect(try open(newer, at: url) != nil)
    }
  }

  /// Going back and forth is what happens when a person changes branches.
  @Test func `an older model that drops nothing opens a store that was newer`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      let wide = try VersionedModel(model([Attribute("age", .integer16)]))
      let narrow = try VersionedModel(model())
      _ = try open(wide, at: url)
      _ = try open(narrow, at: url)
      _ = try open(wide, at: url)
      // There is no object, so that no value goes.
      #expect(try open(narrow, at: url) != nil)
    }
  }

  /// The file of another program, or a store of several merged models that was opened with one.
  @Test func `an entity with objects that an edited model has no more is refused`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      _ = try open(VersionedModel(model()), at: url) { try insert($0) }
      let bytes = try Data(contentsOf: url)
      let other = try VersionedModel(model(entity: "Place"))
      let error = #expect(throws: PersistenceError.self) { try open(other, at: url) }
      #expect(error?.code == .migrationMissingSourceModel)
      #expect(error?.message.contains("Person (1 object)") ?? false, "\(String(describing: error))")
      #expect(try Data(contentsOf: url) == bytes)
      // The remedy that the error names.
      let stored = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
      let both = try #require(
        VersionedModel(versions: [.init("People", stored), other.currentVersion]))
      #expect(try open(both, at: url)?.plan.entities(.removed).map(\.name) == ["Person"])
    }
  }

  @Test func `an entity without objects goes with an edit`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      _ = try open(VersionedModel(model()), at: url)
      #expect(try open(VersionedModel(model(entity: "Place")), at: url)?.backup == nil)
    }
  }

  @Test func `nothing is copied where no object has what goes`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      _ = try open(VersionedModel(model([Attribute("age", .integer16)])), at: url)
      try #expect(open(VersionedModel(model()), at: url)?.backup == nil)
      #expect(try files(in: folder) == ["people.quire"])
    }
  }

  @Test func `the current version of several is edited in place`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      let first = VersionedModel.Version("People 1", try model())
      func history(_ current: ManagedObjectModel) throws -> VersionedModel {
        try #require(VersionedModel(versions: [first, .init("People 2", current)]))
      }
      _ = try open(history(model([Attribute("age", .integer16)])), at: url) { try insert($0) }
      let edited = try model([Attribute("age", .integer16), Attribute("email", .string)])
      let report = try open(history(edited), at: url)
      #expect(report?.plan.sourceVersion == "People 2 (the store's own model)")
    }
  }

  @Test func `a version that is none of those known is refused by name`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      let versions = try [
        VersionedModel.Version("People 1", model()),
        .init("People 2", model([Attribute("age", .integer16)])),
      ]
      _ = try open(#require(VersionedModel(versions: versions)), at: url) { try insert($0) }
      let older = try #require(VersionedModel(versions: [versions[0]]))
      let error = #expect(throws: PersistenceError.self) { try open(older, at: url) }
      #expect(error?.code == .migrationMissingSourceModel)
      #expect(error?.message.contains("People 2") ?? false, "\(String(describing: error))")
      // The remedy that the error names.
      let stored = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
      let both = try #require(
        VersionedModel(versions: [.init("People 2", stored), versions[0]]))
      #expect(try open(both, at: url) != nil)
    }
  }

  @Test func `an edit that cannot be inferred says so, and without inference nothing is migrated`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      _ = try open(VersionedModel(model()), at: url) { try insert($0) }
      let bytes = try Data(contentsOf: url)
      let needy = try VersionedModel(model([Attribute("code", .string, optional: false)]))
      let obstacle = #expect(throws: PersistenceError.self) { try open(needy, at: url) }
      #expect(obstacle?.message.contains("Person.code") ?? false, "\(String(describing: obstacle))")
      var options = PersistentStoreOptions.migrating
      options.infersMappingModel = false
      let edited = try VersionedModel(model([Attribute("age", .integer16)]))
      let refusal = #expect(throws: PersistenceError.self) { try open(edited, at: url, options) }
      #expect(refusal?.code == .migrationMissingMappingModel)
      var plain = PersistentStoreOptions()
      plain.migratesAutomatically = false
      let hash = #expect(throws: PersistenceError.self) { try open(edited, at: url, plain) }
      #expect(hash?.code == .persistentStoreIncompatibleVersionHash)
      #expect(try Data(contentsOf: url) == bytes)
    }
  }

  @Test func `a container opens a store whose model was edited`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      for attributes in [[], [Attribute("age", .integer16)]] {
        let container = PersistentContainer(
          name: "People", managedObjectModel: try model(attributes))
        try container.loadPersistentStore(at: url)
        let context = container.newBackgroundContext()
        try insert(context)
        for store in container.persistentStoreCoordinator.persistentStores {
          try container.persistentStoreCoordinator.remove(store)
        }
      }
    }
  }
}
