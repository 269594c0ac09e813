import Foundation
import Quire
import QuireCoreData
import Testing

/// One typed property that an earlier version of the model lacks kept the whole store closed, so
/// that no test of a migration could open a store of that version with the classes of today.
@Suite struct ClassesOfTodayTests {
  final class Memo: NSManagedObject {
    @QuireCoreData.Managed var text: String?
    @QuireCoreData.Managed var stars: Int
    @QuireCoreData.Managed var size: String?
    @QuireCoreData.Managed var parts: Set<Memo>
  }

  private static func model() -> NSManagedObjectModel {
    let (entity, size, text) = (
      NSEntityDescription(), NSAttributeDescription(), NSAttributeDescription()
    )
    entity.name = "Memo"
    entity.managedObjectClassName = "Memo"
    (text.name, text.attributeType) = ("text", .stringAttributeType)
    (size.name, size.attributeType) = ("size", .integer64AttributeType)
    size.defaultValue = 7
    let (parts, whole) = (NSRelationshipDescription(), NSRelationshipDescription())
    (parts.name, parts.destinationEntity, parts.maxCount) = ("parts", entity, 0)
    (whole.name, whole.destinationEntity, whole.maxCount) = ("whole", entity, 1)
    (parts.inverseRelationship, whole.inverseRelationship) = (whole, parts)
    parts.isOrdered = true
    entity.properties = [text, size, parts, whole]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func context() throws -> NSManagedObjectContext {
    NSManagedObject.register(Memo.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `a store of another version than the class is opened, and saved to`() throws {
    let context = try context()
    Memo(context: context).text = "a"
    try context.save()
    context.reset()
    #expect(try context.fetch(NSFetchRequest<Memo>(entityName: "Memo")).map(\.text) == ["a"])
    let coordinator = try #require(context.persistentStoreCoordinator?.quireCoordinator)
    let error = #expect(throws: PersistenceError.self) { try coordinator.checkClasses() }
    #expect(error?.detailedErrors.compactMap(\.key).sorted() == ["parts", "size", "stars"])
  }

  @Test func `a property that differs is an error of its use`() throws {
    let context = try context()
    let memo = Memo(context: context)
    func isTold(_ words: String, _ use: () -> Void) {
      use()
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.localizedDescription.contains(words) == true)
    }
    isTold("stars") { #expect(memo.stars == 0) }
    isTold("stars") { memo.stars = 3 }
    isTold("size") { #expect(memo.size == nil) }
    isTold("size") { memo.size = "large" }
    isTold("declare it as an array") { memo.parts = [Memo(context: context)] }
    try context.save()
    #expect(memo.value(forKey: "size") as? Int == 7)
  }

  @Test func `Quire's coordinator refuses such a class, or opens the store by an option`() throws {
    final class Memo: ManagedObject { @QuireCoreData.Managed var stars: Int }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Self.model().resolved(), classes: [Memo.self])
    #expect(throws: PersistenceError.self) {
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
    }
    var options = PersistentStoreOptions()
    options.reportsClassDifferencesAtUse = true
    try coordinator.addPersistentStore(type: .inMemory, at: nil, options: options)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let memo = Memo(context: context)
    #expect(throws: PersistenceError.self) { try memo.value(of: \.stars) }
    try context.save()
  }

  @Test func `a default value other than the model's is refused despite the option`() throws {
    final class Memo: ManagedObject { @QuireCoreData.Managed var size: Int = 8 }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Self.model().resolved(), classes: [Memo.self])
    var options = PersistentStoreOptions()
    options.reportsClassDifferencesAtUse = true
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.addPersistentStore(type: .inMemory, at: nil, options: options)
    }
    #expect(error?.detailedErrors.compactMap(\.key) == ["size"])
  }
}
