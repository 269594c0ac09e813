import CoreData
import Foundation

/// Moves many entries at once, and follows what others have changed.
final class LedgerSync {
  private let store: LedgerStore
  private(set) var lastToken: NSPersistentHistoryToken?

  init(store: LedgerStore) {
    self.store = store
    lastToken = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
  }

  /// Inserts the entries of a file, without objects.
  func importEntries(_ rows: [(amount: String, date: Date, note: String)]) throws -> Int {
    let context = store.newBackgroundContext()
    var inserted = 0
    try context.performAndWait {
      let objects = rows.map { row -> [String: Any] in
        [
          "identifier": UUID(), "amount": NSDecimalNumber(string: row.amount), "date": row.date,
          "note": row.note,
        ]
      }
      let request = NSBatchInsertRequest(entityName: "Entry", objects: objects)
      request.resultType = .objectIDs
      let result = try context.execute(request) as? NSBatchInsertResult
      let ids = result?.result as? [NSManagedObjectID] ?? []
      inserted = ids.count
      let changes = [NSInsertedObjectsKey: ids]
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: changes, into: [self.store.viewContext])
    }
    return inserted
  }

  /// Marks the entries before a day as cleared, and counts them.
  func clearEntries(before day: Date) throws -> Int {
    let request = NSBatchUpdateRequest(entityName: "Entry")
    request.predicate = NSPredicate(format: "date < %@ AND isCleared == NO", day as NSDate)
    request.propertiesToUpdate = [#keyPath(Entry.isCleared): true]
    request.resultType = .updatedObjectIDsResultType
    let result = try store.viewContext.execute(request) as? NSBatchUpdateResult
    let ids = result?.result as? [NSManagedObjectID] ?? []
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [store.viewContext])
    return ids.count
  }

  /// Deletes the entries that have no account.
  func deleteStrayEntries() throws -> Int {
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Entry")
    fetch.predicate = NSPredicate(format: "account == nil")
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeCount
    let result = try store.viewContext.execute(request) as? NSBatchDeleteResult
    store.viewContext.refreshAllObjects()
    return result?.result as? Int ?? 0
  }

  /// The names of the entities that others have changed since the last call.
  func entitiesChangedByOthers() throws -> [String] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
    request.resultType = .transactionsAndChanges
    let result = try store.viewContext.execute(request) as? NSPersistentHistoryResult
    let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
    var names: Set<String> = []
    for transaction in transactions where transaction.author == "background" {
      for change in transaction.changes ?? [] {
        switch change.changeType {
        case .insert, .update, .delete: names.insert(change.changedObjectID.entity.name!)
        @unknown default: break
        }
      }
      store.viewContext.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    }
    lastToken = transactions.last?.token ?? lastToken
    return names.sorted()
  }

  /// Deletes the history before the last token.
  func purgeHistory() throws {
    guard let token = lastToken else { return }
    try store.viewContext.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
  }

  /// Books an entry in the background, and calls back on the main queue.
  func book(
    _ amount: NSDecimalNumber, in accountID: NSManagedObjectID, category: String,
    completion: @escaping (Result<NSManagedObjectID, Error>) -> Void
  ) {
    let context = store.newBackgroundContext()
    context.perform {
      let result = Result<NSManagedObjectID, Error> {
        let account = try context.existingObject(with: accountID) as! Account
        let entry = Entry(context: context)
        entry.amount = amount
        entry.category = try Category.titled(category, in: context)
        account.addToEntries(entry)
        try context.obtainPermanentIDs(for: [entry])
        try context.save()
        return entry.objectID
      }
      DispatchQueue.main.async { completion(result) }
    }
  }
}
