import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One save of a store, as its history tells of it.
public struct PersistentHistoryTransaction: Sendable {
  /// What a transaction is without its changes, which refer to it.
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
  /// What was inserted, updated and deleted: by entities, and in each in this order. `nil` when the
  /// request did not ask for changes.
  public let changes: [PersistentHistoryChange]?

  /// When it was saved, by the clock of the machine, which may have been set back since.
  public var timestamp: Date { facts.head.timestamp }
  /// Rises from transaction to transaction of a store, with gaps.
  public var transactionNumber: Int64 { facts.number }
  /// The store's UUID, as a text.
  public var storeID: String { facts.store.uuidString }
  /// The name of the program that saved.
  public var bundleID: String { facts.head.bundleID }
  /// The number of the process that saved, as a text.
  public var processID: String { facts.head.processID }
  /// ``ManagedObjectContext/name`` of the context that saved.
  public var contextName: String? { facts.head.contextName }
  /// ``ManagedObjectContext/transactionAuthor`` of the context that saved.
  public var author: String? { facts.head.author }
  /// How many changes there are, also when they were not asked for.
  public var changeCount: Int { facts.head.changeCount }
  /// The place behind this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([facts.store: facts.number]) }

  /// What a context needs to merge the transaction, by
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``. Without ``changes`` it is empty.
  public func objectIDNotification() -> ObjectIDNotice {
    var notice = ObjectIDNotice(.didSaveObjectIDs, contextName: contextName, author: author)
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: notice.insertedObjectIDs.insert(change.changedObjectID)
      case .update:
        notice.updatedObjectIDs.insert(change.changedObjectID)
        notice.changedProperties[change.changedObjectID] = change.updatedPropertyNames
      case .delete: notice.deletedObjectIDs.insert(change.changedObjectID)
      }
    }
    return notice
  }

  /// Chooses among transactions, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public static var fetchRequest: PersistentHistoryFetchRequest {
    PersistentHistoryFetchRequest(.transactions)
  }
}

/// What a save was to an object. Raw values are Core Data's.
public enum PersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// What one save did to one object.
public struct PersistentHistoryChange: Sendable {
  /// Rises from change to change of a store.
  public let changeID: Int64
  /// The object, with the entity that it has now. Of a deleted one there is nothing but this, and
  /// ``tombstone``.
  public let changedObjectID: ManagedObjectID
  public let changeType: PersistentHistoryChangeType
  /// The names of the properties that an update has changed, as they were called then.
  public let updatedPropertyNames: Set<String>
  package let preservedValues: [String: AttributeValue]?
  let facts: PersistentHistoryTransaction.Facts?

  /// The properties that an update has changed, as far as the model has them under their names of
  /// then; `nil` for insertions and deletions. See ``updatedPropertyNames``.
  public var updatedProperties: Set<PropertyDescription>? {
    guard changeType == .update else { return nil }
    return Set(
      changedObjectID.entity.properties.lazy.filter { updatedPropertyNames.contains($0.name) })
  }

  /// What a deleted object had last: the values, by name, of the attributes that
  /// ``AttributeDescription/preservesValueInHistoryOnDeletion`` says to keep. `nil` when there are
  /// none.
  public var tombstone: [String: Any]? { preservedValues?.mapValues(\.plainValue) }

  /// The transaction, without its changes; `nil` in a result of changes alone.
  public var transaction: PersistentHistoryTransaction? {
    facts.map { PersistentHistoryTransaction(facts: $0, changes: nil) }
  }

  /// Chooses among changes, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public static var fetchRequest: PersistentHistoryFetchRequest {
    PersistentHistoryFetchRequest(.changes)
  }
}
