import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The fourth seed ("Core Data - the right way"): a subclass of the context that makes its own stack
// from the name of a model and an optional file name; two models and two stores at once.

private final class TTManagedObjectContext: ManagedObjectContext {
  struct NoSuchModel: Error { var name: String }

  static let models: [String: ManagedObjectModel] = [
    "Log": try! ManagedObjectModel {
      Entity("Log") {
        Attribute("message", .string)
        Attribute("priority", .integer32)
      }
    },
    "Characters": try! ManagedObjectModel {
      Entity("SuperHero") {
        Attribute("name", .string)
        Attribute("power", .integer32)
        Attribute("brains", .integer32)
      }
    },
  ]

  /// A file name of `nil` makes a store in memory.
  static func managedObjectContext(
    forManagedObjectModel name: String, andFileName fileName: String?, in folder: URL
  ) throws -> TTManagedObjectContext {
    guard let model = models[name] else { throw NoSuchModel(name: name) }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: fileName == nil ? InMemoryStoreType : SQLiteStoreType, configurationName: nil,
      at: fileName.map { folder.appending(path: $0) })
    let context = TTManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

@Suite struct TwoStacksTests {
  private func fill(
    _ characters: ManagedObjectContext, _ logs: ManagedObjectContext
  ) throws {
    let batman = try EntityDescription.insertNewObject(forEntityName: "SuperHero", into: characters)
    try batman.setValue("Batman", forKey: "name")
    try batman.setValue(3, forKey: "power")
    try batman.setValue(5, forKey: "brains")
    let superman = try EntityDescription.insertNewObject(
      forEntityName: "SuperHero", into: characters)
    try superman.setValue("Superman", forKey: "name")
    try superman.setValue(5, forKey: "power")
    try superman.setValue(1, forKey: "brains")
    let log = try EntityDescription.insertNewObject(forEntityName: "Log", into: logs)
    try log.setValue("Batman wins !!!", forKey: "message")
    try log.setValue(1, forKey: "priority")
    try characters.save()
    try logs.save()
  }

  private func expectContent(
    _ characters: ManagedObjectContext, _ logs: ManagedObjectContext
  ) throws {
    let heroes = try characters.fetch(FetchRequest<ManagedObject>(entityName: "SuperHero"))
    let messages = try logs.fetch(FetchRequest<ManagedObject>(entityName: "Log"))
    #expect(heroes.count == 2)
    #expect(messages.count == 1)
    #expect(try messages.first?.value(forKey: "message") as? String == "Batman wins !!!")
    #expect(try Set(heroes.map { try $0.value(forKey: "brains") as? Int }) == [5, 1])
  }

  @Test func `two models and two stores live side by side in memory`() throws {
    let folder = URL(filePath: "/nowhere")
    let characters = try TTManagedObjectContext.managedObjectContext(
      forManagedObjectModel: "Characters", andFileName: nil, in: folder)
    let logs = try TTManagedObjectContext.managedObjectContext(
      forManagedObjectModel: "Log", andFileName: nil, in: folder)
    try fill(characters, logs)
    try expectContent(characters, logs)
    #expect(EntityDescription.entity(forEntityName: "Log", in: characters) == nil)
    #expect(throws: PersistenceError.self) {
      try EntityDescription.insertNewObject(forEntityName: "Log", into: characters)
    }
  }

  @Test func `with file names there are two files, and reopening them finds the same`() throws {
    try withTemporaryFolder { folder in
      do {
        let characters = try TTManagedObjectContext.managedObjectContext(
          forManagedObjectModel: "Characters", andFileName: "characters.quire", in: folder)
        let logs = try TTManagedObjectContext.managedObjectContext(
          forManagedObjectModel: "Log", andFileName: "log.quire", in: folder)
        try fill(characters, logs)
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted() == [
          "characters.quire", "log.quire",
        ])
      try expectContent(
        TTManagedObjectContext.managedObjectContext(
          forManagedObjectModel: "Characters", andFileName: "characters.quire", in: folder),
        TTManagedObjectContext.managedObjectContext(
          forManagedObjectModel: "Log", andFileName: "log.quire", in: folder))
    }
  }

  @Test func `a bad path is a thrown error`() {
    #expect(throws: PersistenceError.self) {
      try TTManagedObjectContext.managedObjectContext(
        forManagedObjectModel: "Log", andFileName: "no/such/folder/log.quire",
        in: URL(filePath: "/nowhere"))
    }
  }
}
