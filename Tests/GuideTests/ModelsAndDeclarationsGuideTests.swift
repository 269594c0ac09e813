import Foundation
import Quire
import QuireModel
import Testing

@Suite struct ModelsAndDeclarationsGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  enum Mood: String, CaseIterable, ManagedAttribute { case calm, tense }

  class Book: ManagedObject {
    @Managed(length: 1...200) var title: String = "Untitled"
    @Managed(.unique, pattern: "[0-9]{13}") var isbn: String?
    @Managed(.indexed, range: 1450...2100) var year: Int = 2000
    @Managed var added: Date = Date()
    @Managed var author: Author?
  }
  final class Novel: Book {
    @Managed var mood: Mood = .calm
  }
  final class Author: ManagedObject {
    @Managed var name: String
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
  }

  func context() throws -> ManagedObjectContext {
    let container = try PersistentContainer(name: "Library", for: Author.self, Novel.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    return context
  }

  final class Shelf: ManagedObject {
    @Managed var owner: ManagedObject?
  }

  @Test func `mistakes of a declaration are one error`() throws {
    do {
      _ = try PersistentContainer(name: "Shelves", for: Shelf.self)
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        error 134060: a class declares what cannot be a model
          error 134060: Shelf.owner refers to ManagedObject, which is no entity's class: name the class of the destinations
        """)
  }

  @Test func `defaults are there at once`() throws {
    let context = try context()
    let novel = Novel(context: context)
    print(novel.title, novel.year, novel.mood, novel.isbn ?? "no ISBN")
    print(novel.added.timeIntervalSinceNow > -60)
    #expect(
      printed.take() == """
        Untitled 2000 calm no ISBN
        true
        """)
  }

  struct Keywords: TransformableValue, ManagedValue {
    var words: [String] = []
    static let empty = Keywords()
  }

  final class Chapter: ManagedObject {
    @Managed var authors: [String]? = []
    @Managed var pages: Set<Int>?
    @Managed var keywords: Keywords = Keywords()
  }

  @Test func `lists of values are saved and read back, and empty ones are no nil`() throws {
    let container = try PersistentContainer(name: "Chapters", for: Chapter.self)
    try container.loadPersistentStore(at: nil)
    try container.writeAndWait { context in
      let chapter = Chapter(context: context)
      #expect(chapter.authors == [] && chapter.pages == nil && chapter.keywords.words == [])
      chapter.authors?.append("Ada")
      chapter.pages = [1, 3]
      chapter.keywords.words.append("engine")
    }
    try container.readAndWait { context in
      let chapter = try #require(try context.fetch(Chapter.fetchRequest()).first)
      #expect(chapter.authors == ["Ada"] && chapter.pages == [1, 3])
      #expect(chapter.keywords.words == ["engine"])
    }
    let attributes = try ManagedObjectModel(for: Chapter.self).entity(named: "Chapter")?.attributes
    let required = attributes?.filter { !$0.isOptional }.map(\.name)
    #expect(required == ["keywords"])
  }

  @Test func `a save reports everything that is wrong`() throws {
    let context = try context()
    let book = Book(context: context)
    book.year = 1066
    book.isbn = "unknown"
    do {
      try context.save()
    } catch let error as PersistenceError {
      for problem in error.singleErrors {
        print(problem.code, problem.key ?? "", problem.message)
      }
    }
    #expect(
      printed.take() == """
        1680 isbn Book.isbn is “unknown”, which does not match the pattern [0-9]{13}
        1620 year Book.year is 1066; the smallest allowed is 1450
        """)
    book.year = 1966
    book.isbn = nil
    try context.save()
  }

  final class Loan: ManagedObject {
    @Managed var from: Date = Date()
    @Managed var until: Date?

    override func validateForInsert() throws {
      try super.validateForInsert()
      if let until, until < from {
        throw PersistenceError(.managedObjectValidation, "a loan cannot end before it begins")
      }
    }
  }

  @Test func `a class has rules of its own`() throws {
    let container = try PersistentContainer(name: "Loans", for: Loan.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let loan = Loan(context: context)
    loan.until = loan.from - 60
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.message.contains("a loan cannot end before it begins") == true)
    loan.until = loan.from + 60
    try context.save()
  }

  final class Edition: ManagedObject {
    @Managed var publisher: String = ""
    @Managed var number: Int = 1

    override class var entityDeclaration: Entity? {
      Entity("Edition") {
        Attribute("note", .string)
        UniquenessConstraint("publisher", "number")
        FetchIndex("byNumber", on: .descending("number"), "publisher")
      }
    }
  }

  @Test func `an entity has more than its properties`() throws {
    let container = try PersistentContainer(name: "Editions", for: Edition.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let edition = Edition(context: context)
    try edition.setValue("signed", forKey: "note")
    try context.save()
    _ = Edition(context: context)
    #expect(throws: PersistenceError.self) { try context.save() }
    #expect(container.managedObjectModel.entity(named: "Edition")?.indexes.count == 1)
  }

  final class Note: ManagedObject {
    @Managed var text: String = ""
    @Managed var binned: Date?

    override class var defaultCondition: FetchPredicate? {
      FetchPredicate(Note.self) { $0.binned == nil }
    }
  }

  @Test func `a class says which of its objects a query shows`() throws {
    let container = try PersistentContainer(name: "Notes", for: Note.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    for number in 0..<3 { Note(context: context).binned = number == 0 ? Date() : nil }
    #expect(try context.count(Note.self) == 2)
    #expect(try context.fetch(Note.fetchRequest().where { $0.binned != nil }).count == 1)
  }

  @Test func `a model needs no classes`() throws {
    let model = try ManagedObjectModel {
      Entity("Sample") {
        Attribute("time", .date, optional: false)
        Attribute("celsius", .double, range: -90...60)
      }
    }
    let container = PersistentContainer(name: "Weather", managedObjectModel: model)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let sample = try EntityDescription.insertNewObject(forEntityName: "Sample", into: context)
    try sample.setValue(Date(), forKey: "time")
    try sample.setValue(21.5, forKey: "celsius")
    try context.save()
    print(try sample.value(forKey: "celsius") ?? "unknown")
    #expect(
      printed.take() == """
        21.5
        """)
  }

  @Test func `a model can be asked`() throws {
    let model = try ManagedObjectModel(for: Author.self, Novel.self)
    for entity in model.entities {
      print(entity.name, entity.attributes.map(\.name), entity.relationships.map(\.name))
    }
    #expect(
      printed.take() == """
        Author ["name"] ["books"]
        Book ["title", "isbn", "year", "added"] ["author"]
        Novel ["title", "isbn", "year", "added", "mood"] ["author"]
        """)
  }
}
