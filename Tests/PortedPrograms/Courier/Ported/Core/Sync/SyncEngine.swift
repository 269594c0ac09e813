import Foundation
import QuireCoreData

/// Brings messages into the store, and what was changed here out of it.
public final class SyncEngine {
  public struct Summary: Equatable {
    public var inserted = 0
    public var updated = 0
    public var rejected: [String] = []

    public init(inserted: Int = 0, updated: Int = 0, rejected: [String] = []) {
      self.inserted = inserted
      self.updated = updated
      self.rejected = rejected
    }
  }

  private let store: Store

  public init(store: Store) {
    self.store = store
  }

  // MARK: Incoming

  /// Inserts all, and lets the constraint find what is there already.
  public func upsert(_ messages: [ParcelMessage]) throws {
    _ = try store.write { context in
      for message in messages {
        let parcel = Parcel(code: message.code, in: context)
        try self.fill(parcel, from: message, in: context)
      }
    }
  }

  /// Looks up what is there, and counts what happens.
  public func merge(_ messages: [ParcelMessage]) throws -> Summary {
    return try store.write { context in
      var summary = Summary()
      let known = try self.parcels(withCodes: messages.map { $0.code }, in: context)
      for message in messages {
        let parcel: Parcel
        if let found = known[message.code] {
          parcel = found
          summary.updated += 1
        } else {
          parcel = Parcel(code: message.code, in: context)
          summary.inserted += 1
        }
        try self.fill(parcel, from: message, in: context)
        do {
          if parcel.isInserted { try parcel.validateForInsert() }
        } catch {
          summary.rejected.append("\(message.code): \(SyncEngine.reason(error))")
          summary.inserted -= 1
          context.delete(parcel)
        }
      }
      return summary
    }
  }

  private func parcels(
    withCodes codes: [String], in context: NSManagedObjectContext
  ) throws -> [String: Parcel] {
    let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
    request.predicate = NSPredicate(format: "%K IN %@", "code", codes)
    request.relationshipKeyPathsForPrefetching = ["customer", "stops"]
    let parcels = try context.fetch(request)
    return Dictionary(parcels.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private func fill(
    _ parcel: Parcel, from message: ParcelMessage, in context: NSManagedObjectContext
  ) throws {
    parcel.setValuesForKeys([
      "weightInGrams": message.grams, "state": message.state.rawValue,
    ])
    if let price = message.price { parcel.price = price as NSDecimalNumber }
    if let labels = message.labels { parcel.labels = labels }
    if let name = message.customer { parcel.customer = try Customer.named(name, in: context) }
    guard let stops = message.stops else { return }
    for stop in parcel.route { context.delete(stop) }
    for message in stops {
      let stop = Stop(context: context)
      stop.address = message.address
      stop.arrivedAt = message.arrivedAt
      if let name = message.depot { stop.depot = try depot(named: name, in: context) }
      parcel.addToStops(stop)
    }
  }

  private func depot(named name: String, in context: NSManagedObjectContext) throws -> Depot {
    let request = NSFetchRequest<Depot>(entityName: Depot.entityName)
    request.predicate = NSPredicate(format: "name = %@", name)
    request.fetchLimit = 1
    if let depot = try context.fetch(request).first { return depot }
    let depot = Depot(context: context)
    depot.name = name
    return depot
  }

  private static func reason(_ error: Error) -> String {
    let error = error as NSError
    if let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] {
      return details.map { reason($0) }.joined(separator: ", ")
    }
    let key = error.userInfo[NSValidationKeyErrorKey] as? String ?? "?"
    return "\(key) \(error.code)"
  }

  // MARK: Outgoing

  /// What was changed since it was last sent.
  public func outgoing() throws -> [ParcelMessage] {
    return try store.write { context in
      let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
      request.predicate = NSPredicate(format: "uploadedAt == nil")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Parcel.code, ascending: true)]
      let now = Date()
      return try context.fetch(request).map { parcel in
        parcel.uploadedAt = now
        return ParcelMessage(
          code: parcel.code, customer: parcel.customer?.name, grams: parcel.weightInGrams,
          state: parcel.state, price: parcel.price as Decimal?, labels: parcel.labels,
          stops: parcel.route.map {
            StopMessage(address: $0.address, arrivedAt: $0.arrivedAt, depot: $0.depot?.name)
          })
      }
    }
  }

  /// Transactions since a token, as lines for a log.
  public func history(
    after token: NSPersistentHistoryToken?
  ) throws -> (lines: [String], token: NSPersistentHistoryToken?) {
    let context = store.newContext()
    return try context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
      request.resultType = .transactionsAndChanges
      let result = try context.execute(request) as! NSPersistentHistoryResult
      let transactions = result.result as! [NSPersistentHistoryTransaction]
      let lines = transactions.flatMap { transaction in
        (transaction.changes ?? []).map { change -> String in
          let verb: String
          switch change.changeType {
          case .insert: verb = "insert"
          case .update: verb = "update"
          case .delete: verb = "delete"
          @unknown default: verb = "?"
          }
          let names = change.updatedProperties?.map { $0.name }.sorted() ?? []
          return "\(verb) \(change.changedObjectID.entity.name) \(names.joined(separator: ","))"
        }
      }
      return (lines, transactions.last?.token ?? token)
    }
  }

  // MARK: Deliveries

  @discardableResult
  public func arrive(parcel code: String, at address: String, on date: Date) throws -> Bool {
    return try store.write { context in
      guard let parcel = try self.parcels(withCodes: [code], in: context)[code],
        let stop = parcel.route.first(where: { $0.address == address && $0.arrivedAt == nil })
      else { return false }
      stop.arrivedAt = date
      if parcel.route.allSatisfy({ $0.arrivedAt != nil }) { parcel.state = .delivered }
      parcel.uploadedAt = nil
      return true
    }
  }

  public func remove(customer name: String) throws {
    try store.write { context in
      let request = NSFetchRequest<Customer>(entityName: "Customer")
      request.predicate = NSPredicate(format: "name == %@", name)
      for customer in try context.fetch(request) { context.delete(customer) }
    }
  }
}
