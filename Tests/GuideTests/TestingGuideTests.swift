import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireTesting
import Testing

@Suite struct TestingGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Author: ManagedObject {
    @Managed var name: String
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
  }
  final class Book: ManagedObject {
    @Managed var title: String = "Untitled"
    @Managed var author: Author?
  }

  /// The page shows tests as they stand in a test target.
  @Suite struct Habits {
    @Test func `deleting an author deletes the books`() throws {
      let context = try ManagedObjectContext.stubbed(for: Author.self, Book.self)
      let author = Author(context: context)
      author.name = "Octavia E. Butler"
      Book(context: context).author = author
      try context.save()

      context.delete(author)
      try context.save()
      #expect(try context.count(Book.self) == 0)
    }
  }

  enum MainStack {
    struct UseAStubbedContext: Error {}

    static func container() throws -> PersistentContainer {
      if isRunningTests { throw UseAStubbedContext() }
      return try PersistentContainer(name: "Library", for: Author.self, Book.self)
    }
  }

  @Test func `the main stack refuses tests`() {
    do {
      _ = try MainStack.container()
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        UseAStubbedContext()
        """)
  }

  @Test func `every shipped version is opened`() throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.url
    let fixtures = MigrationFixtures(in: folder)
    try fixtures.record("1.0", for: Author.self, Book.self) { context in
      let author = Author(context: context)
      author.name = "Ursula K. Le Guin"
      Book(context: context).author = author
    }
    try fixtures.requireFixture(for: Author.self, Book.self)
    try fixtures.check(for: Author.self, Book.self, budget: .seconds(2))
    #expect(temporary.names == ["1.0.quire"])
    do {
      try fixtures.requireFixture(for: Changed.Author.self)
    } catch {
      print("\(error)".replacing(folder.path(), with: "Fixtures"))
    }
    #expect(
      printed.take() == """
        1 failure of the fixtures in “Fixtures”:
          1. the classes have changed, and there is no fixture of what they declare now. From “1.0.quire” to the classes:
               entities: 1 kept, 1 changed, 0 added, 0 removed
               ~ Author
                   + attribute born: integer64
             Record one: fixtures.record("NAME", for: Author.self) { context in … }. If a release has shipped “1.0.quire”, keep that beside it; if none has, record under that name, with replacing: true.
        """)
  }

  enum Changed {
    final class Author: ManagedObject {
      override class var modelEntityName: String { "Author" }
      @Managed var name: String
      @Managed var born: Int?
      @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
    }
    final class Book: ManagedObject {
      override class var modelEntityName: String { "Book" }
      @Managed var title: String = "Untitled"
      @Managed var author: Author?
    }
  }

  @Suite struct Policies {
    typealias NamePolicy = MigrationGuideTests.NamePolicy

    @Test func `a writer's name is split`() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let url = folder.appending(path: "old.quire")
      let old = try ManagedObjectModel {
        Entity("Book") {
          Attribute("name", .string)
          Attribute("writer", .string)
        }
      }
      let new = try ManagedObjectModel {
        Entity("Book") {
          Attribute("title", .string)
          Attribute("firstName", .string)
          Attribute("lastName", .string)
        }
      }
      let before = PersistentContainer(name: "Old", managedObjectModel: old)
      try before.loadPersistentStore(at: url)
      try before.writeAndWait { context in
        let book = try EntityDescription.insertNewObject(forEntityName: "Book", into: context)
        try book.setValue("Ursula Kroeber Le Guin", forKey: "writer")
      }
      try before.close()

      var books = EntityMapping(from: "Book", to: "Book", .customEntityMappingType)
      books.entityMigrationPolicy = NamePolicy.self
      try MigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: url, mapping: MappingModel(entityMappings: [books]), to: url)

      let after = PersistentContainer(name: "New", managedObjectModel: new)
      try after.loadPersistentStore(at: url)
      let context = after.newBackgroundContext()
      let book = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")).first
      #expect(try book?.value(forKey: "firstName") as? String == "Ursula")
      #expect(try book?.value(forKey: "lastName") as? String == "Kroeber Le Guin")
      try after.close()
    }
  }

  @Test func `a store is sound at the end of a test`() async throws {
    let container = try PersistentContainer(name: "Library", for: Author.self)
    try container.loadPersistentStore(at: nil)
    for inspection in try await container.check() {
      #expect(inspection.isSound, "\(inspection.findings)")
    }
  }
}
