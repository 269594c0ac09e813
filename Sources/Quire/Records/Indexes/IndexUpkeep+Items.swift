import QuireModel
import QuireStorage

extension IndexUpkeep {
  /// An index with what is needed to keep the keys of one entity's rows. A class, as iterating over
  /// structs would copy them.
  final class Item {
    let index: EntityIndex
    let filter: PartialIndexFilter?
    /// The position of the index in the store's list.
    let position: Int
    /// Whether the keys of most rows can be copied from their bytes.
    let isPlain: Bool
    private let fields: [FieldTable.Field]
    /// The keys of the index that are not in its tree yet.
    let waiting: KeyList

    init(
      _ index: EntityIndex, _ storage: EntityStorage, at position: Int, _ waiting: KeyList
    ) throws {
      self.index = index
      self.waiting = waiting
      filter = try PartialIndexFilter(index, storage.layout)
      fields = index.plainFields(storage)
      isPlain = !fields.isEmpty && !index.isUnique && filter == nil
      self.position = position
    }

    /// Appends the key of a checked row of the current layout.
    ///
    /// - Returns: `false`, with nothing appended, if the key takes more than copying bytes.
    func append(_ row: UnsafeRawPointer, _ reference: Reference, to keys: KeyList) -> Bool {
      isPlain && keys.append(fields, of: row, reference)
    }
  }
}
