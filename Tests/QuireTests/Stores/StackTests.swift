import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The application of the first two seeds: its main context refuses to be used by tests, a stubbed
/// one is free.
private enum CoreDataManager {
  struct MainContextInTests: Error {}

  static let managedObjectModel = try! ManagedObjectModel(
    entities: (0..<20).map { number in
      Entity("Entity\(number)") {
        Attribute("name", .string)
        Attribute("number", .integer32, default: 0)
        Attribute("date", .date)
        Relationship("next", toOne: "Entity\((number + 1) % 20)", inverse: "previous")
        Relationship("previous", toMany: "Entity\((number + 19) % 20)", inverse: "next")
      }
    })

  static func mainManagedObjectContext() throws -> ManagedObjectContext {
    if isRunningTests { throw MainContextInTests() }
    return try stubbedManagedObjectContext()
  }

  static func stubbedManagedObjectContext() throws -> ManagedObjectContext {
    let options: PersistentStoreOptions = [
      MigratePersistentStoresAutomaticallyOption: true,
      InferMappingModelAutomaticallyOption: true,
    ]
    let coordinator = PersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    try coordinator.addPersistentStore(
      ofType: InMemoryStoreType, configurationName: nil, at: nil, options: options)
    return GotchaHome.context(of: coordinator)
  }
}

// The second seed ("Stubbed Core Data Contexts").
@Suite struct StackTests {
  @Test func `the main context throws under tests, a stubbed one is free`() throws {
    #expect(isRunningTests)
    #expect(throws: CoreDataManager.MainContextInTests.self) {
      try CoreDataManager.mainManagedObjectContext()
    }
    _ = try CoreDataManager.stubbedManagedObjectContext()
  }

  @Test func `two stubbed stacks share nothing, and make no file`() throws {
    let one = try CoreDataManager.stubbedManagedObjectContext()
    let two = try CoreDataManager.stubbedManagedObjectContext()
    let object = try EntityDescription.insertNewObject(forEntityName: "Entity3", into: one)
    try object.setValue("only here", forKey: "name")
    try one.save()
    #expect(try one.count(for: FetchRequest<ManagedObject>(entityName: "Entity3")) == 1)
    #expect(try two.count(for: FetchRequest<ManagedObject>(entityName: "Entity3")) == 0)
    #expect(two.object(with: object.objectID) == nil)
    let store = try #require(one.persistentStoreCoordinator?.persistentStores.first)
    #expect(store.url == nil && store.statistics.fileByteCount == 0)
  }

  @Test func `stacks that were dropped leave nothing behind`() throws {
    final class Weak {
      weak var context: ManagedObjectContext?
      weak var coordinator: PersistentStoreCoordinator?
      weak var store: PersistentStore?
      weak var object: ManagedObject?
    }
    func stack() throws -> Weak {
      let context = try CoreDataManager.stubbedManagedObjectContext()
      let first = try EntityDescription.insertNewObject(forEntityName: "Entity0", into: context)
      let second = try EntityDescription.insertNewObject(forEntityName: "Entity1", into: context)
      try first.setValue(second, forKey: "next")
      try context.save()
      _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Entity0"))
      // Unsaved changes hold each other and are held by the context: that must not keep any of
      // them.
      try second.setValue(nil, forKey: "previous")
      try second.setValue(Set([first]) as Set<ManagedObject>, forKey: "previous")
      let weak = Weak()
      weak.context = context
      weak.coordinator = context.persistentStoreCoordinator
      weak.store = context.persistentStoreCoordinator?.persistentStores.first
      weak.object = first
      #expect(weak.store != nil)
      return weak
    }
    for _ in 0..<100 {
      let weak = try stack()
      #expect(weak.context == nil && weak.coordinator == nil)
      #expect(weak.store == nil && weak.object == nil)
    }
  }
}
