import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The history record of a save or a batch request in preparation.
///
/// It is made before anything is written, as the values to preserve from deleted objects still
/// exist then.
struct HistoryRecording {
  private let writer: StoreWriter
  private let author: String?
  private let contextName: String?
  /// By the references of deleted objects.
  private var tombstones: [Reference: [(name: String, value: AttributeValue)]] = [:]

  /// - Parameters:
  ///   - author: ``ManagedObjectContext/transactionAuthor`` of the context that saves.
  ///   - contextName: its ``ManagedObjectContext/name``.
  /// - Returns: `nil` when the store keeps no history.
  init?(
    author: String?, contextName: String?, to store: PersistentStore, _ writer: StoreWriter
  ) throws {
    // Nobody can begin a history while the transaction is open.
    guard store.hub.mayHaveHistory,
      try writer.transaction.recordTree(StoreSchema.historyTree) != nil
    else { return nil }
    self.writer = writer
    self.author = author
    self.contextName = contextName
  }

  /// Keeps the values to preserve from objects that will be deleted.
  mutating func keepTombstones(of deleted: some Sequence<Reference>) throws {
    var (known, fields) = (nil as EntityStorage?, [] as [Int])
    for reference in deleted {
      guard let storage = writer.entities.storage(of: reference) else { continue }
      if storage !== known { (known, fields) = (storage, storage.preservedFields) }
      if fields.isEmpty { continue }
      tombstones[reference] = try writer.withRow(reference) { row in
        try fields.compactMap { field in
          try row.value(field).map { (storage.layout.fields[field].name, $0) }
        }
      }
    }
  }

  /// Writes the record, after all new objects have their references.
  ///
  /// - Returns: the number of the transaction; `nil` if nothing was changed.
  func write(
    inserted: some Sequence<Reference>, updated: some Sequence<SavedChanges.Update>,
    deleted: some Sequence<Reference>
  ) throws -> Int64? {
    var groups = GroupsByEntity()
    for reference in inserted {
      groups.change(reference.entity) { $0.inserted.append(reference.key) }
    }
    for update in updated {
      guard let storage = writer.entities.storage(of: update.reference) else { continue }
      groups.change(update.reference.entity) { group in
        let names = update.slots.map { group.index(of: storage.binding.name(of: $0)) }
        group.updated.append(.init(key: update.reference.key, names: names))
      }
    }
    for reference in deleted {
      groups.change(reference.entity) { group in
        var deletion = HistoryRecord.Group.Deletion(key: reference.key)
        for (name, value) in tombstones[reference] ?? [] {
          deletion.tombstone.append((group.index(of: name), value))
        }
        group.deleted.append(deletion)
      }
    }
    let changeCount = groups.sorted.reduce(0) { $0 + $1.changeCount }
    // Assigning an object its present values is no change.
    guard changeCount > 0 else { return nil }
    let process = ProcessInfo.processInfo
    let record = HistoryRecord(
      head: .init(
        timestamp: Date(), firstChangeID: 1, changeCount: changeCount, author: author,
        contextName: contextName, bundleID: process.processName,
        processID: "\(process.processIdentifier)"),
      groups: groups.sorted)
    return try StoredHistory.append(record, in: writer.transaction)
  }

  /// Changes by entity. Consecutive ones mostly have the same entity.
  private struct GroupsByEntity {
    private var groups: [HistoryRecord.Group] = []
    private var last = 0

    mutating func change(_ entity: UInt16, _ body: (inout HistoryRecord.Group) -> Void) {
      if !groups.indices.contains(last) || groups[last].entity != entity {
        last = groups.firstIndex { $0.entity == entity } ?? groups.count
        if last == groups.count { groups.append(HistoryRecord.Group(entity: entity)) }
      }
      body(&groups[last])
    }

    var sorted: [HistoryRecord.Group] { groups.sorted { $0.entity < $1.entity } }
  }
}

extension EntityStorage {
  /// The fields whose values a history keeps when an object is deleted.
  fileprivate var preservedFields: [Int] {
    layout.fields.indices.filter { field in
      let slot = slotByField[field]
      guard slot >= 0, case .attribute(let attribute) = binding.properties[slot] else {
        return false
      }
      return attribute.preservesValueInHistoryOnDeletion
    }
  }
}
