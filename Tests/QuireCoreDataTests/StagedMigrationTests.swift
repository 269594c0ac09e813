import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// A directory of people in three versions: one text for the name, two texts, and a required one.
private enum People {
  static func model(_ names: [(String, isOptional: Bool)]) -> NSManagedObjectModel {
    let person = NSEntityDescription()
    person.name = "Person"
    person.managedObjectClassName = "NSManagedObject"
    person.properties = names.map { name, isOptional in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      attribute.isOptional = isOptional
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  static func one() -> NSManagedObjectModel { model([("name", true)]) }
  static func two() -> NSManagedObjectModel {
    model([("name", true), ("first", true), ("last", true)])
  }
  static func three() -> NSManagedObjectModel { model([("first", true), ("last", false)]) }
}

@Suite final class StagedMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appendingPathComponent("people.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = [:]
  ) throws -> NSManagedObjectContext {
    var options = options
    options[NSMigratePersistentStoresAutomaticallyOption] = true
    options[NSInferMappingModelAutomaticallyOption] = true
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func close(_ context: NSManagedObjectContext) throws {
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// A store of the first version.
  private func fill(_ names: [String]) throws {
    let context = try open(People.one())
    for name in names {
      NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        .setValue(name, forKey: "name")
    }
    try context.save()
    try close(context)
  }

  private func people(_ context: NSManagedObjectContext) throws -> [String] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
      "\($0.value(forKey: "first") ?? "-") \($0.value(forKey: "last") ?? "-")"
    }.sorted()
  }

  private func splitting(
    _ one: NSManagedObjectModel, _ two: NSManagedObjectModel
  ) -> NSCustomMigrationStage {
    let first = NSManagedObjectModelReference(model: one, versionChecksum: one.versionChecksum)
    let second = NSManagedObjectModelReference(model: two, versionChecksum: two.versionChecksum)
    let split = NSCustomMigrationStage(migratingFrom: first, to: second)
    split.label = "Split names"
    split.didMigrateHandler = { manager, _ in
      let context = manager.container!.newBackgroundContext()
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        for person in try context.fetch(request) {
          let words = (person.value(forKey: "name") as? String ?? "").split(separator: " ")
          person.setValue(words.first.map(String.init), forKey: "first")
          person.setValue(words.dropFirst().last.map(String.init), forKey: "last")
        }
        try context.save()
      }
    }
    return split
  }

