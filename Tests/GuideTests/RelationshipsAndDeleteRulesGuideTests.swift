import Foundation
import Quire
import QuireTesting
import Testing

@Suite struct RelationshipsAndDeleteRulesGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Author: ManagedObject {
    @Managed var name: String
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
    @Managed(inverse: nil) var favourites: [Book]
  }
  final class Book: ManagedObject {
    @Managed var title: String
    @Managed var author: Author?
    @Managed(inverse: \Tag.books) var tags: Set<Tag>
    @Managed(inverse: \Genre.books) var genre: Genre
  }
  final class Tag: ManagedObject {
    @Managed(.unique) var word: String
    @Managed var books: Set<Book>
  }
  final class Genre: ManagedObject {
    @Managed var name: String
    @Managed(deleteRule: .deny) var books: Set<Book>
  }

  private let context: ManagedObjectContext
  private let fantasy: Genre

  init() throws {
    context = try ManagedObjectContext.stubbed(for: Author.self)
    fantasy = Genre(context: context)
    fantasy.name = "Fantasy"
  }

  private func book(_ title: String) -> Book {
    let book = Book(context: context)
    book.title = title
    book.genre = fantasy
    return book
  }

  private func library() -> (author: Author, earthsea: Book, tehanu: Book) {
    let author = Author(context: context)
    author.name = "Ursula K. Le Guin"
    let (earthsea, tehanu) = (book("A Wizard of Earthsea"), book("Tehanu"))
    earthsea.author = author
    tehanu.author = author
    let tag = Tag(context: context)
    tag.word = "dragons"
    earthsea.tags = [tag]
    return (author, earthsea, tehanu)
  }

  @Test func `setting one side sets the other`() throws {
    let author = Author(context: context)
    let (earthsea, tehanu) = (book("A Wizard of Earthsea"), book("Tehanu"))
    earthsea.author = author
    print(author.books.count)
    author.books = [tehanu]
    print(earthsea.author == nil, tehanu.author == author)
    #expect(
      printed.take() == """
        1
        true true
        """)
    try author.$books.insert(earthsea)
    try author.$books.remove(tehanu)
    print(author.$books.count, author.$books.contains(earthsea), tehanu.author == nil)
    #expect(
      printed.take() == """
        1 true true
        """)
  }

  @Test func `deleting an author deletes the books, and not the tags`() throws {
    let (author, _, _) = library()
    try context.save()
    context.delete(author)
    try context.save()
    print(try context.count(Book.self), try context.count(Tag.self))
    #expect(
      printed.take() == """
        0 1
        """)
  }

  @Test func `a genre with books is not deleted`() throws {
    _ = library()
    try context.save()
    context.delete(fantasy)
    do {
      try context.save()
    } catch let error as PersistenceError {
      print(error.code == .validationRelationshipDeniedDelete, error.message)
    }
    context.rollback()
    #expect(
      printed.take() == """
        true Genre.books still refers to 2 objects, so the object cannot be deleted
        """)
    #expect(try context.count(Genre.self) == 1)
  }

  @Test func `a required relationship leads somewhere`() throws {
    let book = Book(context: context)
    book.title = "The Left Hand of Darkness"
    do {
      try context.save()
    } catch let error as PersistenceError {
      print(error.code == .validationMissingMandatoryProperty, error.key ?? "")
    }
    #expect(
      printed.take() == """
        true genre
        """)
  }

  @Test func `an ordered relationship keeps its order`() throws {
    let (author, earthsea, tehanu) = library()
    author.favourites = [tehanu, earthsea]
    try author.$favourites.move(from: 1, to: 0)
    try context.save()
    print(author.favourites.map(\.title))
    #expect(
      printed.take() == """
        ["A Wizard of Earthsea", "Tehanu"]
        """)
  }

  @Test func `queries follow relationships`() throws {
    _ = library()
    try context.save()
    let dragons = Book.where { $0.tags.any { $0.word == "dragons" } }
    print(try context.fetch(dragons).map(\.title))
    let prolific = Author.where { $0.books.count >= 2 }
    print(try context.fetch(prolific).map(\.name))
    #expect(
      printed.take() == """
        ["A Wizard of Earthsea"]
        ["Ursula K. Le Guin"]
        """)
  }
}
