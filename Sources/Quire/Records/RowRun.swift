import QuireStorage

/// Gives objects their rows, of which many lie one behind the other: those that a save has written
/// do, if they are new.
///
/// Leaves are listed as long as that pays: where each object's row is in another leaf, they are
/// looked up one by one.
struct RowRun {
  private let view: StoreView
  private var storage: EntityStorage?
  private var shape: RowShape?
  private var cursor: RecordCursor?
  /// The rows of a leaf, from one that somebody asked for.
  private var entries: [RecordEntry] = []
  private var place = 0
  /// What keeps their bytes.
  private var owner: AnyObject?
  private var listCount = 0
  private var rowCount = 0

  init(_ view: StoreView) { self.view = view }

  /// Gives an object its row.
  ///
  /// - Returns: `false` when there is none that can be read.
  /// - Complexity: O(1) if the object's row follows the one that was read last, O(log *n*)
  ///   otherwise.
  mutating func giveRow(to object: ManagedObject) -> Bool {
    guard view.isPlain, let storage = object.storage else { return giveSingleRow(to: object) }
    if storage !== self.storage { enter(storage) }
    let key = object.reference.key
    guard let shape, find(key) || list(from: key) else { return giveSingleRow(to: object) }
    let entry = entries[place]
    place += 1
    guard let start = entry.start, let owner, shape.isRight(start, entry.byteCount) else {
      return giveSingleRow(to: object)
    }
    rowCount += 1
    object.set(RowBytes(start: start, byteCount: entry.byteCount, owner: owner))
    return true
  }

  private mutating func enter(_ storage: EntityStorage) {
    self.storage = storage
    shape = storage.shape
    cursor = try? view.rows(of: storage)?.cursor()
    entries.removeAll(keepingCapacity: true)
    place = 0
  }

  /// Goes on to a key among the entries; there it is, or it is not there.
  private mutating func find(_ key: Int64) -> Bool {
    while place < entries.count, entries[place].key < key { place += 1 }
    return place < entries.count && entries[place].key == key
  }

  private mutating func list(from key: Int64) -> Bool {
    // A list of which one row was of use is no better than a way down.
    if listCount > 8, rowCount < 4 * listCount { return false }
    guard cursor != nil else { return false }
    listCount += 1
    place = 0
    entries.removeAll(keepingCapacity: true)
    do {
      guard try cursor?.seek(to: key) ?? false else { return false }
      owner = try cursor?.list(&entries)
    } catch {
      entries.removeAll(keepingCapacity: true)
      return false
    }
    return owner != nil && entries.first?.key == key
  }

  private func giveSingleRow(to object: ManagedObject) -> Bool {
    guard let row = try? view.row(of: object) else { return false }
    object.set(row)
    return true
  }
}
