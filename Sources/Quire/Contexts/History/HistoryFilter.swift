import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The value of one key of transactions or changes.
enum HistoryKey {
  case author, bundleID, changeCount, contextName, processID, storeID, timestamp, token
  case transactionNumber
  case changeID, changeType, changedEntityName, changedObjectID, updatedProperties

  private static let ofTransactions: [String: HistoryKey] = [
    "author": .author, "bundleID": .bundleID, "changeCount": .changeCount,
    "contextName": .contextName, "processID": .processID, "storeID": .storeID,
    "timestamp": .timestamp, "token": .token, "transactionNumber": .transactionNumber,
  ]

  private static let ofChanges: [String: HistoryKey] = [
    "changeID": .changeID, "changeType": .changeType, "changedEntity.name": .changedEntityName,
    "changedObjectID": .changedObjectID, "updatedProperties": .updatedProperties,
  ]

  /// - Throws: ``PersistenceError/Code/undefinedKey`` for other keys.
  init(_ names: [String], of subject: PersistentHistoryFetchRequest.Subject) throws {
    let key = names.joined(separator: ".")
    let found: HistoryKey?
    var known: [String]
    switch subject {
    case .transactions:
      found = Self.ofTransactions[key]
      known = Array(Self.ofTransactions.keys)
    case .changes:
      found =
        Self.ofChanges[key]
        ?? (names.first == "transaction"
          ? Self.ofTransactions[names.dropFirst().joined(separator: ".")] : nil)
      known = Self.ofChanges.keys + Self.ofTransactions.keys.map { "transaction.\($0)" }
    }
    guard let found else {
      known.sort()
      var error = PersistenceError(
        .undefinedKey,
        "\(subject) of a history have no \(key); they have \(known.joined(separator: ", "))")
      error.key = key
      throw error
    }
    self = found
  }

  func value(
    of facts: PersistentHistoryTransaction.Facts, _ change: PersistentHistoryChange?
  ) -> PredicateValue? {
    switch self {
    case .author: facts.head.author.predicateValue
    case .bundleID: facts.head.bundleID.predicateValue
    case .changeCount: facts.head.changeCount.predicateValue
    case .contextName: facts.head.contextName.predicateValue
    case .processID: facts.head.processID.predicateValue
    case .storeID: facts.store.uuidString.predicateValue
    case .timestamp: facts.head.timestamp.predicateValue
    case .token: PersistentHistoryToken([facts.store: facts.number]).transactionValue
    case .transactionNumber: facts.number.predicateValue
    case .changeID: change?.changeID.predicateValue
    case .changeType: change?.changeType.rawValue.predicateValue
    case .changedEntityName: change?.changedObjectID.entity.name.predicateValue
    case .changedObjectID: change?.changedObjectID.predicateValue
    case .updatedProperties: change?.updatedPropertyNames.predicateValue
    }
  }
}

/// A fetch request, prepared for evaluation on many transactions or changes.
struct HistoryFilter {
  typealias Facts = PersistentHistoryTransaction.Facts

  let subject: PersistentHistoryFetchRequest.Subject
  private let evaluator: PredicateEvaluator?
  private let predicateKeys: [HistoryKey]
  private let sortDescriptors: [FetchSortDescriptor]
  private let sortKeys: [HistoryKey]
  private let limit: Int
  private let offset: Int

  private struct Subject: PredicateSubject {
    let facts: Facts
    let change: PersistentHistoryChange?
    let keys: [HistoryKey]

    func value(atPath index: Int) -> PredicateValue? { keys[index].value(of: facts, change) }

    var identity: OpaqueIdentity {
      change.map { OpaqueIdentity($0.changeID) } ?? OpaqueIdentity(facts.number)
    }
  }

  init(_ request: PersistentHistoryFetchRequest) throws {
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch of \(request.fetchLimit) \(request.subject) from number \(request.fetchOffset) "
          + "makes no sense")
    }
    subject = request.subject
    evaluator = try request.predicate.map { try PredicateEvaluator(requested: $0) }
    predicateKeys = try (evaluator?.paths ?? []).map { try HistoryKey($0, of: request.subject) }
    sortDescriptors = request.sortDescriptors
    sortKeys = try sortDescriptors.map { try HistoryKey($0.keyPath, of: request.subject) }
    limit = request.fetchLimit
    offset = request.fetchOffset
  }

  func isMatch(_ facts: Facts, _ change: PersistentHistoryChange? = nil) throws -> Bool {
    do {
      return try evaluator?.evaluate(Subject(facts: facts, change: change, keys: predicateKeys))
        ?? true
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  /// The items in the request's order, within its offset and limit.
  func arranged<Item>(
    _ items: [Item], _ parts: (Item) -> (Facts, PersistentHistoryChange?)
  ) -> [Item] {
    var items = items
    if !sortKeys.isEmpty {
      let keyed = items.enumerated().map { position, item in
        let (facts, change) = parts(item)
        return (position: position, keys: sortKeys.map { $0.value(of: facts, change) })
      }
      let sorted = keyed.sorted { left, right in
        for (index, descriptor) in sortDescriptors.enumerated() {
          let order = descriptor.compare(left.keys[index], right.keys[index])
          if order != 0 { return order < 0 }
        }
        return left.position < right.position
      }
      items = sorted.map { items[$0.position] }
    }
    let rest = items.dropFirst(offset)
    return Array(limit == 0 ? rest : rest.prefix(limit))
  }
}
