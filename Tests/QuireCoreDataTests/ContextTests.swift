import Foundation
import QuireCoreData
import Synchronization
import Testing

/// The notifications that a test has seen, in their order.
final class Seen: @unchecked Sendable {
  private let lock = NSLock()
  private var kept: [Notification] = []
  private var tokens: [NSObjectProtocol] = []

  init(_ names: Notification.Name..., of object: AnyObject) {
    tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
        [weak self] notification in
        self?.lock.withLock { self?.kept.append(notification) }
      }
    }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

  var all: [Notification] { lock.withLock { kept } }
}

@Suite struct ContextTests {
  private let container = Library.container()

  @Test func `notifications are posted with Core Data's names and keys`() throws {
    let context = Library.context()
    let seen = Seen(
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
      .NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectIDsNotification,
      of: context)
    let book = Library.book("Emma", in: context)
    try context.save()
    let names = seen.all.map(\.name)
    #expect(names.contains(.NSManagedObjectContextObjectsDidChange))
    #expect(names.contains(.NSManagedObjectContextWillSave))
    let saved = try #require(seen.all.first { $0.name == .NSManagedObjectContextDidSave })
    #expect(saved.object as? NSManagedObjectContext === context)
    #expect(saved.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [book])
    #expect(saved.userInfo?[NSUpdatedObjectsKey] == nil)
    let ids = try #require(
      seen.all.first { $0.name == NSManagedObjectContext.didSaveObjectIDsNotification })
    #expect(ids.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [book.objectID])
    book.pages = 5
    context.delete(Library.book("Gone", in: context))
    try context.save()
    let last = seen.all.last { $0.name == .NSManagedObjectContextDidSave }
    #expect(last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [book])
    let key = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
    #expect(key == NSUpdatedObjectsKey)
    context.reset()
    #expect(seen.all.last?.userInfo?[NSInvalidatedAllObjectsKey] != nil)
  }

  @Test func `a save is merged from its notification`() throws {
    let coordinator = container.persistentStoreCoordinator
    let contexts = (0..<2).map { _ in
      let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let book = Library.book("Emma", in: contexts[0])
    try contexts[0].save()
    let same = try contexts[1].existingObject(with: book.objectID) as? Book
    #expect(same?.pages == 0 && same !== book)
    let seen = Seen(.NSManagedObjectContextDidSave, of: contexts[0])
    book.pages = 9
    try contexts[0].save()
    #expect(same?.pages == 0)
    contexts[1].mergeChanges(fromContextDidSave: try #require(seen.all.last))
    #expect(same?.pages == 9)
    book.pages = 10
    try contexts[0].save()
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [book.objectID]], into: [contexts[1]])
    #expect(same?.pages == 10)
  }

  /// Merging into the main context, or telling it of a save, came back to a queue whose block was
  /// waiting.
  @MainActor @Test func `queues that wait for each other in one call do not deadlock`() throws {
    let (one, two) = (container.newBackgroundContext(), container.newBackgroundContext())
    let view = container.viewContext
    var order: [String] = []
    view.performAndWait {
      one.performAndWait {
        two.performAndWait {
          one.performAndWait {
            order.append("one")
            view.performAndWait { order.append("view") }
          }
        }
        two.performAndWait { order.append("two") }
      }
    }
    #expect(order == ["one", "view", "two"])
  }

  @Test func `changes from elsewhere are merged on each context's own queue`() async throws {
    let context = container.newBackgroundContext()
    let id = try await context.perform {
      let book = Library.book("Emma", in: context)
      try context.save()
      return book.objectID
    }
    enum Merge { case awaited, begun, over }
    let merge = Mutex(Merge.awaited)
    let duringBlock = Mutex(Merge.over)
    await withCheckedContinuation { continuation in
      context.perform {
        DispatchQueue.global().async {
          merge.withLock { $0 = .begun }
          NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
          merge.withLock { $0 = .over }
          continuation.resume()
        }
        while merge.withLock({ $0 == .awaited }) { Thread.sleep(forTimeInterval: 0.001) }
        // Long enough for a merge that does not wait for this block to be over.
        Thread.sleep(forTimeInterval: 0.1)
        duringBlock.withLock { $0 = merge.withLock { $0 } }
      }
    }
    #expect(duringBlock.withLock { $0 } == .begun, "the merge did not wait for the context's block")
  }

  @Test func `perform moves a block to the context's queue, and waiting does not deadlock`()
    async throws
  {
    let context = container.newBackgroundContext()
    let order = Mutex<[String]>([])
    await withCheckedContinuation { continuation in
      context.perform {
        Library.book("Emma", in: context)
        context.performAndWait { order.withLock { $0.append("nested") } }
        order.withLock { $0.append("outer") }
        continuation.resume()
      }
    }
    #expect(order.withLock { $0 } == ["nested", "outer"])
    let count = try await context.perform { try context.count(for: Book.fetchRequest()) }
    #expect(count == 1)
    #expect(context.performAndWait { context.insertedObjects.count } == 1)
    #expect(throws: NSError.self) {
      try context.performAndWait { throw NSError(domain: "Own", code: 7) }
    }
  }

  // `await context.perform { … }` did not compile without `try`, whatever the block was.
  @Test func `perform rethrows the error of its block, and needs no try if there is none`() async {
    let context = container.newBackgroundContext()
    #expect(await context.perform { context.hasChanges } == false)
    #expect(await container.performBackgroundTask { $0.hasChanges } == false)
    #expect(await container.persistentStoreCoordinator.perform { 7 } == 7)
    let own = NSError(domain: "Own", code: 7)
    await #expect(throws: own) { try await context.perform { throw own } }
    await #expect(throws: own) { try await container.performBackgroundTask { _ in throw own } }
  }

  @Test func `parent and child share a queue, and a child's save goes to its parent`() async throws
  {
    let parent = container.newBackgroundContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    #expect(child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
    try await child.perform {
      Library.book("Emma", in: child)
      try child.save()
      // On the queue of the parent too: no wait for another queue.
      #expect(parent.performAndWait { parent.insertedObjects.count } == 1)
      try parent.save()
    }
    let count = try await parent.perform { try parent.count(for: Book.fetchRequest()) }
    #expect(count == 1 && child.parent === parent)
  }

  @Test @MainActor func `a context of the main queue brings its parent to that queue`() async throws
  {
    let root = container.newBackgroundContext()
    let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    child.parent = root
    let seen = Seen(.NSManagedObjectContextObjectsDidChange, of: child)
    Library.book("Emma", in: child)
    for _ in 0..<100 where seen.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(seen.all.count == 1)
    try child.save()
    #expect(root.performAndWait { root.insertedObjects.count } == 1)
  }

  @Test func `a background task's save reaches the context of the main queue`() async throws {
    let container = container
    let viewContext = container.viewContext
    #expect(viewContext === container.viewContext)
    await viewContext.perform { viewContext.automaticallyMergesChangesFromParent = true }
    let id = try await container.performBackgroundTask { context in
      let book = Library.book("Emma", pages: 1, in: context)
      try context.save()
      return book.objectID
    }
    let pages = { await viewContext.perform { (viewContext.object(with: id) as? Book)?.pages } }
    #expect(await pages() == 1)
    await withCheckedContinuation { continuation in
      container.performBackgroundTask { context in
        (context.object(with: id) as? Book)?.pages = 2
        try? context.save()
        continuation.resume()
      }
    }
    for _ in 0..<100 where await pages() != 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await pages() == 2)
  }

  @Test func `a merge policy resolves the conflict of two saves`() throws {
    let coordinator = container.persistentStoreCoordinator
    func context(_ policy: Any) -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      context.mergePolicy = policy
      return context
    }
    let first = context(NSErrorMergePolicy)
    let book = Library.book("Emma", in: first)
    try first.save()
    func conflict(_ policy: Any, _ pages: Int32) throws -> Book? {
      let second = context(policy)
      let same = try second.existingObject(with: book.objectID) as? Book
      _ = same?.pages
      book.pages += 1
      try first.save()
      same?.pages = pages
      try second.save()
      first.refreshAllObjects()
      return book
    }
    let error = #expect(throws: NSError.self) { _ = try conflict(NSErrorMergePolicy, 50) }
    #expect(error?.code == NSManagedObjectMergeError)
    #expect((error?.userInfo["conflictList"] as? [Any])?.count == 1)
    #expect(try conflict(NSMergeByPropertyObjectTrumpMergePolicy, 50)?.pages == 50)
    #expect(try conflict(NSMergePolicy.mergeByPropertyStoreTrump, 80)?.pages == 51)
    #expect(try conflict(NSMergePolicy(merge: .overwriteMergePolicyType), 90)?.pages == 90)
  }

  @Test func `changes are listed, undone, rolled back and refreshed`() throws {
    let context = Library.context()
    context.undoManager = UndoManager()
    let book = Library.book("Emma", in: context)
    #expect(context.hasChanges && context.insertedObjects == [book])
    try context.save()
    book.pages = 5
    context.processPendingChanges()
    #expect(context.updatedObjects == [book] && context.registeredObjects == [book])
    context.undo()
    #expect(book.pages == 0)
    context.redo()
    #expect(book.pages == 5)
    context.rollback()
    #expect(book.pages == 0 && !context.hasChanges)
    context.refresh(book, mergeChanges: false)
    #expect(book.isFault)
    context.delete(book)
    #expect(context.deletedObjects == [book])
    context.userInfo["kept"] = 1
    #expect(context.userInfo["kept"] as? Int == 1)
    #expect(context.registeredObject(for: book.objectID) === book)
  }

  @Test func `a save without changes posts what a save posts`() throws {
    let context = Library.context()
    let seen = Seen(.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, of: context)
    try context.save()
    #expect(
      seen.all.map(\.name) == [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave])
    let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    for notification in seen.all { other.mergeChanges(fromContextDidSave: notification) }
  }

  @Test func `the save of a context that reads a fixed state tells which it reads now`() throws {
    let context = Library.context()
    try context.setQueryGenerationFrom(.current)
    let seen = Seen(.NSManagedObjectContextDidSave, of: context)
    Library.book("Emma", in: context)
    try context.save()
    let userInfo = seen.all.first?.userInfo
    #expect(userInfo?[NSManagedObjectContextQueryGenerationKey] is NSQueryGenerationToken)
    #expect(
      NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
        == NSManagedObjectContextQueryGenerationKey)
  }

  /// The helper of many libraries, for a function that returns what a block computes.
  private func run<Result>(_ perform: (() -> Void) -> Void, _ work: () -> Result) -> Result? {
    var result: Result?
    withoutActuallyEscaping(work) { work in perform { result = work() } }
    return result
  }

  @Test func `performAndWait is passed on as a function of a plain block`() {
    let context = Library.context()
    #expect(run(context.performAndWait) { context.registeredObjects.count } == 0)
    let count = context.performAndWait { context.insertedObjects.count }
    #expect(count == 0)
  }
}
