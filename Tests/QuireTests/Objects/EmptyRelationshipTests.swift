import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Saves of objects whose required to-many relationships were empty, which is how most objects of
/// real stores are, failed with 1570, and so did migrations through objects.
@Suite struct EmptyRelationshipTests {
  /// - Parameter isRequired: whether the shelf must say something about its books.
  private func model(
    _ count: ClosedRange<Int>, isRequired: Bool = true, isOrdered: Bool = false,
    hasLabel: Bool = false
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Shelf") {
        Attribute("number", .integer32)
        if hasLabel { Attribute("label", .string) }
        Relationship(
          "books", toMany: "Book", inverse: "shelf", ordered: isOrdered, count: count,
          optional: !isRequired)
      }
      Entity("Book") { Relationship("shelf", toOne: "Shelf", inverse: "books") }
    }
  }

  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a required to-many relationship may be empty`(_ home: GotchaHome, _ isOrdered: Bool) throws
  {
    try home.withContext(model(0...Int.max, isOrdered: isOrdered), classes: []) { context in
      let shelf = try context.insert("Shelf")
      try context.save()
      let book = try context.insert("Book", ["shelf": shelf])
      try context.save()
      try book.setValue(nil, forKey: "shelf")
      try context.save()
      var nothing: Any? = isOrdered ? [ManagedObject]() as Any : Set<ManagedObject>() as Any
      try shelf.validateValue(&nothing, forKey: "books")
      nothing = nil
      try shelf.validateValue(&nothing, forKey: "books")
      try shelf.setValue(1, forKey: "number")
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a smallest count above 0 is what forbids it, unless the relationship is optional`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(model(1...3), classes: []) { context in
      let shelf = try context.insert("Shelf")
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipLacksMinimumCount && error?.key == "books")
      try context.insert("Book", ["shelf": shelf])
      try context.save()
    }
    try home.withContext(model(1...3, isRequired: false), classes: []) { context in
      try context.insert("Shelf")
      try context.save()
    }
    // A largest count alone forbids nothing that is empty.
    try home.withContext(model(0...3), classes: []) { context in
      let shelf = try context.insert("Shelf")
      try context.save()
      for _ in 0..<4 { try context.insert("Book", ["shelf": shelf]) }
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipExceedsMaximumCount)
    }
  }

  @Test func `a migration through objects takes it as a save does`() throws {
    let old = try model(0...Int.max, isRequired: false)
    func migrate(to new: ManagedObjectModel) throws {
      try withTemporaryFolder { folder in
        let (source, target) = (folder.appending(path: "old"), folder.appending(path: "new"))
        let coordinator = PersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .quire, at: source)
        let context = GotchaHome.context(of: coordinator)
        let shelf = try context.insert("Shelf", ["number": 1])
        try context.insert("Shelf", ["number": 2])
        try context.insert("Book", ["shelf": shelf])
        try context.save()
        try coordinator.remove(store)
        var mapping = try MappingModel.inferredMappingModel(
          forSourceModel: old, destinationModel: new)
        for index in mapping.entityMappings.indices {
          mapping.entityMappings[index].userInfo["edited"] = "yes"
        }
        try MigrationManager(sourceModel: old, destinationModel: new)
          .migrateStore(from: source, mapping: mapping, to: target)
      }
    }
    try migrate(to: model(0...Int.max, hasLabel: true))
    let error = #expect(throws: PersistenceError.self) {
      try migrate(to: model(1...3, hasLabel: true))
    }
    #expect(error?.code == .validationRelationshipLacksMinimumCount)
  }

  /// A class as applications write them.
  private final class Reader: ManagedObject {}

  /// A store knows no transient values, and an object without one could not be saved again: 1570.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a required transient attribute with a default is valid on objects read from a store`(
    _ home: GotchaHome, _ hasClass: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Reader") {
        Attribute("name", .string)
        Attribute("mood", .integer16, optional: false, default: 3, transient: true, range: 1...5)
        Attribute("note", .string, optional: false, default: "none", transient: true)
        Attribute("guess", .string, default: "unused", transient: true)
        Attribute("free", .string, transient: true)
      }
    }
    try home.withContext(model, classes: hasClass ? [Reader.self] : []) { context in
      try context.insert("Reader", ["name": "a"])
      try context.save()
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      let request = FetchRequest<ManagedObject>(entityName: "Reader")
      let reader = try #require(try other.fetch(request).first)
      #expect(try reader.value(forKey: "mood") as? Int == 3)
      #expect(try reader.value(forKey: "note") as? String == "none")
      // What may be missing is missing, as no store has it.
      #expect(try reader.value(forKey: "guess") == nil && reader.value(forKey: "free") == nil)
      #expect(!reader.hasChanges && reader.changedValues().isEmpty)
      try reader.setValue("b", forKey: "name")
      try other.save()
      other.refresh(reader, mergeChanges: false)
      #expect(try reader.value(forKey: "mood") as? Int == 3)
      // Taken away on purpose, or out of its limits, it is missing and wrong as ever.
      try reader.setValue(nil, forKey: "note")
      try reader.setValue(9, forKey: "mood")
      try reader.setValue("c", forKey: "name")
      let error = #expect(throws: PersistenceError.self) { try other.save() }
      #expect(error?.detailedErrors.map(\.code.rawValue).sorted() == [1570, 1610])
    }
  }
}