  @Test func `handlers see the store before and after their stage`() throws {
    try fill(["Ada Lovelace", "Sappho"])
    let (one, two, three) = (People.one(), People.two(), People.three())
    let require = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        model: two, versionChecksum: two.versionChecksum),
      to: NSManagedObjectModelReference(model: three, versionChecksum: three.versionChecksum))
    var labels: [String?] = []
    require.willMigrateHandler = { manager, stage in
      labels.append(stage.label)
      let context = manager.container!.newBackgroundContext()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "last == nil")
      for person in try context.fetch(request) { person.setValue("none", forKey: "last") }
      try context.save()
    }
    require.label = "Require last names"
    let manager = NSStagedMigrationManager([splitting(one, two), require])
    let context = try open(
      three, [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
    #expect(try people(context) == ["Ada Lovelace", "Sappho none"])
    #expect(labels == ["Require last names"] && manager.container == nil)
    try close(context)
  }

  @Test func `a container takes the manager in its description`() throws {
    try fill(["Ada Lovelace"])
    let (one, two) = (People.one(), People.two())
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(
      NSStagedMigrationManager([splitting(one, two)]),
      forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    let container = NSPersistentContainer(name: "People", managedObjectModel: two)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    #expect(try people(context) == ["Ada Lovelace"])
    try close(context)
  }

  @Test func `an error of a handler leaves the store as it was`() throws {
    try fill(["Ada Lovelace"])
    let before = try Data(contentsOf: url)
    let (one, two) = (People.one(), People.two())
    let stage = splitting(one, two)
    let split = stage.didMigrateHandler
    stage.didMigrateHandler = { manager, stage in
      try split?(manager, stage)
      throw CocoaError(.userCancelled)
    }
    let error = #expect(throws: (any Error).self) {
      try open(
        two,
        [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage])])
    }
    #expect((error as? CocoaError)?.code == .userCancelled, "\(String(describing: error))")
    #expect(try Data(contentsOf: url) == before)
    let context = try open(one)
    #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
    try close(context)
  }

  @Test func `versions between are given by their checksums`() throws {
    try fill(["Ada Lovelace"])
    let (one, two) = (People.one(), People.two())
    let stage = NSLightweightMigrationStage([one.versionChecksum, two.versionChecksum])
    let context = try open(
      two, [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage])])
    #expect(try people(context) == ["- -"])
    try close(context)
  }

  @Test func `a version that was edited, and one that is not there, are errors with their codes`()
    throws
  {
    try fill([])
    let (one, two) = (People.one(), People.two())
    let right = NSManagedObjectModelReference(model: one, versionChecksum: one.versionChecksum)
    for wrong in [
      NSManagedObjectModelReference(model: two, versionChecksum: one.versionChecksum),
      NSManagedObjectModelReference(name: "No such", in: nil, versionChecksum: "0"),
      NSManagedObjectModelReference(fileURL: url, versionChecksum: "0"),
      NSManagedObjectModelReference(
        entityVersionHashes: [:], in: nil, versionChecksum: two.versionChecksum),
    ] {
      let stage = NSCustomMigrationStage(migratingFrom: right, to: wrong)
      let error = #expect(throws: NSError.self) {
        try open(
          two,
          [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage])])
      }
      #expect(error?.domain == NSCocoaErrorDomain)
      #expect(
        error?.code == NSManagedObjectModelReferenceNotFoundError, "\(String(describing: error))")
    }
  }

  @Test func `a version is found among the resources by its name and by its hashes`() throws {
    let model = try #require(NSManagedObjectModel.mergedModel(from: [Bundle.module]))
    let named = NSManagedObjectModelReference(
      name: "Trips", in: Bundle.module, versionChecksum: model.versionChecksum)
    #expect(named.resolvedModel.versionChecksum == model.versionChecksum)
    let hashed = NSManagedObjectModelReference(
      entityVersionHashes: model.entityVersionHashesByName, in: Bundle.module,
      versionChecksum: model.versionChecksum)
    #expect(hashed.resolvedModel.entitiesByName.keys == model.entitiesByName.keys)
    let url = try #require(Bundle.module.url(forResource: "Trips", withExtension: "xcdatamodeld"))
    let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: url)
    #expect(checksums == ["Trips": model.versionChecksum])
  }

  @Test func `the version of a store is found by what the store says about itself`() throws {
    try fill([])
    let metadata = try NSPersistentStore.metadataForPersistentStore(with: url)
    let (one, two) = (People.one(), People.two())
    let found = NSManagedObjectModel(byMerging: [two, one], forStoreMetadata: metadata)
    #expect(found?.versionChecksum == one.versionChecksum)
    #expect(NSManagedObjectModel(byMerging: [two], forStoreMetadata: metadata) == nil)
    let bundles = [Bundle.module]
    #expect(NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata) == nil)
    let trips = try #require(NSManagedObjectModel.mergedModel(from: bundles))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: trips)
    let file = folder.url.appendingPathComponent("trips.store")
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: file))
    let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: file)
    let known = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: stored)
    #expect(known?.versionChecksum == trips.versionChecksum)
  }

  @Test func `stores are added, moved and removed by their types`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: People.one())
    let store = try coordinator.addPersistentStore(type: .inMemory, at: url)
    #expect(store.type == NSInMemoryStoreType)
    let moved = try coordinator.migratePersistentStore(store, to: url, type: .sqlite)
    #expect(moved.url == url && coordinator.persistentStores == [moved])
    try coordinator.remove(moved)
    try NSPersistentStoreCoordinator.setMetadata(["Owner": "Ada"], type: .sqlite, at: url)
    let metadata = try NSPersistentStore.metadataForPersistentStore(with: url)
    #expect(metadata["Owner"] as? String == "Ada")
    let copy = folder.url.appendingPathComponent("copy.store")
    try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
    try coordinator.destroyPersistentStore(at: url, type: .sqlite)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    #expect(FileManager.default.fileExists(atPath: copy.path))
    #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .xml, at: url) }
  }

  @Test func `settings of SQLite are those of the description`() throws {
    let description = NSPersistentStoreDescription(url: url)
    #expect(description.sqlitePragmas.isEmpty)
    description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
    #expect(description.sqlitePragmas["synchronous"] == "NORMAL" as NSString)
    let container = NSPersistentContainer(name: "People", managedObjectModel: People.one())
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  @Test func `a deferred migration is finished in steps`() throws {
    try fill(["Ada", "Sappho"])
    let context = try open(
      People.two(), [NSPersistentStoreDeferredLightweightMigrationOptionKey: true])
    let coordinator = try #require(context.persistentStoreCoordinator)
    let left = try coordinator.quireCoordinator.persistentStores.first?.deferredMigration()
    #expect(left?.objectCount == 2)
    while try coordinator.finishDeferredLightweightMigrationTask() {}
    #expect(
      try coordinator.quireCoordinator.persistentStores.first?.deferredMigration() == nil)
    try coordinator.finishDeferredLightweightMigration()
    try close(context)
  }
}
