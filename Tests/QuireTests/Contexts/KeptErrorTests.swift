import Quire
import QuireStorage
import QuireTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A program that exported a damaged store through typed properties wrote an empty value, and was
/// never told: it neither fetched nor saved again before it ended.
@Suite struct KeptErrorTests {
  final class Work: ManagedObject {
    @Managed var title: String
    @Managed var sketch: Data?
    @Managed var photo: Data?
    @Managed var next: Work?
  }

  private final class Reports: Sendable {
    private let errors = Mutex<[String]>([])
    var all: [String] { errors.withLock { $0 } }
    func add(_ error: any Error) { errors.withLock { $0.append("\(error)") } }
  }

  private static let model = try! ManagedObjectModel {
    Entity("Work") {
      Attribute("title", .string)
      Attribute("sketch", .binaryData, storedExternally: true)
      Attribute("photo", .binaryData, storedExternally: true)
      Relationship("next", toOne: "Work")
    }
  }

  /// A coordinator with a store in which every sketch and photo is damaged.
  private func damagedStore(in folder: URL) throws -> PersistentStoreCoordinator {
    let url = folder.appending(path: "works.quire")
    do {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: Self.model, classes: [Work.self])
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      var last: Work?
      for number in 1...3 {
        let work = Work(context: context)
        work.title = "title \(number)"
        work.sketch = Data(repeating: 8, count: 200_000)
        work.photo = Data(repeating: 7, count: 200_000)
        work.next = last
        last = work
      }
      try context.save()
      try coordinator.remove(store)
    }
    var bytes = try [UInt8](Data(contentsOf: url))
    var damagedCount = 0
    for start in stride(from: 0, to: bytes.count, by: 4096) {
      // The middle of a sketch or a photo.
      let part = bytes[start..<min(start + 4096, bytes.count)].dropFirst(1000).prefix(1000)
      guard part.count == 1000, part.allSatisfy({ $0 == 7 }) || part.allSatisfy({ $0 == 8 })
      else { continue }
      bytes[start + 2000] ^= 0x20
      damagedCount += 1
    }
    #expect(damagedCount > 10)
    try Data(bytes).write(to: url)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model, classes: [Work.self])
    try coordinator.addPersistentStore(type: .quire, at: url)
    return coordinator
  }

  @Test func `a read error of a damaged page is reported, and thrown by the next call`() throws {
    try withTemporaryFolder { folder in
      let coordinator = try damagedStore(in: folder)
      let reports = Reports()
      coordinator.keptErrorHandler = { reports.add($0) }
      let context = GotchaHome.context(of: coordinator)
      let works = try context.fetch(FetchRequest<Work>())
      #expect(works.map(\.title).sorted() == ["title 1", "title 2", "title 3"])
      #expect(context.keptErrors.isEmpty && reports.all.isEmpty)
      for work in works { #expect(work.sketch == nil) }
      #expect(context.keptErrors.count == 3, "\(context.keptErrors)")
      #expect(context.keptErrors.allSatisfy { $0 is StorageError })
      #expect(reports.all.count == 3)
      for work in works { #expect(work.sketch == nil) }
      #expect(reports.all.count == 3, "the same is told once")

      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.underlying is StorageError)
      #expect(error?.detailedErrors.count == 2)
      #expect(context.keptErrors.isEmpty)
      try context.save()

      _ = works[0].sketch
      #expect(throws: StorageError.self) { try context.fetch(FetchRequest<Work>()) }
      _ = works[0].photo
      #expect(throws: StorageError.self) { try context.throwKeptErrors() }
      try context.throwKeptErrors()
    }
  }

  @Test func `a reading that throws says at once that a page is damaged, and keeps nothing`() throws
  {
    try withTemporaryFolder { folder in
      let coordinator = try damagedStore(in: folder)
      let reports = Reports()
      coordinator.keptErrorHandler = { reports.add($0) }
      let context = GotchaHome.context(of: coordinator)
      var request = FetchRequest<Work>()
      request.predicate = Key("title") == "title 3"
      let work = try #require(try context.fetch(request).first)
      #expect(try work.value(of: \.title) == "title 3")
      #expect(try work.value(of: \.next?.next?.title) == "title 1")
      #expect(throws: StorageError.self) { try work.value(of: \.sketch) }
      #expect(throws: StorageError.self) { try work.value(of: \.photo) }
      #expect(throws: StorageError.self) { try work.value(of: \.next?.sketch?.count) }
      #expect(context.keptErrors.isEmpty && reports.all.isEmpty)
      try context.save()
      // What was kept before stays.
      _ = work.sketch
      #expect(try work.value(of: \.title) == "title 3")
      #expect(context.keptErrors.count == 1)
      #expect(throws: StorageError.self) { try context.throwKeptErrors() }
    }
  }

  @Test func `an error that a context has not thrown when it ends is handed over`() throws {
    try withTemporaryFolder { folder in
      let coordinator = try damagedStore(in: folder)
      let reports = Reports()
      coordinator.keptErrorHandler = { reports.add($0) }
      let elsewhere = GotchaHome.context(of: coordinator)
      let stranger = try #require(try elsewhere.fetch(FetchRequest<Work>()).first)
      do {
        let context = GotchaHome.context(of: coordinator)
        let work = try #require(try context.fetch(FetchRequest<Work>()).first)
        work.next = stranger
        #expect(context.keptErrors.count == 1)
        #expect(reports.all.isEmpty, "the next fetch or save throws it")
      }
      #expect(reports.all.count == 1)
      #expect(reports.all.first?.contains("next") ?? false, "\(reports.all)")
      do {
        let context = GotchaHome.context(of: coordinator)
        let work = try #require(try context.fetch(FetchRequest<Work>()).first)
        work.next = stranger
        #expect(throws: PersistenceError.self) { try context.save() }
      }
      #expect(reports.all.count == 1, "that one was thrown")
    }
  }

  /// A program that reads, and ends in order, has nothing left that throws.
  @Test func `closing a container throws what its contexts keep, once`() throws {
    try withTemporaryFolder { folder in
      let url = try #require(try damagedStore(in: folder).persistentStores.first?.url)
      let container = PersistentContainer(
        name: "Works", managedObjectModel: Self.model, classes: [Work.self])
      try container.loadPersistentStore(at: url)
      container.persistentStoreCoordinator.keptErrorHandler = { _ in }
      let (one, two) = (container.newBackgroundContext(), container.newBackgroundContext())
      let work = try #require(try one.fetch(FetchRequest<Work>()).first)
      _ = work.sketch
      work.next = try two.fetch(FetchRequest<Work>()).first
      let error = #expect(throws: PersistenceError.self) { try container.close() }
      #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
      let all = error.map { [$0] + $0.detailedErrors }?.map { "\($0)" } ?? []
      #expect(all.count == 2 && all.contains { $0.contains("next") }, "\(all)")
      try container.close()

      try container.loadPersistentStore(at: url)
      let three = container.newBackgroundContext()
      _ = try #require(try three.fetch(FetchRequest<Work>()).first).sketch
      #expect(throws: StorageError.self) { try three.throwKeptErrors() }
      try container.close()
    }
  }

  @Test func `a child's properties tell as its parent's do`() throws {
    try withTemporaryFolder { folder in
      let coordinator = try damagedStore(in: folder)
      let reports = Reports()
      coordinator.keptErrorHandler = { reports.add($0) }
      let parent = GotchaHome.context(of: coordinator)
      let child = ManagedObjectContext(parent: parent)
      let work = try #require(try child.fetch(FetchRequest<Work>()).first)
      #expect(work.sketch == nil)
      #expect(reports.all.count == 1)
      #expect(throws: (any Error).self) { try child.save() }
    }
  }

  @Test func `many errors are bounded`() {
    var kept = KeptErrors()
    for page in 1...1000 {
      let isNew = kept.keep(
        StorageError.damaged(page: PageID(rawValue: UInt32(page)), reason: "rotten"))
      #expect(isNew == (page <= KeptErrors.limit))
    }
    #expect(kept.errors.count == KeptErrors.limit)
    let error = kept.take() as? PersistenceError
    #expect(error?.detailedErrors.count == KeptErrors.limit - 1)
    #expect(kept.isEmpty && kept.take() == nil)
  }
}
