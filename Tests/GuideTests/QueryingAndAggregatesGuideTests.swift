import Foundation
import Quire
import QuireTesting
import Testing

@Suite struct QueryingAndAggregatesGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Author: ManagedObject {
    @Managed var name: String
    @Managed var born: Int?
    @Managed(inverse: \Book.author) var books: Set<Book>
  }
  final class Book: ManagedObject {
    @Managed var title: String
    @Managed(.indexed) var year: Int?
    @Managed var price: Double = 0
    @Managed var author: Author?
  }

  private let context: ManagedObjectContext

  init() throws {
    context = try ManagedObjectContext.stubbed(for: Author.self, Book.self)
    let people = [("Ursula K. Le Guin", 1929), ("Octavia E. Butler", 1947)].map { name, born in
      let author = Author(context: context)
      (author.name, author.born) = (name, born)
      return author
    }
    let books: [(String, Int?, Double, Author?)] = [
      ("A Wizard of Earthsea", 1968, 9, people[0]), ("The Dispossessed", 1974, 12, people[0]),
      ("Kindred", 1979, 10, people[1]), ("Beowulf", nil, 7, nil),
    ]
    for (title, year, price, author) in books {
      let book = Book(context: context)
      (book.title, book.year, book.price, book.author) = (title, year, price, author)
    }
    try context.save()
  }

  @Test func `conditions find objects`() throws {
    let cheap = Book.where { $0.price <= 10 && $0.author != nil }
    print(try context.fetch(cheap.sorted(by: \.title)).map(\.title))

    let prolific = Author.where { $0.books.any { $0.price > 11 } && $0.born < 1940 }
    print(try context.fetch(prolific).map(\.name))

    let old = Book.where { !($0.year > 1970) }
    print(try context.fetch(old.sorted(by: \.title)).map(\.title))
    #expect(
      printed.take() == """
        ["A Wizard of Earthsea", "Kindred"]
        ["Ursula K. Le Guin"]
        ["A Wizard of Earthsea", "Beowulf"]
        """)
  }

  @Test func `every line of the table is a condition`() throws {
    let leGuin = try #require(try context.fetch(Author.where { $0.born == 1929 }).first)
    func count(_ request: FetchRequest<Book>) throws -> Int { try context.count(for: request) }
    #expect(try count(Book.where { $0.price > 9 }) == 2)
    #expect(try count(Book.where { $0.author == leGuin }) == 2)
    #expect(try count(Book.where { $0.year == nil }) == 1)
    #expect(try count(Book.where { $0.year.in([1968, 1974]) }) == 2)
    #expect(try count(Book.where { $0.price.in(8...10) }) == 2)
    #expect(try count(Book.where { $0.title.beginsWith("the", .caseInsensitive) }) == 1)
    #expect(try count(Book.where { $0.title.like("The*") || $0.title.contains("wulf") }) == 2)
    #expect(try count(Book.where { $0.author.born < 1940 }) == 2)
    #expect(try context.count(for: Author.where { $0.books.count > 1 }) == 1)
    #expect(try context.count(for: Author.where { $0.books.all { $0.price > 9 } }) == 1)
    #expect(try context.count(for: Author.where { $0.books.none { $0.price > 9 } }) == 0)
    #expect(try count(Book.where { 2 * $0.price > 20 }) == 1)
    #expect(try count(Book.where { abs($0.year - 1970) < 5 }) == 2)
    #expect(try count(Book.where { 1970 < $0.year }) == 2)
    #expect(try count(Book.where { ($0.year ?? 0) < 1900 }) == 1)
  }

  @Test func `fetch, first, exists and delete answer the common questions in one call`() throws {
    print(try context.fetch(Book.self).count, try context.fetch(Book.self) { $0.price < 8 }.count)
    print(try context.first(Book.self) { $0.title == "Kindred" }?.year ?? 0)
    print(try context.first(Book.sorted(by: \.price))?.title ?? "none")
    print(try context.exists(Author.self) { $0.name.beginsWith("Octavia") })
    print(try context.delete(Book.where { $0.author == nil }))
    #expect(
      printed.take() == """
        4 1
        1979
        Beowulf
        true
        1
        """)
  }

  @Test func `groups are by what is made of a value`() throws {
    let decades = try context.aggregate(Book.self, .count, groupedBy: { $0.year / 10 * 10 })
    for (decade, count) in decades {
      print(decade ?? 0, count)
    }
    #expect(
      printed.take() == """
        0 1
        1960 1
        1970 2
        """)
  }

  @Test func `results have an order and a limit`() throws {
    let dearest = Book.sorted(by: \.price, ascending: false).limit(2)
    for book in try context.fetch(dearest) { print(book.price, book.title) }

    let next = dearest.offset(2)
    for book in try context.fetch(next) { print(book.price, book.title) }
    #expect(
      printed.take() == """
        12.0 The Dispossessed
        10.0 Kindred
        9.0 A Wizard of Earthsea
        7.0 Beowulf
        """)
  }

  @Test func `the store counts and adds up`() throws {
    print(try context.count(Book.self), try context.count(for: Book.where { $0.price < 10 }))
    print(try context.sum(\Book.price), try context.average(\Book.price) ?? 0)
    print(try context.minimum(\Book.year) ?? 0, try context.maximum(\Book.title) ?? "")
    #expect(
      printed.take() == """
        4 2
        38.0 9.5
        1968 The Dispossessed
        """)
    let groups = try context.aggregate(
      Book.self, .count, .average(\.price), groupedBy: \.author)
    for (author, (count, mean)) in groups {
      print(author?.name ?? "unknown", count, mean ?? 0)
    }
    #expect(
      printed.take() == """
        unknown 1 7.0
        Ursula K. Le Guin 2 10.5
        Octavia E. Butler 1 10.0
        """)
  }

  @Test func `values come without objects`() throws {
    for (title, name) in try context.values(Book.self, \.title, \.author?.name) {
      print(title, "by", name ?? "unknown")
    }
    #expect(
      printed.take() == """
        A Wizard of Earthsea by Ursula K. Le Guin
        The Dispossessed by Ursula K. Le Guin
        Kindred by Octavia E. Butler
        Beowulf by unknown
        """)
  }

  @Test func `a long list makes its objects when they are looked at`() throws {
    var request = Book.sorted(by: \.title)
    request.fetchBatchSize = 50
    let books = try context.fetchBatched(request)
    print(books.count, books[0].title)
    #expect(printed.take() == "4 A Wizard of Earthsea")
  }

  @Test func `predicates are written as text, too`() throws {
    var request = FetchRequest<Book>()
    request.predicate = try FetchPredicate(
      format: "price < %@ AND author.name CONTAINS[c] %@", 11, "butler")
    print(try context.fetch(request).map(\.title))
    #expect(
      printed.take() == """
        ["Kindred"]
        """)
    do {
      _ = try FetchPredicate(format: "price < AND title == 'Kindred'")
    } catch {
      print(error)
    }
    do {
      request.predicate = try FetchPredicate(format: "titel == 'Kindred'")
      _ = try context.fetch(request)
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        the format "price < AND title == 'Kindred'" cannot be read: expected a value or a key path (a property of that name is #AND) at offset 8, but found "AND"
        error 1340001: the key path titel asks Book for titel, which it does not have; is title meant?
        """)
  }

  @Test func `a predicate of Foundation is translated`() throws {
    let mild = #Predicate<Book> { $0.price < 11 && $0.author?.born == 1947 }
    var request = Book.sorted(by: \.title)
    request.predicate = try FetchPredicate(mild, in: context)
    print(try context.fetch(request).map(\.title))
    #expect(
      printed.take() == """
        ["Kindred"]
        """)
  }

  @Test func `a request says how it finds its objects`() throws {
    let request = Book.where { $0.year > 1970 }.sorted(by: \.price)
    print(try request.explain(in: context))
    #expect(
      printed.take() == """
        Book where year > 1970, by price ascending
          index Book.byYear where year > 1970: 2 rows, about 2 expected
          filter on rows: year > 1970
          sort: price ascending
          2 rows read, about 2 expected; 2 match, about 2 expected
          a count reads keys alone
        2 objects
        """)
  }
}
