import Foundation
import QuireCoreData
import Testing

@Suite struct DeletionNoticeTests {
  private let context = Library.context()

  /// Core Data tells the deletion of an object that was inserted in the same event.
  @Test func `an object that is inserted and deleted in one event is told as deleted`() throws {
    nonisolated(unsafe) var told: [Set<NSManagedObject>] = []
    nonisolated(unsafe) var inserted = 0
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { notification in
      if let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> {
        told.append(deleted)
      }
      let new = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
      inserted += new?.count ?? 0
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let book = Library.book("Emma", in: context)
    context.delete(book)
    context.processPendingChanges()
    #expect(told == [[book]] && inserted == 0)
    try context.save()
    #expect(told.count == 1 && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
  }

  /// Core Data has it in `deletedObjects` until the next save.
  @Test func `an object whose deletion was merged is among the deleted ones until a save`() throws {
    let book = Library.book("Emma", in: context)
    try context.save()
    let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { [context] in context.mergeChanges(fromContextDidSave: $0) }
    defer { NotificationCenter.default.removeObserver(token) }
    other.delete(other.object(with: book.objectID))
    try other.save()
    #expect(context.deletedObjects == [book] && !context.hasChanges)
    try context.save()
    #expect(context.deletedObjects.isEmpty)
  }

  /// Core Data documents the IDs of the rows that were deleted, whatever has deleted them.
  @Test func `a batch deletion has the IDs of what its cascades have deleted`() throws {
    let shelf = Shelf(context: context)
    let book = Library.book("Emma", on: shelf, in: context)
    try context.save()
    let request = NSBatchDeleteRequest(objectIDs: [shelf.objectID])
    request.resultType = .resultTypeObjectIDs
    let result = try context.execute(request) as? NSBatchDeleteResult
    #expect(Set(result?.result as? [NSManagedObjectID] ?? []) == [shelf.objectID, book.objectID])
  }
}
