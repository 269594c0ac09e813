import QuireModel
import QuireStorage

/// The indexes of a store, by the entities whose rows they have.
///
/// These are the indexes in the store, not those of a model: another coordinator may have opened
/// the store with a model that differs only in its indexes.
final class StoreIndexes: Sendable {
  let list: [StoredIndex]
  /// The indexes as the schema stores them; `nil` if there are none.
  let bytes: [UInt8]?
  /// By the entity's number, up to the last entity with indexes.
  private let byEntity: [[EntityIndex]]

  init(_ list: [StoredIndex], _ bytes: [UInt8]?, _ storage: (UInt16) -> EntityStorage?) throws {
    self.list = list
    self.bytes = bytes
    let last = list.lazy.compactMap { $0.entities.max() }.max() ?? 0
    var byEntity = [[EntityIndex]](repeating: [], count: Int(last) + 1)
    for index in list {
      for number in index.entities {
        // An entity outside of the store's configuration has no rows in the store.
        guard let storage = storage(number) else { continue }
        byEntity[Int(number)].append(try EntityIndex(index, storage))
      }
    }
    self.byEntity = byEntity
  }

  var isEmpty: Bool { list.isEmpty }

  /// The position of an index in the ``list``.
  func position(of number: UInt16) -> Int? { list.firstIndex { $0.number == number } }

  /// The indexes with the rows of an entity.
  func indexes(of entity: UInt16) -> [EntityIndex] {
    Int(entity) < byEntity.count ? byEntity[Int(entity)] : []
  }
}

extension StoreEntities {
  /// The indexes of the store as a snapshot or a transaction shows it.
  func indexes(in reader: some TreeReader) throws -> StoreIndexes {
    let value = try reader.indexTree(StoreSchema.tree)?.value(for: StoreSchema.indexesKey)
    guard let value else {
      return indexes.isEmpty ? indexes : try StoreIndexes([], nil, storage(number:))
    }
    if let known = indexes.bytes, value.isEqual(to: known) { return indexes }
    return try StoreIndexes(
      try StoreSchema.decodeIndexes(value).list, value.withBytes { Array($0) }, storage(number:))
  }
}
