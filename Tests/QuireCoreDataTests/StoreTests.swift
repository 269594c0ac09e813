import Foundation
import QuireCoreData
import QuireSimulation
import Testing

@Suite final class StoreTests {
  /// A container as programs subclass it, to say where stores are.
  final class Container: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL {
      URL(fileURLWithPath: "/library-containers")
    }
  }

  private let folder: TemporaryFolder
  private var url: URL { folder.url.appendingPathComponent("library.store") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `a coordinator posts the stores that it adds and removes`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let seen = Seen(.NSPersistentStoreCoordinatorStoresDidChange, of: coordinator)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    #expect(coordinator.persistentStores == [store] && store.url == url)
    #expect(store.type == NSSQLiteStoreType && !store.isReadOnly)
    #expect(coordinator.persistentStore(for: url) == store)
    #expect(store.persistentStoreCoordinator === coordinator)
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty)
    let keys = seen.all.map { $0.userInfo?.keys.map { "\($0)" } ?? [] }
    #expect(keys == [[NSAddedPersistentStoresKey], [NSRemovedPersistentStoresKey]])
  }

  @Test func `metadata are read with and without opening the store`() throws {
    let model = Library.model()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    var metadata = coordinator.metadata(for: store)
    #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
    metadata["Owner"] = "Ada"
    coordinator.setMetadata(metadata, for: store)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    Library.book("Emma", in: context)
    try context.save()
    try coordinator.remove(store)
    let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    #expect(read["Owner"] as? String == "Ada")
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    let other = LedgerModel.version1()
    #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
  }

  @Test func `a store of another version is refused, with Core Data's code`() throws {
    let first = NSPersistentStoreCoordinator(managedObjectModel: LedgerModel.version1())
    let store = try first.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    try first.remove(store)
    let second = NSPersistentStoreCoordinator(managedObjectModel: LedgerModel.version2())
    let error = #expect(throws: NSError.self) {
      try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let binary = #expect(throws: NSError.self) {
      try second.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: url)
    }
    #expect(binary?.domain == NSCocoaErrorDomain)
  }

  @Test func `a mapping model of the coordinator migrates a store that is added`() throws {
    let (old, new) = (LedgerModel.version1(), LedgerModel.version2())
    let first = NSPersistentStoreCoordinator(managedObjectModel: old)
    let store = try first.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = first
    let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
    entry.setValuesForKeys(["amountText": "3 CHF", "date": Date(), "identifier": UUID()])
    try context.save()
    try first.remove(store)
    let second = NSPersistentStoreCoordinator(managedObjectModel: new)
    second.mappingModels = [LedgerMigration.mapping(from: old, to: new)]
    try second.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSMigratePersistentStoresAutomaticallyOption: true])
    let after = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    after.persistentStoreCoordinator = second
    let entries = try after.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry"))
    #expect(entries.map { $0.value(forKey: "amount") as? NSDecimalNumber } == [3])
  }

  @Test func `a mapping is inferred, or there is an error with Core Data's code`() throws {
    let (old, new) = (LedgerModel.version2(), LedgerModel.version3())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: old, destinationModel: new)
    #expect(mapping.entityMappings.contains { $0.destinationEntityName == "Category" })
    let entry = mapping.entityMappings.first { $0.destinationEntityName == "Entry" }
    #expect(entry?.sourceEntityName == "Entry")
    #expect(entry?.attributeMappings?.contains { $0.name == "note" } == true)
    #expect(NSMappingModel(from: [], forSourceModel: old, destinationModel: new) == nil)
  }

  @Test func `a container subclass says where its store is`() throws {
    let container = Container(name: "Library", managedObjectModel: Library.model())
    let description = try #require(container.persistentStoreDescriptions.first)
    #expect(description.url?.lastPathComponent == "Library.quire")
    #expect(description.url?.path.contains("library-containers") == true)
    #expect(
      description.shouldMigrateStoreAutomatically
        && description.shouldInferMappingModelAutomatically)
    description.url = url
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.isReadOnly = false
    var loaded: [String] = []
    container.loadPersistentStores { description, error in
      loaded.append("\(description.url?.lastPathComponent ?? "") \(error == nil)")
    }
    #expect(loaded == ["library.store true"])
    #expect(container.managedObjectModel.entitiesByName.count == 4)
    let token = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    #expect(token != nil)
    let copy = description.copy() as? NSPersistentStoreDescription
    #expect(copy?.url == url && copy !== description)
  }
}
