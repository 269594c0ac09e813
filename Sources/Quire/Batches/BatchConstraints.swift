import QuireModel
import QuireStorage

/// Finds objects with the same values of a uniqueness constraint as a new object.
///
/// Keys of new rows are collected before they are inserted into index trees. So as not to insert
/// them for each look-up, the collected keys are also kept here; they are inserted only when the
/// new object has one of them.
final class BatchConstraints {
  struct Rival {
    let index: StoredIndex
    let reference: Reference
  }

  /// The key of a row in one constraint.
  private struct Key {
    let item: IndexUpkeep.Item
    /// The bytes of the key in the index, without a reference.
    var key: [UInt8]
    let isCut: Bool
    /// The complete values, if the key is cut off.
    var whole: [UInt8]
  }

  private let write: BatchWrite
  private let storage: EntityStorage
  private let upkeep: IndexUpkeep
  private let items: [IndexUpkeep.Item]
  /// The collected keys that are not in their trees yet, by the position of the index.
  private var waiting: [Int: Set<[UInt8]>] = [:]
  private var waitingCount = 0
  /// The keys of the row that was searched for last.
  private var keys: [Key] = []

  private static let waitingLimit = 16_384

  /// - Returns: `nil` if the entity has no constraints.
  init?(_ write: BatchWrite, _ storage: EntityStorage) throws {
    guard let upkeep = try write.writer.indexUpkeep() else { return nil }
    items = try upkeep.items(of: storage).filter(\.index.isUnique)
    if items.isEmpty { return nil }
    self.write = write
    self.storage = storage
    self.upkeep = upkeep
  }

  /// The derived attributes whose values constraints read: a new row must have them at once.
  var derivedSlots: Set<Int> {
    let names = Set(items.flatMap { $0.index.stored.elements.map(\.path[0]) })
    return Set(storage.binding.derivations.map(\.slot)).filter {
      names.contains(storage.binding.name(of: $0))
    }
  }

  /// The objects with the same values as a row, each once for each constraint.
  func rivals(of bytes: UnsafeRawBufferPointer) throws -> [Rival] {
    keys.removeAll(keepingCapacity: true)
    let row = RowReader(checked: bytes, storage.layout)
    for item in items where try item.index.hasAllValues(row) {
      var writer = IndexKeyWriter()
      try item.index.appendElements(of: row, to: &writer)
      keys.append(
        Key(
          item: item, key: writer.bytes, isCut: writer.isCut,
          whole: writer.isCut ? try item.index.wholeKey(of: row) : []))
    }
    if keys.contains(where: { waiting[$0.item.position]?.contains($0.key) ?? false }) {
      try checkWaiting()
    }
    return try keys.flatMap { key in
      try references(of: key).map { Rival(index: key.item.index.stored, reference: $0) }
    }
  }

  /// Records that the row which was searched for last was written.
  func recordWritten() throws {
    for key in keys { waiting[key.item.position, default: []].insert(key.key) }
    waitingCount += 1
    if waitingCount == BatchConstraints.waitingLimit { try checkWaiting() }
  }

  private func checkWaiting() throws {
    for item in items { _ = try upkeep.existingTree(at: item.position) }
    waiting.removeAll()
    waitingCount = 0
  }

  private func references(of key: Key) throws -> [Reference] {
    guard let tree = try upkeep.treeWithoutWaiting(at: key.item.position)?.reading else {
      return []
    }
    var found: [Reference] = []
    var entries = tree.entries(withPrefix: key.key)
    while try entries.next() {
      let entry = try entries.key
      guard entry.count == key.key.count + IndexKey.referenceByteCount,
        let reference = IndexKey.reference(of: UnsafeRawBufferPointer(entry))
      else { continue }
      found.append(reference)
    }
    guard key.isCut else { return found }
    return try found.filter { try wholeKey(at: $0, key.item.index.stored) == key.whole }
  }

  private func wholeKey(at reference: Reference, _ index: StoredIndex) throws -> [UInt8]? {
    let item = try upkeep.items(of: write.storage(of: reference)).first {
      $0.index.number == index.number
    }
    guard let item else { return nil }
    return try write.writer.withRow(reference) { try item.index.wholeKey(of: $0) }
  }
}
