import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The machine dies after every single operation on the disk, while a history is begun, grows and
/// is deleted in part. What is found afterwards tells of the objects that are there.
@Suite struct HistoryCrashTests {
  private func open(
    _ disk: SimulatedDisk, _ options: PersistentStoreOptions = HistoryLibrary.tracking
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: HistoryLibrary.model)
    try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: "/library.quire"), options: options, in: disk)
    return GotchaHome.context(of: coordinator)
  }

  /// Four saves, and a deletion of history between them.
  ///
  /// - Returns: how many saves returned, and whether the deletion did.
  private func run(_ disk: SimulatedDisk) -> (saved: Int, isPurged: Bool) {
    var (saved, isPurged) = (0, false)
    do {
      let context = try open(disk)
      var books: [ManagedObject] = []
      for round in 1...4 {
        for book in books.suffix(2) { try book.setValue("round \(round)", forKey: "title") }
        if round > 2 { context.delete(books.removeFirst()) }
        for number in 0..<2 {
          let isbn = String(repeating: "isbn \(round) \(number) ", count: 60)
          books.append(try context.insert("Book", ["isbn": isbn]))
        }
        try context.save()
        saved = round
        if round == 3 {
          let token = try context.history()[1].token
          _ = try context.execute(.deleteHistory(before: token))
          isPurged = true
        }
      }
      try context.closeStores()
    } catch {}
    return (saved, isPurged)
  }

  /// What the changes of a history make of no objects, or of those that were there before them.
  private func replayed(
    _ history: [PersistentHistoryTransaction], from before: Set<Int64>
  ) -> Set<Int64> {
    var keys = before
    for change in history.flatMap({ $0.changes ?? [] }) {
      switch change.changeType {
      case .insert: keys.insert(change.changedObjectID.key)
      case .update: #expect(keys.contains(change.changedObjectID.key))
      case .delete:
        keys.remove(change.changedObjectID.key)
        #expect((change.tombstone?["isbn"] as? String)?.hasPrefix("isbn") == true)
      }
    }
    return keys
  }

  @Test func `history and objects agree, wherever the machine dies`() throws {
    let whole = SimulatedDisk()
    #expect(run(whole) == (4, true))
    var imageCount = 0
    var found: Set<Int> = []
    for operation in 0...whole.operationCount {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let (saved, isPurged) = run(disk)
      let images = disk.crashImages()
      // Of many the extremes, and others after each operation.
      let places =
        images.count > Amount.of(sampled: 6, exhaustive: .max)
        ? [0, 1, images.count - 1, 2 + operation % (images.count - 3)] : Array(images.indices)
      for image in places.map({ images[$0] }) {
        imageCount += 1
        // As it is: the history need not have begun.
        let context = try open(SimulatedDisk(image), [:])
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        guard context.historyToken != nil else {
          #expect(saved == 0)
          continue
        }
        let history = try context.history()
        let books = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
        let isShort = (history.first?.changes?.first?.changeID ?? 1) > 1
        #expect(isShort || !isPurged)
        // Before the first transaction that is left, the first save had made two books.
        let keys = replayed(history, from: isShort ? [1, 2] : [])
        #expect(keys == Set(books.map(\.objectID.key)), "crash after \(operation)")
        let transactionCount = history.count + (isShort ? 1 : 0)
        #expect((saved...saved + 1).contains(transactionCount), "crash after \(operation)")
        found.insert(transactionCount)
      }
    }
    print("history: \(imageCount) images")
    #expect(found == [0, 1, 2, 3, 4])
  }
}
