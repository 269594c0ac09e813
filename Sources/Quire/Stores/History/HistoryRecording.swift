import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a save will write into the history of its store.
///
/// Made before the save writes anything, as what is to be kept of deleted objects is then still
/// there.
struct HistoryRecording {
  private let writer: StoreWriter
  private let author: String?
  private let contextName: String?
  /// By places of deleted objects.
  private var tombstones: [Reference: [(name: String, value: AttributeValue)]] = [:]

  /// - Returns: `nil` when the store keeps no history.
  init?(
    _ save: SaveOperation, of context: ManagedObjectContext, to store: PersistentStore,
    _ writer: StoreWriter
  ) throws {
    // Nobody can begin a history while the transaction is open.
    guard store.hub.mayHaveHistory,
      try writer.transaction.recordTree(StoreSchema.historyTree) != nil
    else { return nil }
    self.writer = writer
    author = context.transactionAuthor
    contextName = context.name
    for object in save.deleted {
      guard let storage = object.storage else { continue }
      let fields = storage.layout.fields.indices.filter { field in
        let slot = storage.slotByField[field]
        guard slot >= 0, case .attribute(let attribute) = storage.binding.properties[slot] else {
          return false
        }
        return attribute.preservesValueInHistoryOnDeletion
      }
      if fields.isEmpty { continue }
      tombstones[object.reference] = try writer.withRow(object.reference) { row in
        try fields.compactMap { field in
          try row.value(field).map { (storage.layout.fields[field].name, $0) }
        }
      }
    }
  }

  /// Enters the save, when all its objects have their places.
  func write(_ save: SaveOperation) throws {
    var groups: [UInt16: HistoryRecord.Group] = [:]
    func change(_ entity: UInt16, _ body: (inout HistoryRecord.Group) -> Void) {
      body(&groups[entity, default: HistoryRecord.Group(entity: entity)])
    }
    for item in save.inserted {
      change(item.reference.entity) { $0.inserted.append(item.reference.key) }
    }
    for update in save.updated {
      let reference = update.object.reference
      change(reference.entity) { group in
        let names = update.changedSlots.map { group.place(of: update.object.binding.name(of: $0)) }
        group.updated.append(.init(key: reference.key, names: names))
      }
    }
    for object in save.deleted {
      change(object.reference.entity) { group in
        var deletion = HistoryRecord.Group.Deletion(key: object.reference.key)
        for (name, value) in tombstones[object.reference] ?? [] {
          deletion.tombstone.append((group.place(of: name), value))
        }
        group.deleted.append(deletion)
      }
    }
    let changeCount = groups.values.reduce(0) { $0 + $1.changeCount }
    // Objects that were set to what they were are no change.
    guard changeCount > 0 else { return }
    let process = ProcessInfo.processInfo
    let record = HistoryRecord(
      head: .init(
        timestamp: Date(), firstChangeID: 1, changeCount: changeCount, author: author,
        contextName: contextName, bundleID: process.processName,
        processID: "\(process.processIdentifier)"),
      groups: groups.sorted { $0.key < $1.key }.map(\.value))
    save.historyNumber = try StoredHistory.append(record, in: writer.transaction)
  }
}
