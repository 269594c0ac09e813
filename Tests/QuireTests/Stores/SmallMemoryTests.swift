#if os(Linux)
  import Quire
  import QuireModel
  import QuireSimulation
  import Testing

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What a large store takes of the memory of a process that has little, as an app extension: each
  /// is measured in a process of its own.
  @Suite struct SmallMemoryTests {
    final class Book: ManagedObject {
      @Managed var title: String
      @Managed var notes: String
      @Managed var pages: Int64
      @Managed var shelf: Shelf?
    }

    final class Shelf: ManagedObject {
      @Managed var name: String
      @Managed var books: Set<Book>
    }

    /// In debug fewer books, with longer notes: a file that is larger than what may be in memory.
    private static let count = Amount.of(debug: 60_000, release: 1_000_000)
    private static let notes = String(repeating: "n", count: Amount.of(debug: 600, release: 24))

    /// What the setting promises; of code that is not optimised some 6 MB more are in memory.
    #if DEBUG
      private static let limit = 32 << 20
    #else
      private static let limit = 24 << 20
    #endif

    private static func open(
      _ path: String, savesMemory: Bool
    ) throws -> PersistentStoreCoordinator {
      let model = try ManagedObjectModel {
        Entity("Book") {
          Attribute("title", .string, optional: false, default: "")
          Attribute("notes", .string, optional: false, default: "")
          Attribute("pages", .integer64, optional: false, default: 0)
          Relationship("shelf", toOne: "Shelf", inverse: "books")
          FetchIndexDescription("byTitle", on: "title")
        }
        Entity("Shelf") {
          Attribute("name", .string, optional: false, default: "")
          Relationship("books", toMany: "Book", inverse: "shelf")
        }
      }
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, classes: [Book.self, Shelf.self])
      var options = PersistentStoreOptions()
      options.isShared = true
      options.savesMemory = savesMemory
      try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path), options: options)
      return coordinator
    }

    private static func context(of coordinator: PersistentStoreCoordinator) -> ManagedObjectContext
    {
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      context.mergePolicy = .mergeByPropertyObjectTrump
      return context
    }

    private static func close(_ coordinator: PersistentStoreCoordinator) throws {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func makeStore(at path: String) throws {
      let coordinator = try open(path, savesMemory: false)
      var number = 0
      let request = BatchInsertRequest(
        entityName: "Book",
        rowHandler: { row in
          if number == count { return true }
          row.set("title", to: "Book \(number &* 7919 % count)")
          row.set("notes", to: "\(notes) \(number)")
          row.set("pages", to: Int64(number % 900))
          number += 1
          return false
        })
      _ = try context(of: coordinator).execute(request)
      try close(coordinator)
    }

    /// A fetch that reads all rows, one that looks at all objects in turn, saves of two contexts, a
    /// conflict between them, and a merge.
    private static func work(on path: String, savesMemory: Bool) throws {
      let coordinator = try open(path, savesMemory: savesMemory)
      let (one, other) = (context(of: coordinator), context(of: coordinator))
      one.automaticallyMergesChangesFromParent = true
      var request = FetchRequest<Book>()
      request.predicate = try FetchPredicate(format: "pages == 899 AND notes ENDSWITH '9'")
      request.sortDescriptors = [FetchSortDescriptor(key: "title")]
      request.fetchLimit = 100
      let found = try one.fetch(request)
      guard found.count > 50, found.allSatisfy({ $0.pages == 899 }) else {
        throw Violation("\(found.count) were found")
      }
      var all = FetchRequest<Book>()
      all.fetchBatchSize = 100
      var sum = 0
      for book in try one.fetchBatched(all) { sum += Int(book.pages) }
      guard sum == (0..<count).reduce(0, { $0 + $1 % 900 }) else { throw Violation("\(sum)") }

      let same = try other.fetch(request)
      for (context, books) in [(one, found), (other, same)] {
        for book in books { book.title += "!" }
        let shelf = Shelf(context: context)
        for number in 0..<2_000 {
          let book = Book(context: context)
          book.title = "New \(number)"
          book.shelf = shelf
        }
        try context.save()
      }
      one.processPendingChanges()
      guard found.allSatisfy({ $0.title.hasSuffix("!") }),
        try one.count(Book.self) == count + 4_000
      else { throw Violation("it was not saved, or not merged") }
      try close(coordinator)
    }

    /// By how many bytes the most memory that the process has had exceeds what it had before.
    private static func growth(_ body: () throws -> Void) throws -> Int {
      func memory(_ key: String) throws -> Int {
        let text = String(
          decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        guard words.count > 1, let count = Int(words[1]) else { throw Violation(text) }
        return count << 10
      }
      let before = try memory("VmRSS:")
      try body()
      // The kernel counts the peak less often than the present.
      return try max(memory("VmHWM:"), memory("VmRSS:")) - before
    }

    @Test func `a store that saves memory takes at most 24 MB, and one that does not more`()
      async throws
    {
      let folder = try TemporaryFolder()
      let (path, otherPath) = (folder.path + "/books.quire", folder.path + "/others.quire")
      for path in [path, otherPath] { try Self.makeStore(at: path) }
      await #expect(processExitsWith: .success) { [path = path as String] in
        try SmallMemoryTests.measure(path, savesMemory: true)
      }
      await #expect(processExitsWith: .success) { [path = otherPath as String] in
        try SmallMemoryTests.measure(path, savesMemory: false)
      }
      let (small, usual) = (try Self.growth(of: path), try Self.growth(of: otherPath))
      #expect(small <= Self.limit, "\(small >> 10) KiB, usually \(usual >> 10)")
      #expect(usual > Self.limit, "\(usual >> 10) KiB, saving memory \(small >> 10)")
    }

    /// Works in this process, and leaves the figure beside the store.
    private static func measure(_ path: String, savesMemory: Bool) throws {
      let growth = try growth { try work(on: path, savesMemory: savesMemory) }
      try Data("\(growth)".utf8).write(to: URL(filePath: path + ".growth"))
    }

    private static func growth(of path: String) throws -> Int {
      let data = try Data(contentsOf: URL(filePath: path + ".growth"))
      return try #require(Int(String(decoding: data, as: UTF8.self)))
    }
  }
#endif
