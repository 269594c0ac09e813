import QuireModel
import QuireStorage

extension IndexUpkeep {
  /// An index as the rows of an entity keep it up. A class, so that a look at one copies nothing.
  final class Item {
    let index: EntityIndex
    let filter: PartialIndexFilter?
    /// Where the index is among the store's.
    let place: Int
    /// Whether the bytes of most rows make the keys without a detour.
    let isPlain: Bool
    private let fields: [FieldTable.Place]
    /// Keys that are in no tree yet.
    let waiting: KeyList

    init(
      _ index: EntityIndex, _ storage: EntityStorage, at place: Int, _ waiting: KeyList
    ) throws {
      self.index = index
      self.waiting = waiting
      filter = try PartialIndexFilter(index, storage.layout)
      fields = index.plainFields(storage)
      isPlain = !fields.isEmpty && !index.isUnique && filter == nil
      self.place = place
    }

    /// Appends the key of a row of the current layout, which is known to be in order.
    ///
    /// - Returns: whether that was possible.
    @inline(__always)
    func append(_ row: UnsafeRawPointer, _ reference: Reference, to keys: KeyList) -> Bool {
      isPlain && keys.append(fields, of: row, reference)
    }
  }
}
