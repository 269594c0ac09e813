import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The machine dies after every single operation on the disk while batch requests run. What is
/// found afterwards has each of them whole or not at all.
@Suite struct BatchCrashTests {
  /// Of so many rows, in pages of this size, most go around the log.
  private static let (count, pageSize) = Amount.of(debug: (2_600, 2048), release: (6_000, 4096))
  private static let authorCount = 50
  private static let shelfCount = Amount.of(debug: 600, release: 2_000)

  private func open(
    _ disk: SimulatedDisk, _ model: ManagedObjectModel
  ) throws -> ManagedObjectContext {
    let path = "/batch.quire"
    if disk.files[path] == nil {
      var options = PageStoreOptions()
      options.pageSize = Self.pageSize
      try PageStore.open(path, options: options, in: disk).close()
    }
    return try TestStore.open(
      VersionedModel(model), [PersistentHistoryTrackingKey: true], at: URL(filePath: path), in: disk
    )
  }

  private static let longText = String(repeating: "long ", count: 80)

  // MARK: Rows that are put

  /// An insertion into an entity whose rows are put one by one, an update of some, and a deletion
  /// of half.
  ///
  /// - Returns: how many requests returned.
  private func run(_ disk: SimulatedDisk) -> Int {
    var doneCount = 0
    do {
      let context = try open(disk, BatchScene.model)
      try context.execute(
        BatchInsertRequest(
          entityName: "Shelf", objects: (0..<Self.shelfCount).lazy.map { ["number": $0] }))
      doneCount = 1
      try context.execute(
        BatchUpdateRequest(
          entityName: "Shelf", predicate: Key("number") < 100,
          propertiesToUpdate: ["number": -1]))
      doneCount = 2
      try context.execute(
        BatchDeleteRequest(
          fetchRequest: BatchScene.request("Shelf", Key("number") >= Self.shelfCount / 2)))
      doneCount = 3
      try context.closeStores()
    } catch {}
    return doneCount
  }

  /// How many requests a store shows.
  private func shown(_ context: ManagedObjectContext) throws -> Int? {
    let count = try context.count(for: BatchScene.request("Shelf"))
    let updated = try context.count(for: BatchScene.request("Shelf", Key("number") == -1))
    switch (count, updated) {
    case (0, 0): return 0
    case (Self.shelfCount, 0): return 1
    case (Self.shelfCount, 100): return 2
    case (Self.shelfCount / 2, 100): return 3
    default: return nil
    }
  }

  @Test func `a batch request is there whole or not at all, wherever the machine dies`() throws {
    let whole = SimulatedDisk()
    #expect(run(whole) == 3)
    #expect(!whole.reasons.contains(.directPages))
    var found: Set<Int> = []
    var imageCount = 0
    let step = max(1, whole.operationCount / Amount.of(debug: 10, release: 60, exhaustive: .max))
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let doneCount = run(disk)
      let images = disk.crashImages()
      for image in images.count > 3 ? [images[0], images[images.count - 1]] : images {
        imageCount += 1
        let context = try open(SimulatedDisk(image), BatchScene.model)
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        let shown = try #require(try shown(context), "crash after \(operation)")
        #expect((doneCount...doneCount + 1).contains(shown), "crash after \(operation)")
        #expect(try context.history().count == shown, "crash after \(operation)")
        found.insert(shown)
      }
    }
    print("batches: \(imageCount) images")
    #expect(found.isSuperset(of: [0, 1, 3]))
  }

  // MARK: Rows that are built

  /// A batch insertion of books, with indexes and links, into a store with authors and no book, or
  /// one.
  ///
  /// - Returns: how many requests returned.
  private func insertBooks(_ disk: SimulatedDisk, bookCount: Int = 0) -> Int {
    var doneCount = 0
    do {
      let context = try open(disk, BatchScene.library)
      var authors: [ManagedObject] = []
      for number in 0..<Self.authorCount {
        authors.append(try context.insert("Author", ["name": "\(number)"]))
      }
      for _ in 0..<bookCount { try context.insert("Book") }
      try context.save()
      doneCount = 1
      let ids = authors.map(\.objectID)
      try context.execute(
        BatchInsertRequest(
          entityName: "Book",
          objects: (0..<Self.count).lazy.map { number -> [String: Any] in
            [
              "number": number * 7919 % Self.count, "title": "\(number) " + Self.longText,
              "author": ids[number % ids.count],
            ]
          }))
      doneCount = 2
      try context.closeStores()
    } catch {}
    return doneCount
  }

  private struct Violation: Error {}

  /// Lets the machine die at moments of the insertion, and looks at what is left.
  ///
  /// - Parameter step: from every how many operations on; in debug there are half a dozen moments,
  ///   unless it is looked for what is missed.
  /// - Returns: how many requests the stores showed.
  private func crashes(
    step: Int, imageLimit: Int, ignoring ignored: Set<SyncReason> = []
  ) throws -> Set<Int> {
    let whole = SimulatedDisk()
    #expect(insertBooks(whole) == 2)
    let brief = Amount.of(debug: whole.operationCount / 5, release: step)
    let step = ignored.isEmpty ? max(step, brief) : step
    // Pages of rows that are built go around the log; those of rows that are put do not.
    #expect(whole.reasons.contains(.directPages))
    var (found, imageCount): (Set<Int>, Int) = ([], 0)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk(ignoring: ignored)
      disk.crash(after: operation)
      let doneCount = insertBooks(disk)
      let images = disk.crashImages()
      let chosen = stride(from: 0, to: images.count, by: max(1, images.count / imageLimit))
      for image in chosen.map({ images[$0] }) {
        imageCount += 1
        let context = try open(SimulatedDisk(image), BatchScene.library)
        guard try StoreFacts(context).findings == [] else { throw Violation() }
        let books = try context.count(for: BatchScene.request("Book"))
        let authors = try context.count(for: BatchScene.request("Author"))
        let shown = authors == 0 ? 0 : books == 0 ? 1 : 2
        #expect(authors == (shown == 0 ? 0 : Self.authorCount), "crash after \(operation)")
        #expect(books == (shown == 2 ? Self.count : 0), "crash after \(operation)")
        #expect((doneCount...doneCount + 1).contains(shown), "crash after \(operation)")
        #expect(try context.history().count == shown, "crash after \(operation)")
        found.insert(shown)
      }
    }
    print("built rows: \(imageCount) images, shown \(found.sorted())")
    return found
  }

  @Test func `rows and keys that go around the log are there all or none after a crash`() throws {
    // Without runs of keys; and with many, whose trees are made and dropped in the transaction.
    let imageLimit = Amount.of(debug: 2, release: 3)
    #expect(try crashes(step: isExhaustive ? 1 : 3, imageLimit: imageLimit) == [0, 1, 2])
    try KeyMemory.$byteCount.withValue(20_000) {
      let found = try crashes(
        step: isExhaustive ? 1 : 13, imageLimit: Amount.of(debug: 1, release: 2))
      #expect(found == [0, 1, 2])
    }
  }

  // So that the test before can fail: rows are built only where there are none, and what it looks
  // for is there when a disk forgets their pages.
  @Test func `pages of built rows that were not synced are missed after a crash`() throws {
    let other = SimulatedDisk()
    #expect(insertBooks(other, bookCount: 1) == 2)
    #expect(!other.reasons.contains(.directPages))
    #expect(throws: (any Error).self) {
      try crashes(
        step: Amount.of(debug: 5, release: 1), imageLimit: 4, ignoring: [.directPages])
    }
  }
}
