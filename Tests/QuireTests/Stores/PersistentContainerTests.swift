import Quire
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A container, and the stores it is asked for.
@Suite struct `A persistent container` {
  private func container() -> PersistentContainer {
    PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
  }

  /// What a completion handler was told.
  private final class Log: Sendable {
    let entries = Mutex<[(PersistentStoreDescription, PersistenceError?)]>([])
    func add(_ description: PersistentStoreDescription, _ error: (any Error)?) {
      entries.withLock { $0.append((description, error as? PersistenceError)) }
    }
    var all: [(PersistentStoreDescription, PersistenceError?)] { entries.withLock { $0 } }
  }

  @Test func `a new container describes a store of its name in the default folder`() throws {
    let container = container()
    let description = try #require(container.persistentStoreDescriptions.first)
    #expect(container.persistentStoreDescriptions.count == 1)
    #expect(description.url?.lastPathComponent == "Gallery.quire")
    #expect(
      description.url?.deletingLastPathComponent().standardizedFileURL
        == PersistentContainer.defaultDirectoryURL().standardizedFileURL)
    #expect(description.type == .sqlite)
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously && !description.isReadOnly)
    #expect(description.configuration == nil)
  }

  /// One initialiser that other modules do not see takes the others from their subclasses.
  @Test func `a subclass in another module has every initialiser`() throws {
    final class Note: ManagedObject { @Managed var text: String = "" }
    final class Notes: PersistentContainer, @unchecked Sendable {}
    let model = try ManagedObjectModel(for: Note.self)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Note.self])
    let containers = [
      try Notes(name: "Notes", for: Note.self),
      Notes(name: "Notes", managedObjectModel: model, classes: [Note.self]),
      Notes(name: "Notes", persistentStoreCoordinator: coordinator),
    ]
    for container in containers {
      try container.loadPersistentStore(at: nil)
      try container.writeAndWait { Note(context: $0).text = "here" }
      #expect(try container.readAndWait { try $0.count(for: FetchRequest<Note>()) } == 1)
    }
    #expect(containers[2].persistentStoreCoordinator === coordinator)
  }

  private final class UniqueNote: ManagedObject { @Managed(.unique) var text: String }

  @Test func `work is run again after a conflict, as often as it is allowed to`() async throws {
    let container = try PersistentContainer(name: "Notes", for: UniqueNote.self)
    try container.loadPersistentStore(at: nil)
    try container.writeAndWait { UniqueNote(context: $0).text = "" }
    var runs = 0
    // Another save comes first, twice.
    func lengthen(_ context: ManagedObjectContext) throws -> Int {
      guard let note = try context.fetch(UniqueNote.fetchRequest()).first else { return 0 }
      note.text += "a"
      runs += 1
      if runs <= 2 {
        try container.writeAndWait { context in
          try context.fetch(UniqueNote.fetchRequest()).first?.text += "b"
        }
      }
      return note.text.count
    }
    #expect(throws: PersistenceError.self) {
      try container.writeAndWait(attempts: 2, lengthen)
    }
    #expect(runs == 2)
    runs = 0
    #expect(try container.writeAndWait(attempts: 3, lengthen) == 5 && runs == 3)
    // Two writers that make what is not there yet: one of them finds the other's.
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          do {
            try await container.write(attempts: 10) { context in
              if try context.count(UniqueNote.self, where: { $0.text == "new" }) == 0 {
                UniqueNote(context: context).text = "new"
              }
            }
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    #expect(try container.readAndWait { try $0.count(UniqueNote.self) } == 2)
    // Another error is thrown at once, and so is one that is not the save's.
    runs = 0
    #expect(throws: PersistenceError.self) {
      try container.writeAndWait(attempts: 5) { context in
        _ = UniqueNote(context: context)
        runs += 1
      }
    }
    #expect(runs == 1)
  }

  @Test func `the first description is changed in place, and its store is loaded at once`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "own.quire")
      let container = container()
      container.persistentStoreDescriptions.first!.url = url
      let log = Log()
      container.loadPersistentStores { log.add($0, $1) }
      #expect(log.all.count == 1)
      #expect(log.all.first?.1 == nil)
      #expect(log.all.first?.0 === container.persistentStoreDescriptions.first)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(store.url == url)
      container.loadPersistentStores { log.add($0, $1) }
      #expect(log.all.last?.1?.code == .persistentStoreOpen, "it is loaded already")
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  @Test func `dev null and the type in memory make stores without files`() async throws {
    for isType in [true, false] {
      let container = container()
      let description = try #require(container.persistentStoreDescriptions.first)
      if isType {
        description.type = .inMemory
      } else {
        description.url = URL(filePath: "/dev/null")
      }
      let stores = try await container.loadPersistentStores()
      #expect(stores.count == 1)
      #expect(stores.first?.statistics.fileByteCount == 0)
      try await container.performBackgroundTask { context in
        try context.insert("Tag", ["word": "x"])
        try context.save()
      }
    }
  }

  @Test func `a store that is to be loaded asynchronously is told later`() async throws {
    let container = container()
    let description = PersistentStoreDescription()
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let error = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in
        continuation.resume(returning: error as? PersistenceError)
      }
    }
    #expect(error == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.first?.type == .inMemory)
  }

  @Test func `each description is a store, in their order; what cannot be opened is an error`()
    async throws
  {
    let container = container()
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(), PersistentStoreDescription(),
    ]
    let loaded = try await container.loadPersistentStores()
    #expect(
      loaded.map(\.identifier)
        == container.persistentStoreCoordinator.persistentStores.map(\.identifier))
    let log = Log()
    container.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.map { $0.1?.code } == [nil, nil])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 4)

    let other = self.container()
    let description = try #require(other.persistentStoreDescriptions.first)
    description.url = URL(filePath: "/no/such/folder/x.quire")
    description.setOption(true, forKey: PersistentHistoryTrackingKey)
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1?.code == .persistentStoreOpen)
    description.type = .inMemory
    description.setOption(1, forKey: "unheard of")
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1?.message.contains("unheard of") == true)
    description.setOption(nil, forKey: "unheard of")
    description.isReadOnly = false
    description.timeout = 0.5
    #expect(description.options.timeout == 0.5)
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1 == nil)
  }

  @Test func `a container that is closed leaves one file for each store, and can be loaded again`()
    throws
  {
    try withTemporaryFolder { folder in
      let container = container()
      let urls = ["one.quire", "two.quire"].map { folder.appending(path: $0) }
      container.persistentStoreDescriptions = urls.map { PersistentStoreDescription(url: $0) }
      let log = Log()
      container.loadPersistentStores { log.add($0, $1) }
      let context = container.newBackgroundContext()
      let artist = SmallGallery.Artist(context: context)
      artist.name = "Hilma"
      let second = try #require(container.persistentStoreCoordinator.persistentStores.last)
      context.assign(SmallGallery.Artist(context: context), to: second)
      try context.save()
      func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
      }
      #expect(try names().contains("one.quire-log"))
      try container.close()
      #expect(try names() == ["one.quire", "two.quire"])
      #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
      context.processPendingChanges()
      #expect { try artist.value(forKey: "name") } throws: {
        code(of: $0) == .persistentStoreOperation
      }
      container.loadPersistentStores { log.add($0, $1) }
      #expect(log.all.allSatisfy { $0.1 == nil } && artist.name == "Hilma")
      try container.close()
    }
  }

  @Test func `a store that nobody saves to is one file after a while`() async throws {
    try await withTemporaryFolder { folder in
      let container = container()
      var options = PersistentStoreOptions.migrating
      #expect(options.idleLogLimit == .seconds(10))
      options.idleLogLimit = .milliseconds(30)
      try container.loadPersistentStore(at: folder.appending(path: "a.quire"), options: options)
      let context = container.newBackgroundContext()
      for _ in 0..<50 { SmallGallery.Artist(context: context).name = "Hilma" }
      try context.save()
      var names: [String] = []
      for _ in 0..<1000 {
        names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        if !names.contains("a.quire-log") { break }
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(!names.contains("a.quire-log"))
      #expect(try context.count(for: FetchRequest<SmallGallery.Artist>()) == 50)
      try container.close()
    }
  }

  @Test @MainActor func `a subclass says where stores are and how contexts are set up`()
    async throws
  {
    try await withTemporaryFolder { folder in
      Library.folder.withLock { $0 = folder.appending(path: "library") }
      let library = Library(
        name: "Books", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
      let url = library.persistentStoreDescriptions.first?.url
      #expect(url?.deletingLastPathComponent().lastPathComponent == "library")
      try await library.loadPersistentStores()
      #expect(library.loadCount.withLock { $0 } == 1)
      #expect(FileManager.default.fileExists(atPath: url?.path() ?? "-"), "the folder was made")
      #expect(library.viewContext.transactionAuthor == "view")
      #expect(library.viewContext === library.viewContext)
      let author = await library.performBackgroundTask { $0.transactionAuthor }
      #expect(author == "library")
      try library.close()
    }
  }

  private final class Library: PersistentContainer, @unchecked Sendable {
    static let folder = Mutex(URL(filePath: "/"))
    let loadCount = Mutex(0)

    override class func defaultDirectoryURL() -> URL { folder.withLock { $0 } }

    override func newBackgroundContext() -> sending ManagedObjectContext {
      let context = super.newBackgroundContext()
      context.transactionAuthor = "library"
      return context
    }

    @MainActor override var viewContext: ManagedObjectContext {
      let context = super.viewContext
      context.transactionAuthor = "view"
      return context
    }

    @concurrent
    @discardableResult
    override func loadPersistentStores() async throws -> [PersistentStore] {
      loadCount.withLock { $0 += 1 }
      return try await super.loadPersistentStores()
    }
  }

  @Test func `contexts are keys of dictionaries and members of sets, each for itself`() throws {
    let container = container()
    let (one, two) = (container.newBackgroundContext(), container.newBackgroundContext())
    let names = [one: "one", two: "two"]
    #expect(names[one] == "one" && names[two] == "two" && one != two)
    #expect(Set([one, two, one]).count == 2)
  }
}
