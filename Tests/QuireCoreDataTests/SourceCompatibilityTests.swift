import Foundation
import QuireCoreData
import QuireSimulation
import Testing

// Source text as programs for Core Data have it: that this file compiles is most of the test.

/// A class as Xcode writes it, with a function that has the name of an inherited one.
final class Magazine: NSManagedObject {
  @Managed var title: String?
  @Managed var issues: Int64
}

extension Magazine {
  class func fetchRequest() -> NSFetchRequest<Magazine> {
    NSFetchRequest<Magazine>(entityName: "Magazine")
  }
}

/// Half of all programs have a protocol like this one; `entityName` was a member of each class.
protocol Named: NSManagedObject {
  static var entityName: String { get }
}

extension Named {
  static var entityName: String { String(describing: self) }
  static func all() -> NSFetchRequest<Self> { NSFetchRequest(entityName: entityName) }
}

extension Magazine: Named {}

final class Leaflet: NSManagedObject, Named {
  static var entityName: String { "Magazine" }
}

/// objc.io's name for the protocol of managed classes.
enum Helpers {
  protocol Managed: NSManagedObject {}
}

final class Poster: NSManagedObject, Helpers.Managed {
  @QuireCoreData.Managed var title: String?
}

extension NSPersistentStoreCoordinator {
  static func make(_ model: NSManagedObjectModel) -> Self { self.init(managedObjectModel: model) }
}

func makeObject<Object: NSManagedObject>(
  _ type: Object.Type, _ entity: NSEntityDescription, _ context: NSManagedObjectContext
) -> Object {
  Object(entity: entity, insertInto: context)
}

@Suite struct SourceCompatibilityTests {
  private let context: NSManagedObjectContext
  private let entity = NSEntityDescription()

  init() throws {
    let (title, issues) = (NSAttributeDescription(), NSAttributeDescription())
    (title.name, title.attributeType) = ("title", .stringAttributeType)
    (issues.name, issues.attributeType) = ("issues", .integer64AttributeType)
    issues.defaultValue = 0
    entity.name = "Magazine"
    entity.managedObjectClassName = "Magazine"
    entity.properties = [title, issues]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator.make(model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  @Test func `the request that Xcode writes into a class is the one that is taken`() throws {
    makeObject(Magazine.self, entity, context).title = "Nature"
    let request = Magazine.fetchRequest()
    request.fetchLimit = 1
    #expect(try context.fetch(request).map(\.title) == ["Nature"])
    #expect(try context.count(for: Magazine.fetchRequest()) == 1)
    let erased: NSFetchRequest<NSFetchRequestResult> = Poster.fetchRequest()
    #expect(erased.entityName == "Poster")
  }

  @Test func `a program's own entityName is its own`() throws {
    makeObject(Magazine.self, entity, context).title = "Nature"
    #expect(Magazine.entityName == "Magazine" && Leaflet.entityName == "Magazine")
    #expect(try context.fetch(Magazine.all()).count == 1)
  }

  @Test func `undo and redo are called without try`() throws {
    let manager = UndoManager()
    context.undoManager = manager
    #expect(context.undoManager === manager)
    let magazine = makeObject(Magazine.self, entity, context)
    context.processPendingChanges()
    manager.beginUndoGrouping()
    magazine.title = "Nature"
    manager.setActionName("Name")
    manager.endUndoGrouping()
    #expect(manager.canUndo && manager.undoActionName == "Name")
    context.undoManager?.undo()
    #expect(magazine.title == nil && manager.canRedo)
    context.undoManager?.redo()
    #expect(magazine.title == "Nature")
    manager.undoNestedGroup()
    #expect(magazine.title == nil)
    var count = 0
    manager.registerUndo(withTarget: magazine) { _ in count += 1 }
    manager.undo()
    #expect(count == 1)
    context.undoManager = nil
    #expect(context.undoManager == nil)
  }

  @Test func `names that programs use are there`() throws {
    let path = NSExpression(forKeyPath: \Magazine.issues)
    #expect(path.keyPath == "issues")
    let property = try #require(entity.propertiesByName["title"])
    #expect(property.entity.name == "Magazine")
    let object = makeObject(Magazine.self, entity, context)
    #expect(object.objectID.entity == Magazine.entity())
    #expect(entity == object.objectID.entity)
    #expect(NSExpression(forVariable: NSMigrationSourceObjectKey).description == "$source")
    #expect(NSValidationInvalidURIError == 1690)
    #expect(NSSQLiteErrorDomain == "NSSQLiteErrorDomain")
    #expect(
      [NSValidationPredicateErrorKey, NSAffectedStoresErrorKey]
        == ["NSValidationErrorPredicate", "NSAffectedStoresErrorKey"])
    #expect(NSUUIDChangedPersistentStoresKey == "changed")
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let removals = Seen(.NSPersistentStoreCoordinatorWillRemoveStore, of: store)
    try coordinator.remove(store)
    #expect(removals.all.count == 1)
  }

  @Test func `a migration is called by its newer spelling`() throws {
    let folder = try TemporaryFolder()
    let urls = ["a.store", "b.store"].map { folder.url.appendingPathComponent($0) }
    let model = Library.model()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(
      try coordinator.addPersistentStore(type: .sqlite, at: urls[0]))
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    try manager.migrateStore(
      from: urls[0], type: .sqlite, mapping: mapping, to: urls[1], type: .sqlite)
    try coordinator.addPersistentStore(type: .sqlite, at: urls[1])
  }
}
