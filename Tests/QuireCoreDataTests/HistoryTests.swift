import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// A program that was ported as Apple's samples write it filtered the history by
/// `NSPersistentHistoryTransaction.fetchRequest` and an `NSPredicate`, and did not compile: the
/// request was Quire's, and took Quire's predicates.
@Suite struct HistoryTests {
  private let folder: TemporaryFolder
  private let coordinator: NSPersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil,
      at: folder.url.appendingPathComponent("history.store"),
      options: [NSPersistentHistoryTrackingKey: true as NSNumber])
  }

  private func context(_ author: String) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = author
    return context
  }

  /// Two transactions of the app, and one of an import between them.
  private func fill() throws {
    for (author, title) in [("app", "Emma"), ("import", "Typee"), ("app", "Omoo")] {
      let context = context(author)
      Library.book(title, pages: 100, in: context)
      try context.save()
    }
  }

  private func transactions(
    _ request: NSPersistentHistoryChangeRequest
  ) throws -> [NSPersistentHistoryTransaction] {
    let result = try context("reader").execute(request) as? NSPersistentHistoryResult
    return try #require(result?.result as? [NSPersistentHistoryTransaction])
  }

  @Test func `a predicate chooses among the transactions after a token`() throws {
    try fill()
    let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?))
    #expect(all.map(\.author) == ["app", "import", "app"])
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: all[0].token)
    let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
    fetch.predicate = NSPredicate(format: "%K != %@", "author", "import")
    request.fetchRequest = fetch
    #expect(try transactions(request).map(\.transactionNumber) == [all[2].transactionNumber])
    fetch.predicate = NSPredicate(format: "author == 'import' OR token > %@", all[1].token)
    fetch.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
    let found = try transactions(.fetchHistory(withFetch: fetch))
    #expect(found.map(\.author) == ["app", "import"])
  }

  @Test func `a predicate chooses among changes`() throws {
    try fill()
    let context = context("editor")
    let book = try #require(context.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
    book.pages = 7
    try context.save()
    let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
    fetch.predicate = NSPredicate(
      format: "changeType == %d", NSPersistentHistoryChangeType.update.rawValue)
    let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
    request.resultType = .changesOnly
    let result = try context.execute(request) as? NSPersistentHistoryResult
    let changes = try #require(result?.result as? [NSPersistentHistoryChange])
    #expect(changes.map(\.changedObjectID) == [book.objectID])
    #expect(changes.first?.updatedProperties?.map(\.name) == ["pages"])
    #expect(changes.first?.tombstone == nil)
  }

  @Test func `a request for objects is no condition of a history`() throws {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(
      withFetch: NSFetchRequest(entityName: "Book"))
    #expect {
      try context("reader").execute(request)
    } throws: {
      ($0 as NSError).localizedDescription.contains("a fetch request for Book is no condition")
    }
  }

  @Test func `a transaction is a notification that contexts merge`() throws {
    let reader = context("reader")
    let book = Library.book("Emma", pages: 100, in: reader)
    try reader.save()
    let other = context("other")
    try #require(other.fetch(NSFetchRequest<Book>(entityName: "Book")).first).pages = 7
    try other.save()
    let transaction = try #require(
      transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?)).last)
    #expect(book.pages == 100)
    let userInfo = transaction.objectIDNotification().userInfo ?? [:]
    #expect(
      userInfo[NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue]
        as? Set<NSManagedObjectID> == [book.objectID])
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: userInfo, into: [reader])
    #expect(book.pages == 7)
    book.pages = 100
    reader.refresh(book, mergeChanges: false)
    reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    #expect(book.pages == 7)
  }

  @Test func `changes are chosen by their entity`() throws {
    let writer = context("writer")
    let shelf = Shelf(context: writer)
    Library.book("Emma", on: shelf, in: writer)
    try writer.save()
    let model = try #require(writer.persistentStoreCoordinator?.managedObjectModel)
    func count(_ format: String) throws -> Int? {
      let condition = try #require(NSPersistentHistoryChange.fetchRequest)
      condition.predicate = NSPredicate(format: format, model.entitiesByName["Shelf"])
      let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: condition)
      request.resultType = .changesOnly
      let result = try writer.execute(request) as? NSPersistentHistoryResult
      return (result?.result as? [NSPersistentHistoryChange])?.count
    }
    #expect(try count("changedEntity == %@") == 1)
    #expect(try count("changedEntity != %@ AND changeType == 0") == 1)
    #expect(try count("changedEntity.name == %@") == 1)
  }
}
