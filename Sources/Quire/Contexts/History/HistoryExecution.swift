import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectContext {
  /// Fetches or deletes history of the coordinator's stores. Objects of the context are not
  /// involved.
  ///
  /// Changes of entities that the model no longer has are left out.
  ///
  /// - Throws: ``PersistenceError/Code/persistentHistoryTokenExpired`` (134301) when a store's
  ///   history does not reach back to the token, because that part was deleted or a mapping model
  ///   migrated the store, or does not reach the token yet, because the store was restored from a
  ///   backup: fetch all objects again, and continue from
  ///   ``PersistentStoreCoordinator/currentPersistentHistoryToken(fromStores:)``;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` (134091) if none of the
  ///   stores keeps a history; ``PersistenceError/Code/undefinedKey`` if a predicate has a key that
  ///   histories do not have; ``PersistenceError/Code/persistentStoreSave`` (134030) if history
  ///   cannot be deleted.
  /// - Complexity: O(transactions after the token, with their changes if these are fetched).
  @discardableResult
  public final func execute(
    _ request: PersistentHistoryChangeRequest
  ) throws -> PersistentHistoryResult {
    guard let coordinator = persistentStoreCoordinator else {
      throw PersistenceError(
        .persistentStoreOperation,
        "the context has no coordinator: set persistentStoreCoordinator first")
    }
    return try coordinator.execute(request)
  }
}

extension PersistentStoreCoordinator {
  /// Executes a history request; see `ManagedObjectContext.execute(_:)`. No context is needed.
  @discardableResult
  public func execute(
    _ request: PersistentHistoryChangeRequest
  ) throws -> PersistentHistoryResult {
    let stores = request.affectedStores ?? persistentStores
    for store in stores { try checkOwn(store) }
    var execution = try HistoryExecution(request)
    for store in stores {
      do {
        switch request.action {
        case .fetch: try store.pages.read { try execution.fetch(from: store, $0) }
        case .delete: try execution.delete(from: store)
        }
      } catch let error as StorageError {
        throw PersistenceError(
          request.action == .fetch ? .persistentStoreOperation : .persistentStoreSave,
          "the store's history cannot be \(request.action == .fetch ? "read" : "changed")",
          orUnknown: "whether the store's history was changed", error)
      }
    }
    return try execution.result()
  }
}

/// The execution of one history request on several stores.
private struct HistoryExecution {
  typealias Facts = PersistentHistoryTransaction.Facts

  /// A transaction, with its changes if they were read.
  struct Item {
    let facts: Facts
    var changes: [PersistentHistoryChange] = []
  }

  private let request: PersistentHistoryChangeRequest
  private let filter: HistoryFilter?
  private let needsChanges: Bool
  private var hasHistory = false
  private var items: [Item] = []

  init(_ request: PersistentHistoryChangeRequest) throws {
    self.request = request
    filter =
      request.action == .fetch ? try request.fetchRequest.map { try HistoryFilter($0) } : nil
    needsChanges =
      filter?.subject == .changes
      || [.objectIDs, .changesOnly, .transactionsAndChanges].contains(request.resultType)
  }

  // MARK: Fetching

  mutating func fetch(from store: PersistentStore, _ snapshot: Snapshot) throws {
    guard try StoreSchema.hasEntities(store.entities.schemaBytes, in: snapshot) else {
      throw PersistenceError(
        .persistentStoreIncompatibleVersionHash,
        "the store was migrated to another version of the model since this coordinator opened it")
    }
    let number = request.token?.transactionNumbers[store.identifier]
    guard let history = try StoredHistory(in: snapshot) else {
      if let number { throw Self.expired(number, "\(store.identifier) keeps no history any more") }
      return
    }
    hasHistory = true
    if let number { try Self.check(number, history, store) }
    var found: [Item] = []
    try history.forEach(after: number ?? 0) { number, bytes in
      var reader = ByteReader(bytes)
      let head = try HistoryRecord.Head(from: &reader)
      if case .date(let date) = request.line, head.timestamp <= date { return true }
      let facts = Facts(store.identifier, number, head)
      if let filter, filter.subject == .transactions, try !filter.isMatch(facts) { return true }
      found.append(try item(facts, bytes, store))
      return true
    }
    merge(found)
  }

  private func item(
    _ facts: Facts, _ bytes: UnsafeRawBufferPointer, _ store: PersistentStore
  ) throws -> Item {
    guard needsChanges else { return Item(facts: facts) }
    return Item(facts: facts, changes: try HistoryRecord(bytes).changes(facts, in: store))
  }

  private static func check(
    _ number: Int64, _ history: StoredHistory, _ store: PersistentStore
  ) throws {
    if number < history.mark.purgedNumber {
      throw expired(
        number,
        "the history of \(store.identifier) up to \(history.mark.purgedNumber) is gone")
    }
    let last = try history.lastNumber
    if number > last {
      throw expired(
        number,
        "the history of \(store.identifier) ends at \(last): an earlier state of the store is back")
    }
  }

  private static func expired(_ number: Int64, _ reason: String) -> PersistenceError {
    PersistenceError(
      .persistentHistoryTokenExpired,
      "nobody can tell what was saved after transaction \(number): \(reason). Fetch the objects "
        + "anew, and go on from the current token")
  }

  /// Merges a store's transactions with those found so far by their times, without changing the
  /// order within a store.
  private mutating func merge(_ found: [Item]) {
    guard !items.isEmpty, !found.isEmpty else {
      items += found
      return
    }
    let others = items
    items = []
    items.reserveCapacity(others.count + found.count)
    var (left, right) = (others[...], found[...])
    while let first = left.first, let second = right.first {
      let isFirst = first.facts.head.timestamp <= second.facts.head.timestamp
      items.append(isFirst ? left.removeFirst() : right.removeFirst())
    }
    items += left
    items += right
  }

