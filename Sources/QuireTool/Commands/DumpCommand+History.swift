import Foundation
import Quire
import QuireModel

extension DumpCommand {
  /// A line for each transaction.
  func dumpHistory(of context: ManagedObjectContext, to console: Console) throws {
    guard let coordinator = context.persistentStoreCoordinator,
      coordinator.currentPersistentHistoryToken(fromStores: nil) != nil
    else { return console.note("the store keeps no history") }
    let everything = PersistentHistoryChangeRequest.fetchHistory(
      after: nil as PersistentHistoryToken?)
    for transaction in try context.execute(everything).transactions {
      console.output.write(line(transaction).lineText + "\n")
      guard console.output.isOpen else { return }
    }
  }

  private func line(_ transaction: PersistentHistoryTransaction) -> JSONValue {
    let changes = transaction.changes ?? []
    func ids(_ type: PersistentHistoryChangeType) -> JSONValue {
      JSONValue(changes.filter { $0.changeType == type }.map { "\($0.changedObjectID)" })
    }
    let updates = changes.filter { $0.changeType == .update }.map { change in
      ("\(change.changedObjectID)", JSONValue(change.updatedPropertyNames.sorted()))
    }
    let tombstones = changes.compactMap { change in
      change.preservedValues.map { values in
        let members = values.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) }
        return ("\(change.changedObjectID)", JSONValue.object(members))
      }
    }
    return [
      "transaction": JSONValue(transaction.transactionNumber),
      "timestamp": JSONValue(transaction.timestamp.timeIntervalSinceReferenceDate),
      "author": JSONValue(transaction.author),
      "context": JSONValue(transaction.contextName),
      "program": .string(transaction.bundleID),
      "process": .string(transaction.processID),
      "inserted": ids(.insert),
      "updated": .object(updates),
      "deleted": ids(.delete),
      "tombstones": .object(tombstones),
    ]
  }
}
