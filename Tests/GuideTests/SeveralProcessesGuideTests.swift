import Foundation
import Quire
import QuireSimulation
import Testing

@Suite struct SeveralProcessesGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed var title: String = ""
  }

  private let folder = try! TemporaryFolder()
  private var url: URL { folder.url.appending(path: "library.quire") }

  func open() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions.migrating
    options.isShared = true
    try container.loadPersistentStore(at: url, options: options)
    return container
  }

  @Test func `an app and its widget`() async throws {
    let app = try open()
    try await app.write { context in
      let book = Book(context: context)
      book.title = "Kindred"
    }
    let count = try await app.read { context in try context.count(Book.self) }
    print(count)
    #expect(
      printed.take() == """
        1
        """)
    let widget = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions()
    options.isReadOnly = true
    try widget.loadPersistentStore(at: url, options: options)
    #expect(try await widget.read { context in try context.count(Book.self) } == 1)
    let changes = app.persistentStoreCoordinator.remoteChanges()
    let listening = Task {
      for await change in changes where change.isOfAnotherProcess { return true }
      return false
    }
    try app.suspend()
    #expect(throws: PersistenceError.self) {
      try app.writeAndWait { context in Book(context: context).title = "Beowulf" }
    }
    app.resume()
    try app.writeAndWait { context in Book(context: context).title = "Tehanu" }
    #expect(try await widget.read { context in try context.count(Book.self) } == 2)
    listening.cancel()
    _ = await listening.value
    var others = PersistentStoreOptions()
    others.isShared = true
    others.migratesAutomatically = false
    let newer = try PersistentContainer(name: "Library", for: Other.Book.self)
    let error = #expect(throws: PersistenceError.self) {
      try newer.loadPersistentStore(at: url, options: others)
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect("\(try #require(error))".contains("written with another version of the model"))
    try widget.close()
    try app.close()
    #expect(folder.names == ["library.quire"])
  }

  @Test func `an extension with little memory`() async throws {
    try open().close()
    let `extension` = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions()
    options.isShared = true
    options.savesMemory = true
    try `extension`.loadPersistentStore(at: url, options: options)
    try await `extension`.write { context in Book(context: context).title = "Ubik" }
    #expect(try await `extension`.read { context in try context.count(Book.self) } == 1)
    try `extension`.close()
  }

  enum Other {
    final class Book: ManagedObject {
      @Managed var title: String = ""
      @Managed var year: Int = 0
    }
  }
}
