import Foundation
import Quire
import QuireModel

/// One save of a store, as its history keeps it.
public final class NSPersistentHistoryTransaction: NSObject, Sendable {
  /// The transaction in Quire's form.
  public let quireTransaction: PersistentHistoryTransaction

  init(_ transaction: PersistentHistoryTransaction) { quireTransaction = transaction }

  /// A request for transactions, to be given a predicate and an order, for
  /// ``NSPersistentHistoryChangeRequest/fetchRequest`` and
  /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public class var fetchRequest: NSFetchRequest<NSFetchRequestResult>? {
    NSFetchRequest(entityName: HistorySubject.transactions.rawValue)
  }

  /// The inserted, updated and deleted objects; `nil` if the request did not ask for them.
  public var changes: [NSPersistentHistoryChange]? {
    quireTransaction.changes?.map(NSPersistentHistoryChange.init)
  }
  /// The time of the save.
  public var timestamp: Date { quireTransaction.timestamp }
  /// The number of the transaction. Numbers increase in a store, with gaps.
  public var transactionNumber: Int64 { quireTransaction.transactionNumber }
  /// The UUID of the store.
  public var storeID: String { quireTransaction.storeID }
  /// The name of the program that saved.
  public var bundleID: String { quireTransaction.bundleID }
  /// The number of the process that saved.
  public var processID: String { quireTransaction.processID }
  /// The name of the context that saved.
  public var contextName: String? { quireTransaction.contextName }
  /// The author that the context that saved had.
  public var author: String? { quireTransaction.author }
  /// The position in the history after this transaction.
  public var token: NSPersistentHistoryToken { quireTransaction.token }

  /// The changes as a notification that contexts can merge.
  public func objectIDNotification() -> Notification {
    NSManagedObjectContext.notification(of: quireTransaction.objectIDNotification())
  }
}

/// One change of an object in a transaction.
public final class NSPersistentHistoryChange: NSObject, Sendable {
  /// The change in Quire's form.
  public let quireChange: PersistentHistoryChange

  init(_ change: PersistentHistoryChange) { quireChange = change }

  /// A request for changes, to be given a predicate and an order, for
  /// ``NSPersistentHistoryChangeRequest/fetchRequest`` and
  /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public class var fetchRequest: NSFetchRequest<NSFetchRequestResult>? {
    NSFetchRequest(entityName: HistorySubject.changes.rawValue)
  }

  /// The ID of the change. IDs increase in a store.
  public var changeID: Int64 { quireChange.changeID }
  /// The object.
  public var changedObjectID: NSManagedObjectID { quireChange.changedObjectID }
  /// Whether the object was inserted, updated or deleted.
  public var changeType: NSPersistentHistoryChangeType { quireChange.changeType }
  /// The values that a deleted object has left, of the attributes that are kept for the history.
  public var tombstone: [AnyHashable: Any]? {
    quireChange.tombstone.map { values in
      Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0), cocoaNumber($1)) })
    }
  }
  /// The transaction, without its changes; `nil` if only changes were requested.
  public var transaction: NSPersistentHistoryTransaction? {
    quireChange.transaction.map(NSPersistentHistoryTransaction.init)
  }
  /// The properties that an update has changed, if the model still has them; `nil` for insertions
  /// and deletions.
  public var updatedProperties: Set<NSPropertyDescription>? {
    guard changeType == .update else { return nil }
    let names = quireChange.updatedPropertyNames
    let entity = NSEntityDescription(detached: changedObjectID.entity)
    return Set(entity.properties.filter { names.contains($0.name) })
  }
}

/// What a request for history is a condition of: the name of Core Data's entity.
enum HistorySubject: String {
  case transactions = "TRANSACTION"
  case changes = "CHANGE"
}

extension PersistentHistoryFetchRequest {
  /// The condition that a request of Core Data's form states.
  ///
  /// - Throws: error 134091 for a request for objects of a model, and for a predicate that has a
  ///   block.
  init(_ request: NSFetchRequest<NSFetchRequestResult>) throws {
    switch request.entityName.flatMap(HistorySubject.init) {
    case .transactions: self = PersistentHistoryTransaction.fetchRequest
    case .changes: self = PersistentHistoryChange.fetchRequest
    case nil:
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch request for \(request.entityName ?? "no entity") is no condition of a history: "
          + "use NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange"
          + ".fetchRequest")
    }
    // An entity is compared by its name.
    predicate = try request.predicate?.fetchPredicate().replacingLeaves { leaf, _ in
      leaf == .keyPath(["changedEntity"]) ? .keyPath(["changedEntity", "name"]) : nil
    }
    sortDescriptors = try (request.sortDescriptors ?? []).map { try $0.fetchSortDescriptor() }
    fetchLimit = request.fetchLimit
    fetchOffset = request.fetchOffset
  }
}
