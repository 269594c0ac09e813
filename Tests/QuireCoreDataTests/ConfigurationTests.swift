import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// A store of all entities was refused under one of the model's configurations: error 134100. Core
/// Data compares the entities of the configuration alone, and its stores have the tables of all.
@Suite struct ConfigurationTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.path).appendingPathComponent("Notes.quire")
  }

  private func model(noteHas names: String...) -> NSManagedObjectModel {
    func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = attributes.map {
        let attribute = NSAttributeDescription()
        attribute.name = $0
        attribute.attributeType = .stringAttributeType
        return attribute
      }
      return entity
    }
    let model = NSManagedObjectModel()
    model.entities = [entity("Note", names), entity("Page", ["text"])]
    model.setEntities([model.entities[0]], forConfigurationName: "Notes")
    model.setEntities([model.entities[1]], forConfigurationName: "Pages")
    return model
  }

  private func with(
    _ model: NSManagedObjectModel, _ configuration: String?,
    _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: configuration, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try body(context)
    try coordinator.remove(store)
  }

  private func open(_ model: NSManagedObjectModel, _ configuration: String?) throws {
    try with(model, configuration) { _ in }
  }

  private func insert(_ entity: String, _ text: String, _ context: NSManagedObjectContext) throws {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      .setValue(text, forKey: "text")
    try context.save()
  }

  private func texts(_ entity: String, _ context: NSManagedObjectContext) throws -> [String] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      .compactMap { $0.value(forKey: "text") as? String }.sorted()
  }

  @Test func `a store of the whole model is opened under each of its configurations`() throws {
    let model = model(noteHas: "text")
    try with(model, nil) { context throws in
      try insert("Note", "n", context)
      try insert("Page", "p", context)
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    #expect(model.isConfiguration(withName: "Notes", compatibleWithStoreMetadata: metadata))
    try with(model, "Notes") { context throws in
      #expect(try texts("Note", context) == ["n"])
      try insert("Note", "m", context)
      #expect(throws: (any Error).self) { try insert("Page", "q", context) }
    }
    try with(model, nil) { context throws in
      #expect(try texts("Note", context) == ["m", "n"])
      #expect(try texts("Page", context) == ["p"])
    }
  }

  @Test func `it is migrated as a whole, and keeps the objects of other configurations`() throws {
    try with(model(noteHas: "text"), nil) { context throws in
      try insert("Note", "n", context)
      try insert("Page", "p", context)
    }
    let next = model(noteHas: "text", "title")
    // The versions of the model that the program knows: the store's own is read in the store.
    try with(next, "Notes") { context throws in #expect(try texts("Note", context) == ["n"]) }
    try with(next, nil) { context throws in
      #expect(try texts("Note", context) == ["n"])
      #expect(try texts("Page", context) == ["p"])
    }
  }

  @Test func `a store of one configuration is none of another, and not of all entities`() throws {
    let model = model(noteHas: "text")
    try with(model, "Notes") { context in try insert("Note", "n", context) }
    for name in ["Pages", nil] {
      let error = #expect(throws: CocoaError.self) { try open(model, name) }
      #expect(error?.errorCode == NSPersistentStoreIncompatibleVersionHashError)
    }
    try with(model, "Notes") { context throws in #expect(try texts("Note", context) == ["n"]) }
  }
}