  // MARK: Deleting

  mutating func delete(from store: PersistentStore) throws {
    guard !store.isReadOnly else {
      throw PersistenceError(
        .persistentStoreSave,
        "the store was opened read-only: open it for writing to delete its history")
    }
    var gone: [Item] = []
    try store.pages.write { transaction in
      guard let history = try StoredHistory(in: transaction) else { return }
      hasHistory = true
      var last: Int64?
      var end = Int64.max
      if case .token(let token) = request.line {
        guard let number = token?.transactionNumbers[store.identifier] else { return }
        // Nothing to do for transactions that are deleted already.
        try Self.check(max(number, history.mark.purgedNumber), history, store)
        end = number
      }
      try history.forEach(after: 0) { number, bytes in
        guard number < end else { return false }
        var reader = ByteReader(bytes)
        let head = try HistoryRecord.Head(from: &reader)
        if case .date(let date) = request.line, head.timestamp >= date { return false }
        last = number
        if request.resultType != .statusOnly {
          gone.append(try item(Facts(store.identifier, number, head), bytes, store))
        }
        return true
      }
      guard let last else { return }
      transaction.isForRemoval = true
      try StoredHistory.purge(through: last, in: transaction)
    }
    merge(gone)
  }

  // MARK: Results

  func result() throws -> PersistentHistoryResult {
    guard hasHistory else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "no store that was asked keeps a history: add it with PersistentHistoryTrackingKey")
    }
    let type = request.resultType
    if request.action == .delete, type == .statusOnly {
      return PersistentHistoryResult(resultType: type, result: true)
    }
    let (items, changes) = try chosen()
    let result: any Sendable =
      switch type {
      case .statusOnly: !items.isEmpty
      case .objectIDs: Self.uniqueIDs(of: changes)
      case .count: filter?.subject == .changes ? changes.count : items.count
      case .transactionsOnly:
        items.map { PersistentHistoryTransaction(facts: $0.facts, changes: nil) }
      case .changesOnly: changes.map(\.withoutTransaction)
      case .transactionsAndChanges:
        items.map { PersistentHistoryTransaction(facts: $0.facts, changes: $0.changes) }
      }
    return PersistentHistoryResult(resultType: type, result: result)
  }

  /// The items and changes that the fetch request selects, in its order.
  private func chosen() throws -> (items: [Item], changes: [PersistentHistoryChange]) {
    guard let filter else { return (items, items.flatMap(\.changes)) }
    guard filter.subject == .changes else {
      let items = filter.arranged(items) { ($0.facts, nil) }
      return (items, items.flatMap(\.changes))
    }
    var pairs: [(facts: Facts, change: PersistentHistoryChange)] = []
    for item in items {
      for change in item.changes where try filter.isMatch(item.facts, change) {
        pairs.append((item.facts, change))
      }
    }
    pairs = filter.arranged(pairs) { ($0.facts, $0.change) }
    var indexes: [ObjectIdentifier: Int] = [:]
    var chosen: [Item] = []
    for (facts, change) in pairs {
      if let index = indexes[ObjectIdentifier(facts)] {
        chosen[index].changes.append(change)
      } else {
        indexes[ObjectIdentifier(facts)] = chosen.count
        chosen.append(Item(facts: facts, changes: [change]))
      }
    }
    return (chosen, pairs.map(\.change))
  }

  private static func uniqueIDs(of changes: [PersistentHistoryChange]) -> [ManagedObjectID] {
    var seen: Set<ManagedObjectID> = []
    return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
  }
}

extension HistoryRecord {
  /// The changes of objects whose entities the store still has.
  func changes(
    _ facts: PersistentHistoryTransaction.Facts, in store: PersistentStore
  ) -> [PersistentHistoryChange] {
    var changes: [PersistentHistoryChange] = []
    changes.reserveCapacity(head.changeCount)
    var id = head.firstChangeID
    for group in groups {
      // Change IDs do not depend on what is left out.
      defer { id += Int64(group.changeCount) }
      guard let storage = store.entities.storage(of: Reference(entity: group.entity, key: 1)) else {
        continue
      }
      var changeID = id
      func add(
        _ type: PersistentHistoryChangeType, _ key: Int64, names: Set<String> = [],
        _ tombstone: [String: AttributeValue]? = nil
      ) {
        changes.append(
          PersistentHistoryChange(
            changeID: changeID,
            changedObjectID: ManagedObjectID(
              entity: storage.binding.entity, store: store.identity, key: key),
            changeType: type, updatedPropertyNames: names, preservedValues: tombstone, facts: facts)
        )
        changeID += 1
      }
      for key in group.inserted { add(.insert, key) }
      for update in group.updated {
        add(.update, update.key, names: Set(update.names.map { group.names[Int($0)] }))
      }
      for deletion in group.deleted {
        let values = deletion.tombstone.map { (group.names[Int($0.name)], $0.value) }
        let tombstone = values.isEmpty ? nil : Dictionary(values) { _, last in last }
        add(.delete, deletion.key, tombstone)
      }
    }
    return changes
  }
}

extension PersistentHistoryChange {
  fileprivate var withoutTransaction: PersistentHistoryChange {
    PersistentHistoryChange(
      changeID: changeID, changedObjectID: changedObjectID, changeType: changeType,
      updatedPropertyNames: updatedPropertyNames, preservedValues: preservedValues, facts: nil)
  }
}
