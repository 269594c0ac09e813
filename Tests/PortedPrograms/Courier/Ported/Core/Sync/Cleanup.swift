import Foundation
import QuireCoreData

/// Work on many rows, by batches.
public struct Cleanup {
  private let store: Store

  public init(store: Store) {
    self.store = store
  }

  /// Removes delivered parcels and their stops.
  public func removeDelivered(before date: Date) throws -> Int {
    let context = store.newContext()
    return try context.performAndWait {
      let request: NSFetchRequest<NSFetchRequestResult> = Parcel.fetchRequest()
      request.predicate = NSPredicate(
        format: "state == %d AND uploadedAt != nil AND uploadedAt < %@",
        Int(ParcelState.delivered.rawValue), date as NSDate)
      let delete = NSBatchDeleteRequest(fetchRequest: request)
      delete.resultType = .resultTypeObjectIDs
      let result = try context.execute(delete) as? NSBatchDeleteResult
      let ids = result?.result as? [NSManagedObjectID] ?? []
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [store.container.viewContext])
      return ids.count
    }
  }

  /// Lets everything be sent again.
  public func resetUploads() throws -> Int {
    let context = store.newContext()
    return try context.performAndWait {
      let request = NSBatchUpdateRequest(entity: Parcel.entity())
      request.propertiesToUpdate = ["uploadedAt": NSExpression(forConstantValue: nil)]
      request.resultType = .updatedObjectsCountResultType
      let result = try context.execute(request) as? NSBatchUpdateResult
      return result?.result as? Int ?? 0
    }
  }

  /// Raises prices in the store, without an object.
  public func raisePrices(byPercent percent: Int) throws {
    let context = store.newContext()
    try context.performAndWait {
      let request = NSBatchUpdateRequest(entityName: "Parcel")
      request.predicate = NSPredicate(format: "price != nil")
      request.propertiesToUpdate = [
        "price": NSExpression(format: "price * (100 + %d) / 100", percent)
      ]
      try context.execute(request)
    }
  }

  /// Loads depots, all at once.
  public func loadDepots(_ names: [String], capacity: Int) throws -> Int {
    let context = store.newContext()
    return try context.performAndWait {
      let objects: [[String: Any]] = names.map { ["name": $0, "capacity": capacity] }
      let request = NSBatchInsertRequest(entityName: "Depot", objects: objects)
      request.resultType = .count
      let result = try context.execute(request) as? NSBatchInsertResult
      return result?.result as? Int ?? 0
    }
  }

  public func purgeHistory(before date: Date) throws -> Bool {
    let context = store.newContext()
    return try context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: date)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return result != nil
    }
  }
}
