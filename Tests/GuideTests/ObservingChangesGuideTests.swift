import Foundation
import Observation
import Quire
import QuireTesting
import Testing

@Suite struct ObservingChangesGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed var title: String = ""
    @Managed var year: Int = 0
  }

  private func container() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions()
    options.tracksHistory = true
    try container.loadPersistentStore(at: nil, options: options)
    return container
  }

  @Test @MainActor func `Observation follows a query and its objects`() throws {
    let container = try container()
    let context = container.viewContext
    let books = LiveQuery(Book.sorted(by: \.title), in: context)
    let kindred = Book(context: context)
    kindred.title = "Kindred"
    context.processPendingChanges()

    withObservationTracking {
      print(books.objects.map(\.title))
    } onChange: {
      print("to be drawn anew")
    }
    kindred.year = 1979
    print("a year was set, which nobody has read")
    kindred.title = "Kindred, revised"
    #expect(
      printed.take() == """
        ["Kindred"]
        a year was set, which nobody has read
        to be drawn anew
        """)
  }

  @Test @MainActor func `a loop follows a request`() async throws {
    let container = try container()
    let context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    let list = Task { @MainActor in
      for try await books in context.results(of: Book.sorted(by: \.title)) {
        print(books.map(\.title))
        if books.count == 2 { break }
      }
    }

    Book(context: context).title = "Kindred"
    try context.save()
    try await container.write { context in Book(context: context).title = "Beowulf" }
    try await list.value
    // A loop that comes late skips the first result; the page shows one that has seen both.
    let shown =
      """
      ["Kindred"]
      ["Beowulf", "Kindred"]
      """
    #expect(shown.hasSuffix(printed.take()))
  }

  @Test @MainActor func `a result knows what has changed`() async throws {
    let context = try container().viewContext
    Book(context: context).title = "Kindred"
    try context.save()
    var results = context.results(of: Book.sorted(by: \.title)).makeAsyncIterator()
    _ = try await results.next(isolation: #isolation)

    Book(context: context).title = "Beowulf"
    try context.save()
    guard let books = try await results.next(isolation: #isolation) else { return }
    for change in books.difference {
      if case .insert(let offset, _, _) = change { print("insert at", offset) }
    }
    print(books.updatedIDs.count, "updated")
    #expect(
      printed.take() == """
        insert at 0
        0 updated
        """)
  }

  final class TitleList: FetchedResultsControllerDelegate {
    var lines: [String] = []

    func controller(
      _ controller: FetchedResultsController<Book>, didChange book: Book,
      at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      lines.append("\(type): \(book.title)")
    }
  }

  func followTitles(in context: ManagedObjectContext) throws -> [String] {
    let controller = FetchedResultsController(
      fetchRequest: Book.sorted(by: \.title), managedObjectContext: context)
    let list = TitleList()
    controller.delegate = list
    try controller.performFetch()

    let book = Book(context: context)
    book.title = "Tehanu"
    try context.save()
    book.title = "Tehanu, revised"
    try context.save()
    return list.lines
  }

  @Test func `a delegate is told what changes`() throws {
    let context = try ManagedObjectContext.stubbed(for: Book.self)
    for line in try followTitles(in: context) { print(line) }
    #expect(
      printed.take() == """
        insert: Tehanu
        update: Tehanu, revised
        """)
  }

  @Test func `an observer is told of changes and of saves`() throws {
    let context = try ManagedObjectContext.stubbed(for: Book.self)
    let token = context.observe([.didChangeObjects, .didSaveObjects]) { notice in
      let (new, changed) = (notice.insertedObjects.count, notice.updatedObjects.count)
      print(notice.kind, new, "new,", changed, "changed")
    }
    let book = Book(context: context)
    context.processPendingChanges()
    book.title = "Kindred"
    try context.save()
    token.cancel()
    #expect(
      printed.take() == """
        didChangeObjects 1 new, 0 changed
        didChangeObjects 0 new, 1 changed
        didSaveObjects 1 new, 0 changed
        """)
  }

  @Test func `a history has every save`() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    Book(context: context).title = "Before"
    try context.save()
    let all = try context.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    var lastToken = all.transactions.last?.token
    context.transactionAuthor = "import"
    Book(context: context).title = "Kindred"
    try context.save()

    let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
    for transaction in try context.execute(request).transactions {
      for change in transaction.changes ?? [] {
        print(transaction.author ?? "", change.changeType, change.changedObjectID)
      }
      lastToken = transaction.token
    }
    #expect(
      printed.take() == """
        import insert Book/p2
        """)
    let token = try #require(lastToken)
    try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: token))
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: lastToken))
        .transactions.isEmpty)
    let data = try JSONEncoder().encode(token)
    #expect(try JSONDecoder().decode(PersistentHistoryToken.self, from: data) == token)
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  extension ObservingChangesGuideTests {
    struct BookList: View {
      let books: LiveQuery<Book>

      var body: some View {
        List(books.objects, id: \.objectID) { book in Text(book.title) }
      }
    }

    @MainActor func list(_ container: PersistentContainer) -> some View {
      BookList(books: LiveQuery(Book.sorted(by: \.title), in: container.viewContext))
    }
  }
#endif
