import Foundation
import Quire
import QuireTesting
import Testing

@Suite struct ImportingLargeDataGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed(.unique) var isbn: String
    @Managed(length: 1...200) var title: String
    @Managed var price: Double = 0
    @Managed var author: Author?
  }
  final class Author: ManagedObject {
    @Managed(.unique) var name: String
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
  }

  private func makeContext() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(for: Author.self)
  }

  @Test func `rows come out of a text`() throws {
    let context = try makeContext()
    let text = """
      9780807083697;Kindred;10
      9780061054884;The Dispossessed;12
      9780547773742;A Wizard of Earthsea;9
      """
    var lines = text.split(separator: "\n").makeIterator()
    let request = BatchInsertRequest(entityName: "Book") { row in
      guard let line = lines.next() else { return true }
      let fields = line.split(separator: ";", omittingEmptySubsequences: false)
      row.set("isbn", to: String(fields[0]))
      row.set("title", to: String(fields[1]))
      row.set("price", to: Double(fields[2]))
      return false
    }
    print(try context.execute(request))
    #expect(
      printed.take() == """
        3 objects
        """)
    let nameless = [["isbn": "1", "title": "Beowulf"], ["isbn": "2", "title": ""]]
    do {
      try context.execute(BatchInsertRequest(entityName: "Book", objects: nameless))
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        error 1670: Book.title of object 1 of the batch request has 0 characters; the fewest allowed are 1
        """)
    let rows = (1...1000).lazy.map { number in
      ["isbn": "print \(number)", "title": "Print \(number)"] as [String: Any]
    }
    try context.execute(BatchInsertRequest(entityName: "Book", objects: rows))
    #expect(try context.count(Book.self) == 1003)
  }

  func importBooks(
    _ titles: [String], into container: PersistentContainer,
    report: @escaping @Sendable (Int) -> Void
  ) async throws -> Int {
    try await container.performBackgroundTask { context in
      let rows = titles.enumerated().lazy.map { number, title in
        ["isbn": "\(number)", "title": title] as [String: Any]
      }
      var request = BatchInsertRequest(entityName: "Book", objects: rows)
      request.progress = { count in
        report(count)
        return true
      }
      return try context.execute(request).count
    }
  }

  @Test func `an import tells how far it is, and is cancelled with its task`() async throws {
    let container = try PersistentContainer(name: "Library", for: Author.self)
    try container.loadPersistentStore(at: nil)
    let titles = (1...2500).map { "Volume \($0)" }
    let count = try await importBooks(titles, into: container) { [printed] in printed.add([$0]) }
    #expect(count == 2500)
    #expect(printed.take().split(separator: "\n").count >= 2)
    let task = Task { try await importBooks(titles, into: container) { _ in } }
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await container.read { try $0.count(Book.self) } == 2500)
  }

  @Test func `a second import updates what is there`() throws {
    let context = try makeContext()
    let book = Book(context: context)
    (book.isbn, book.title, book.price) = ("9780807083697", "Kindred", 10)
    try context.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let news: [[String: Any]] = [
      ["isbn": "9780807083697", "title": "Kindred, a novel"],
      ["isbn": "9780441007318", "title": "The Left Hand of Darkness"],
    ]
    try context.execute(BatchInsertRequest(entityName: "Book", objects: news))
    for (title, price) in try context.values(Book.self, \.title, \.price) { print(title, price) }
    #expect(
      printed.take() == """
        Kindred, a novel 10.0
        The Left Hand of Darkness 0.0
        """)
  }

  @Test func `rows lead to objects by their IDs`() throws {
    let context = try makeContext()
    let names = ["Octavia E. Butler", "Ursula K. Le Guin"]
    try context.execute(
      BatchInsertRequest(entityName: "Author", objects: names.map { ["name": $0] }))
    var ids: [String: ManagedObjectID] = [:]
    for author in try context.fetch(Author.fetchRequest()) { ids[author.name] = author.objectID }

    var lines = ["1;Kindred;Octavia E. Butler", "2;Tehanu;Ursula K. Le Guin"].makeIterator()
    let request = BatchInsertRequest(entityName: "Book") { row in
      guard let line = lines.next() else { return true }
      let fields = line.split(separator: ";", omittingEmptySubsequences: false)
      row.set("isbn", to: String(fields[0]))
      row.set("title", to: String(fields[1]))
      row.set("author", to: ids[String(fields[2])])
      return false
    }
    try context.execute(request)
    for author in try context.fetch(Author.sorted(by: \.name)) {
      print(author.name, author.books.map(\.title))
    }
    #expect(
      printed.take() == """
        Octavia E. Butler ["Kindred"]
        Ursula K. Le Guin ["Tehanu"]
        """)
    var raise = BatchUpdateRequest(Book.self) { $0.author.name == "Octavia E. Butler" }
    raise.set(\Book.price) { $0.price + 2 }
    print("changed", try context.execute(raise))

    let gone = BatchDeleteRequest(fetchRequest: Author.where { $0.name.beginsWith("Ursula") })
    print("deleted", try context.execute(gone))
    print(try context.values(Book.self, \.title, \.price))
    #expect(
      printed.take() == """
        changed 1 object
        deleted 2 objects
        [("Kindred", 2.0)]
        """)
  }

  @Test func `objects are exported and inserted again`() throws {
    let context = try makeContext()
    let author = Author(context: context)
    author.name = "Octavia E. Butler"
    let book = Book(context: context)
    (book.isbn, book.title, book.author) = ("9780807083697", "Kindred", author)
    try context.save()
    let exported = try context.export(Book.fetchRequest()) + context.export(Author.fetchRequest())
    let data = try JSONEncoder().encode(exported)

    let other = try ManagedObjectContext.stubbed(for: Author.self)
    let values = try JSONDecoder().decode([ExportedObject].self, from: data)
    _ = try other.insert(values)
    try other.save()
    print(try other.fetch(Book.fetchRequest()).map { "\($0.title) by \($0.author?.name ?? "")" })
    #expect(
      printed.take() == """
        ["Kindred by Octavia E. Butler"]
        """)
  }

  @Test func `objects are saved in portions`() throws {
    let context = try makeContext()
    let titles = (1...5000).map { "Volume \($0)" }
    for (number, title) in titles.enumerated() {
      let book = Book(context: context)
      book.isbn = "\(number)"
      book.title = title
      if number % 2000 == 1999 { try context.save() }
    }
    try context.save()
    #expect(try context.count(Book.self) == 5000)
  }
}
