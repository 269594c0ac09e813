import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A save of a store, as its history records it.
public struct PersistentHistoryTransaction: Sendable {
  /// The facts of a transaction without its changes, which refer to them.
  final class Facts: Sendable {
    let store: UUID
    let number: Int64
    let head: HistoryRecord.Head

    init(_ store: UUID, _ number: Int64, _ head: HistoryRecord.Head) {
      self.store = store
      self.number = number
      self.head = head
    }
  }

  let facts: Facts
  /// The inserted, updated and deleted objects, in this order for each entity; `nil` if the request
  /// did not ask for changes.
  public let changes: [PersistentHistoryChange]?

  /// The time of the save, by the machine's clock, which may have been set back since.
  public var timestamp: Date { facts.head.timestamp }
  /// The number of the transaction. Numbers increase in a store, with gaps.
  public var transactionNumber: Int64 { facts.number }
  /// The store's UUID as a string.
  public var storeID: String { facts.store.uuidString }
  /// The name of the program that saved.
  public var bundleID: String { facts.head.bundleID }
  /// The number of the process that saved, as a string.
  public var processID: String { facts.head.processID }
  /// ``ManagedObjectContext/name`` of the context that saved.
  public var contextName: String? { facts.head.contextName }
  /// ``ManagedObjectContext/transactionAuthor`` of the context that saved.
  public var author: String? { facts.head.author }
  /// The number of changes, even if they were not requested.
  public var changeCount: Int { facts.head.changeCount }
  /// The token for the position after this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([facts.store: facts.number]) }

  /// Chooses among transactions, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public static var fetchRequest: PersistentHistoryFetchRequest {
    PersistentHistoryFetchRequest(.transactions)
  }
}

/// The kind of a change of an object. The raw values are those of Core Data.
public enum PersistentHistoryChangeType: Int, Sendable {
  /// The object was new.
  case insert = 0
  /// The object was changed.
  case update = 1
  /// The object was deleted.
  case delete = 2
}

/// The change of one object in one save.
public struct PersistentHistoryChange: Sendable {
  /// The ID of the change. IDs increase in a store.
  public let changeID: Int64
  /// The object, with the entity that it has now. A deleted object has only this and ``tombstone``.
  public let changedObjectID: ManagedObjectID
  /// What the save was to the object.
  public let changeType: PersistentHistoryChangeType
  /// The names of the properties that an update has changed, at the time of the save.
  public let updatedPropertyNames: Set<String>
  package let preservedValues: [String: AttributeValue]?
  let facts: PersistentHistoryTransaction.Facts?

  /// The properties that an update has changed, if the model still has them under these names;
  /// `nil` for insertions and deletions. See ``updatedPropertyNames``.
  public var updatedProperties: Set<PropertyDescription>? {
    guard changeType == .update else { return nil }
    return Set(
      changedObjectID.entity.properties.lazy.filter { updatedPropertyNames.contains($0.name) })
  }

  /// The last values of a deleted object, by name, of the attributes with
  /// `AttributeDescription.preservesValueInHistoryOnDeletion`; `nil` if there are none.
  public var tombstone: [String: Any]? { preservedValues?.mapValues(\.plainValue) }

  /// The transaction, without its changes; `nil` if only changes were requested.
  public var transaction: PersistentHistoryTransaction? {
    facts.map { PersistentHistoryTransaction(facts: $0, changes: nil) }
  }

  /// A fetch request for changes, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public static var fetchRequest: PersistentHistoryFetchRequest {
    PersistentHistoryFetchRequest(.changes)
  }
}
