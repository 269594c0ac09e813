import Quire
import Testing

// `@Managed var author: Author` did not compile, and the compiler spoke of a conformance. Code that
// is written for Core Data declares required relationships so.
@Suite struct RequiredDestinationTests {
  private static let model = try! ManagedObjectModel {
    Entity("Author") {
      Attribute("name", .string, default: "unknown")
      Attribute("born", .integer16)
      Relationship("books", toMany: "Book", inverse: "author")
      Relationship("agent", toOne: "Author")
    }
    Entity("Book") {
      Attribute("title", .string)
      Attribute("words", .transformable)
      Relationship("author", toOne: "Author", inverse: "books", optional: false)
    }
  }

  final class Author: ManagedObject {
    @Managed var name: String
    @Managed var born: Int16
    @Managed var books: Set<Book>
    @Managed var agent: Author
  }

  final class Book: ManagedObject {
    @Managed var title: String?
    @Managed var words: [String: Int]
    @Managed var author: Author
  }

  private func open() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(Self.model, classes: [Author.self, Book.self])
  }

  @Test func `a required to-one is read and written as it is declared`() throws {
    let context = try open()
    let (author, book) = (Author(context: context), Book(context: context))
    author.name = "Ada"
    book.author = author
    #expect(book.author === author && author.books == [book])
    try context.save()
    context.refreshAllObjects()
    #expect(book.author.name == "Ada" && book.$author.objectID == author.objectID)
  }

  @Test func `where there is none it shows empty values, and the save says that it is required`()
    throws
  {
    let context = try open()
    let book = Book(context: context)
    let none = book.author
    #expect(none.managedObjectContext == nil && none.entity.name == "Author")
    #expect(none.name == "unknown" && none.born == 0 && none.books.isEmpty)
    #expect(none.agent.agent.name == "unknown" || none.agent.agent.name == "")
    #expect(try book.$author.objectID == nil && book.value(forKey: "author") == nil)
    none.name = "set in vain"
    #expect(book.author.name == "unknown" && context.insertedObjects == [book])
    var error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .validationMissingMandatoryProperty && error?.key == "author")
    // It is no value of a relationship.
    book.author = none
    error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .managedObjectExternalRelationship)
    book.author = Author(context: context)
    try context.save()
  }

  @Test func `a destination that is deleted, and one whose context is gone, end no program`() throws
  {
    var context: ManagedObjectContext? = try open()
    let book = Book(context: try #require(context))
    book.author = Author(context: try #require(context))
    try context?.save()
    context?.delete(book.author)
    context?.processPendingChanges()
    #expect(book.author.name == "unknown")
    context?.rollback()
    #expect(book.author.managedObjectContext === context)
    context = nil
    #expect(book.author.books.isEmpty)
  }

  @Test func `a property that the model has not reads an object that has nothing`() throws {
    final class Misnamed: ManagedObject {
      override class var modelEntityName: String { "Book" }
      @Managed var writer: Author
      @Managed var title: Author
    }
    // Without a store nothing refuses the class, and then the property does.
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model, classes: [Author.self, Misnamed.self])
    let book = Misnamed(context: context)
    for none in [book.writer, book.title] {
      #expect(none.name == "" && none.born == 0 && none.books.isEmpty)
      none.name = "in vain"
    }
    #expect(context.keptErrors.map { "\($0)" }.contains { $0.contains("writer") })
    #expect(context.keptErrors.map { "\($0)" }.contains { $0.contains("title") })
  }

  @Test func `a dictionary of codable values need not be optional`() throws {
    let context = try open()
    let book = Book(context: context)
    book.author = Author(context: context)
    #expect(book.words == [:])
    book.words["sea"] = 2
    try context.save()
    context.refreshAllObjects()
    #expect(book.words == ["sea": 2])
  }

  /// As applications write it.
  private func make<Object: ManagedObject>(
    _ type: Object.Type, in context: ManagedObjectContext, _ change: (Object) -> Void
  ) -> Object {
    let object = Object(context: context)
    change(object)
    return object
  }

  @Test func `an object is made of a class that is a parameter`() throws {
    let context = try open()
    let author = make(Author.self, in: context) { $0.name = "Ada" }
    let book = make(Book.self, in: context) { $0.author = author }
    let types: [ManagedObject.Type] = [Author.self, Book.self]
    let others = types.map { $0.init(context: context) }
    #expect(others.map { $0.entity.name } == ["Author", "Book"])
    #expect(others[0] is Author && others[1] is Book && author.books == [book])
    (others[1] as? Book)?.author = author
    try context.save()
    #expect(try context.count(for: FetchRequest<Book>()) == 2)
  }
}
