import Foundation
import Quire
import QuireSimulation
import Testing

/// The program of the guide is `GettingStarted/main.swift`, a target of its own.
@Suite struct GettingStartedGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  @Test func `the program saves its books once, and finds them the second time`() throws {
    let shell = try Shell(in: try TemporaryFolder())
    let page = try Page.guide("getting-started")
    try page.run("swift run", in: shell.replacing("swift run", with: "GettingStarted"))
    #expect(shell.folder.names == ["Fixtures", "library.quire"])
  }

  final class Author: ManagedObject {
    @Managed(.unique) var name: String
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
  }

  final class Book: ManagedObject {
    @Managed var title: String = "Untitled"
    @Managed(.indexed) var year: Int = 0
    @Managed var pages: Int = 0
    @Managed var author: Author?
  }

  @Test func `a store gets a new property when it is opened`() throws {
    let shell = try Shell(in: try TemporaryFolder())
    try shell.runSilently("GettingStarted")
    let container = try PersistentContainer(name: "Library", for: Author.self, Book.self)
    try container.loadPersistentStore(at: shell.folder.url.appending(path: "library.quire"))
    let context = container.newBackgroundContext()
    let early = Book.where { $0.year < 1970 && $0.author.name.contains("Le Guin") }
    for book in try context.fetch(early.sorted(by: \.year)) {
      print("\(book.title) (\(book.year)) by \(book.author?.name ?? "unknown"), \(book.pages)")
    }
    #expect(printed.take() == "A Wizard of Earthsea (1968) by Ursula K. Le Guin, 0")
    do {
      _ = Author(context: context)
      try context.save()
    } catch let error as PersistenceError {
      print(error.code == .validationMissingMandatoryProperty, error.key ?? "")
      print(error.message)
    }
    #expect(
      printed.take() == """
        true name
        Author.name has no value
        """)
    try container.close()
    // The page looks into the file after the model has got its new property.
    try Page.guide("getting-started").run("quire check library.quire", in: shell)
  }
}
