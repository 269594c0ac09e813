import Foundation
import Quire
import Testing

@Suite struct ConcurrencyGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed var title: String = "Untitled"
    @Managed var price: Double = 0
  }

  private func container() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    try container.loadPersistentStore(at: nil)
    return container
  }

  @MainActor func showTitles(of container: PersistentContainer) throws -> [String] {
    let context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    return try context.fetch(Book.sorted(by: \.title)).map(\.title)
  }

  @Test func `work in the background is saved, or dropped as a whole`() async throws {
    let container = try container()
    try await container.write { context in
      for title in ["Kindred", "Beowulf", "Tehanu"] { Book(context: context).title = title }
    }
    do {
      try await container.write { context in
        Book(context: context).title = "Never saved"
        throw CancellationError()
      }
    } catch {
      print("nothing saved")
    }
    print(try await showTitles(of: container))
    #expect(
      printed.take() == """
        nothing saved
        ["Beowulf", "Kindred", "Tehanu"]
        """)
    let count = try await container.read { context in try context.count(Book.self) }
    print(count)
    #expect(
      printed.take() == """
        3
        """)
    await #expect(throws: PersistenceError.self) {
      try await container.read { context in Book(context: context).title = "Lost" }
    }
  }

  @Test @MainActor func `an ID goes from context to context`() async throws {
    let container = try container()
    let viewContext = container.viewContext
    viewContext.automaticallyMergesChangesFromParent = true
    Book(context: viewContext).title = "Tehanu"
    try viewContext.save()
    let book = try viewContext.fetch(Book.fetchRequest())[0]
    let id = book.typedID
    try await container.write { context in
      let same = try context.existingObject(with: id)
      same.title = "Tehanu, revised"
    }
    for _ in 0..<100 where book.title == "Tehanu" { await Task.yield() }
    print(book.title)
    #expect(
      printed.take() == """
        Tehanu, revised
        """)
  }

  actor Importer {
    private let context: ManagedObjectContext

    init(_ container: PersistentContainer) {
      context = container.newBackgroundContext()
      context.name = "importer"
    }

    func add(_ titles: [String]) throws -> Int {
      for title in titles { Book(context: context).title = title }
      try context.save()
      return try context.count(Book.self)
    }
  }

  @Test func `an actor keeps a context`() async throws {
    let importer = Importer(try container())
    #expect(try await importer.add(["Kindred", "Beowulf"]) == 2)
    #expect(try await importer.add(["Tehanu"]) == 3)
  }

  // The lines of the page that do not compile: Tests/MustNotCompile has such programs.
  // let book = try viewContext.fetch(Book.fetchRequest())[0]
  // Task.detached { book.title = "?" }     // error: … risks causing data races
  // try await container.write { context in
  //   book.title = "?"                      // error: … with non-Sendable type 'Book'
  // }

  @Test func `the second save of one object is a conflict`() async throws {
    let container = try container()
    let mine = container.newBackgroundContext()
    Book(context: mine).title = "Kindred"
    try mine.save()
    let theirs = container.newBackgroundContext()
    let book = try #require(try mine.fetch(Book.fetchRequest()).first)
    let same = try #require(try theirs.fetch(Book.fetchRequest()).first)
    #expect(same.title == "Kindred")
    book.price = 12
    try mine.save()

    same.title = "Kindred, a novel"
    do {
      try theirs.save()
    } catch let error as PersistenceError {
      print(error.code == .managedObjectMerge)
      for conflict in error.conflicts { print(conflict) }
    }
    #expect(
      printed.take() == """
        true
        Book/p1 has version 2, the changes were made to version 1: title changed here, price there
        """)
    theirs.mergePolicy = .mergeByPropertyObjectTrump
    try theirs.save()
    print(same.title, same.price)
    #expect(
      printed.take() == """
        Kindred, a novel 12.0
        """)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...8 {
        group.addTask {
          try await container.write(attempts: 100) { context in
            for book in try context.fetch(Book.fetchRequest()) { book.price += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    let prices = try await container.read { context in try context.values(Book.self, \.price) }
    print(prices)
    #expect(
      printed.take() == """
        [20.0]
        """)
  }

  @Test func `a pinned context shows one state`() throws {
    let container = try container()
    let report = container.newBackgroundContext()
    try report.setQueryGeneration(from: .current)
    try container.writeAndWait { context in Book(context: context).title = "Late" }
    print(try report.count(Book.self))
    try report.setQueryGeneration(from: nil)
    print(try report.count(Book.self))
    #expect(
      printed.take() == """
        0
        1
        """)
  }
}
