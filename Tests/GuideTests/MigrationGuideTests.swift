import Foundation
import Quire
import QuireModel
import QuireSimulation
import Testing

@Suite struct MigrationGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  enum One {
    final class Book: ManagedObject {
      @Managed var name: String
      @Managed var price: Int16 = 0
      @Managed var writer: String?
    }
  }

  final class Book: ManagedObject {
    override class var modelEntityName: String { "Book" }
    @Managed(renamedFrom: "name") var title: String
    @Managed var price: Double = 0
    @Managed var writer: String?
    @Managed var pages: Int?
  }

  private let folder = try! TemporaryFolder()
  private var url: URL { folder.url.appending(path: "library.quire") }

  init() throws {
    let container = try PersistentContainer(name: "Library", for: One.Book.self)
    try container.loadPersistentStore(at: url)
    try container.writeAndWait { context in
      let book = One.Book(context: context)
      (book.name, book.price, book.writer) = ("Kindred", 10, "Octavia Butler")
    }
    try container.close()
  }

  @Test func `a store of the version before is opened`() throws {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    let store = try container.loadPersistentStore(at: url)
    for book in try container.newBackgroundContext().fetch(Book.fetchRequest()) {
      print(book.title, book.price, book.pages ?? "unknown")
    }
    #expect(
      printed.take() == """
        Kindred 10.0 unknown
        """)
    #expect(store.migrationReport?.backup == nil)
    try container.close()
  }

  @Test func `an older program does not take values from a newer store`() throws {
    let new = try PersistentContainer(name: "Library", for: Book.self)
    try new.loadPersistentStore(at: url)
    try new.writeAndWait { context in
      for book in try context.fetch(Book.fetchRequest()) { (book.pages, book.price) = (287, 10) }
    }
    try new.close()
    let old = try PersistentContainer(name: "Library", for: One.Book.self)
    let error = #expect(throws: PersistenceError.self) { try old.loadPersistentStore(at: url) }
    #expect(error?.code.rawValue == 134130)
    #expect(error?.message.contains("would drop Book.pages") ?? false)
    try old.close()
    try new.loadPersistentStore(at: url)
    let books = try new.newBackgroundContext().fetch(Book.fetchRequest())
    #expect(books.map(\.pages) == [287])
    try new.close()
  }

  @Test func `a plan says what would happen`() throws {
    let model = VersionedModel(try ManagedObjectModel(for: Book.self))
    if let plan = try MigrationPlan.plan(forStoreAt: url, to: model) { print(plan) }
    #expect(
      printed.take() == """
        Model (the store's own model) → Model

                     entity  rows  bytes    about  changes
          rewritten  Book       1  4,096  <0.1 ms  + pages, name → title

          Book.price: integer16 → double, widening: every number fits

        To write: 1 row, 0 links, 4,096 bytes; about 2.0 ms.
        """)
  }

  @Test func `a copy is made before a migration`() throws {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions.migrating
    options.migrationBackup = .beside
    let store = try container.loadPersistentStore(at: url, options: options)
    #expect(store.migrationReport?.backup?.lastPathComponent == "library.quire~")
    try container.close()
  }

  enum Refused {
    final class Book: ManagedObject {
      override class var modelEntityName: String { "Book" }
      @Managed(renamedFrom: "name") var title: String
      @Managed var price: String = ""
      @Managed var writer: String?
    }
  }

  @Test func `a change from a number to a text is refused, and the error says what to do`() throws {
    let container = try PersistentContainer(name: "Library", for: Refused.Book.self)
    do {
      try container.loadPersistentStore(at: url)
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        error 134190: the mapping from Model (the store's own model) to Model cannot be inferred:
          Book.price changed its type from integer16 to string: keep the type and add an attribute of type string under another name, or write a mapping that converts the values
        """)
  }

  enum Numbered {
    final class Book: ManagedObject {
      override class var modelEntityName: String { "Book" }
      @Managed(renamedFrom: "name") var title: String
      @Managed(.unique) var number: UUID = UUID()
    }
  }

  private func addMoreBooks() throws {
    let container = try PersistentContainer(name: "Library", for: One.Book.self)
    try container.loadPersistentStore(at: url)
    try container.writeAndWait { context in
      for name in ["Kindred II", "Kindred III"] { One.Book(context: context).name = name }
    }
    try container.close()
  }

  @Test func `a new value that is another for each object is refused with advice`() throws {
    let container = try PersistentContainer(name: "Library", for: Numbered.Book.self)
    let error = #expect(throws: PersistenceError.self) {
      try container.loadPersistentStore(at: url)
    }
    let message = error?.message ?? ""
    #expect(message.contains("Book.number is new and required, and the model has no default value"))
    #expect(message.contains("UUID() or Date() is made for each new object alone"))
    #expect(message.contains("under “A value for each object”"))
    #expect(try Page.guide("migration").lines.contains("## A value for each object"))
  }

  @Test func `each object gets a value of its own`() throws {
    try addMoreBooks()
    // Twice: the second time there is nothing to do.
    for _ in 1...2 {
      var options = PersistentStoreOptions.migrating
      let new = try ManagedObjectModel(for: Numbered.Book.self)
      if let old = try? PersistentStoreCoordinator.managedObjectModel(storedAt: url),
        old.entity(named: "Book")?.attribute(named: "number") == nil
      {
        var mapping = try MappingModel.inferredMappingModel(
          forSourceModel: old, destinationModel: new)
        for index in mapping.entityMappings.indices
        where mapping.entityMappings[index].destinationEntityName == "Book" {
          mapping.entityMappings[index].attributeMappings.removeAll { $0.name == "number" }
          mapping.entityMappings[index].attributeMappings.append(
            PropertyMapping("number") { _ in UUID() })
        }
        options.mappingModels = [mapping]
      }
      let container = try PersistentContainer(name: "Library", for: Numbered.Book.self)
      try container.loadPersistentStore(at: url, options: options)
      let books = try container.newBackgroundContext().fetch(Numbered.Book.fetchRequest())
      print(books.count, Set(books.map(\.number)).count)
      #expect(
        printed.take() == """
          3 3
          """)
      try container.close()
    }
  }

  enum Three {
    final class Book: ManagedObject {
      override class var modelEntityName: String { "Book" }
      @Managed var title: String
      @Managed var firstName: String?
      @Managed var lastName: String?
    }
  }

  final class NamePolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource book: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: book, in: mapping, manager: manager)
      let names = (try book.value(forKey: "writer") as? String ?? "").split(separator: " ")
      let made = try manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [book])
      try made.first?.setValue(names.first.map { String($0) }, forKey: "firstName")
      try made.first?.setValue(names.dropFirst().joined(separator: " "), forKey: "lastName")
    }
  }

  @Test func `a policy makes the new objects`() throws {
    let old = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
    let new = try ManagedObjectModel(for: Three.Book.self)

    var books = EntityMapping(from: "Book", to: "Book", .customEntityMappingType)
    books.attributeMappings = [PropertyMapping("title", source: "name")]
    books.entityMigrationPolicy = NamePolicy.self

    let manager = MigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
      from: url, mapping: MappingModel(entityMappings: [books]), to: url)

    let container = try PersistentContainer(name: "Library", for: Three.Book.self)
    try container.loadPersistentStore(at: url)
    for book in try container.newBackgroundContext().fetch(Three.Book.fetchRequest()) {
      print(book.title, book.firstName ?? "", book.lastName ?? "")
    }
    #expect(
      printed.take() == """
        Kindred Octavia Butler
        """)
    try container.close()
  }

  @Test func `a large store is opened now and finished later`() async throws {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    try container.loadPersistentStore(at: url, options: .deferring)
    // … the program runs; when there is time:
    let coordinator = container.persistentStoreCoordinator
    while try coordinator.finishDeferredMigration(for: .milliseconds(5)) { await Task.yield() }
    try container.close()
    #expect(try StoreSummary(of: url).deferredMigration == nil)
  }
}
