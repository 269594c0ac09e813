import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The extent of a store's history.
public struct PersistentHistorySummary: Hashable, Sendable {
  /// How many saves the history has.
  public let transactionCount: Int
  /// The number of changes in all transactions.
  public let changeCount: Int
  /// Tokens below this number have expired.
  public let purgedNumber: Int64
  /// The number of the last transaction.
  public let lastNumber: Int64
  /// The time of the oldest transaction in the history.
  public let firstTimestamp: Date?

  init?(_ snapshot: Snapshot) throws {
    guard let history = try StoredHistory(in: snapshot) else { return nil }
    transactionCount = history.tree.count
    purgedNumber = history.mark.purgedNumber
    lastNumber = try history.lastNumber
    let (first, last) = (try history.firstHead, try history.lastHead)
    firstTimestamp = first?.timestamp
    changeCount = Int(
      clamping: (last?.nextChangeID ?? 0).subtractingReportingOverflow(first?.firstChangeID ?? 0)
        .partialValue)
  }
}

extension StoreInspection {
  /// Reads all transactions, and compares the last change of each object with the store.
  mutating func inspectHistory(_ view: StoreView) throws {
    guard let history = try StoredHistory(in: view.snapshot) else { return }
    var last: [Reference: (exists: Bool, number: Int64)] = [:]
    // Not known after a transaction that cannot be read.
    var lastChangeID: Int64? = history.mark.purgedChangeID
    var next = history.mark.purgedNumber
    var isWhole = true
    while isWhole {
      do {
        try history.forEach(after: next) { number, bytes in
          next = number
          let record = try HistoryRecord(bytes)
          if let lastChangeID, record.head.firstChangeID - 1 != lastChangeID {
            findings.append(
              "transaction \(number) of the history begins with change "
                + "\(record.head.firstChangeID), and the last before it was \(lastChangeID)")
          }
          lastChangeID = record.head.nextChangeID - 1
          for group in record.groups {
            func record(_ key: Int64, exists: Bool) {
              last[Reference(entity: group.entity, key: key)] = (exists, number)
            }
            for key in group.inserted { record(key, exists: true) }
            for update in group.updated { record(update.key, exists: true) }
            for deletion in group.deleted { record(deletion.key, exists: false) }
          }
          return true
        }
        isWhole = false
      } catch let error as PersistenceError {
        findings.append(error.message)
        lastChangeID = nil
      }
    }
    do { _ = try history.next(changeCount: 1) } catch let error as PersistenceError {
      findings.append(error.message)
    }
    if let first = try history.tree.firstKey, first <= history.mark.purgedNumber {
      findings.append(
        "the history has transaction \(first), and says that those up to "
          + "\(history.mark.purgedNumber) are gone")
    }
    for (reference, state) in last.sorted(by: { $0.key < $1.key }) {
      guard let storage = view.entities.storage(of: reference),
        try view.contains(reference) != state.exists
      else { continue }
      findings.append(
        "\(storage.stored.name)/p\(reference.key) \(state.exists ? "does not exist" : "exists"), "
          + "though transaction \(state.number) of the history, the last to tell of it, "
          + (state.exists ? "wrote it" : "deleted it"))
    }
  }
}
