import QuireStorage

/// Gives objects their rows, of which many lie one behind the other: those that a save has written
/// do, if they are new.
///
/// Leaves are listed as long as that pays: where each object's row is in another leaf, they are
/// looked up one by one.
struct RowRun {
  private let view: StoreView
  private var storage: EntityStorage?
  // Sound: held above.
  private var storageReference: Unmanaged<EntityStorage>?
  private var shape: RowShape?
  private var cursor: RecordCursor?
  /// The rows of a leaf, from one that somebody asked for.
  private var entries: [RecordEntry] = []
  private var place = 0
  /// Keeps their bytes for all who have a row of them.
  private var keeper: RowKeeper?
  private var listCount = 0
  private var rowCount = 0

  init(_ view: StoreView) { self.view = view }

  /// Gives an object its row.
  ///
  /// - Returns: `false` when there is none that can be read.
  /// - Complexity: O(1) if the object's row follows the one that was read last, O(log *n*)
  ///   otherwise.
  mutating func giveRow(to object: ManagedObject) -> Bool {
    guard view.isPlain, enter(object) else { return giveSingleRow(to: object) }
    let key = object.reference.key
    guard let shape, find(key) || list(from: key) else { return giveSingleRow(to: object) }
    let entry = entries[place]
    place += 1
    guard let start = entry.start, let keeper, shape.isRight(start, entry.byteCount) else {
      return giveSingleRow(to: object)
    }
    rowCount += 1
    object.replaceRow(start, entry.byteCount, in: .passUnretained(keeper))
    return true
  }

  /// Goes to where the rows of the object's entity are, if it has any.
  @inline(__always)
  private mutating func enter(_ object: ManagedObject) -> Bool {
    let reference = object.ofHome { $0.storageReference }
    if let reference, reference.toOpaque() == storageReference?.toOpaque() { return true }
    guard let storage = object.storage else { return false }
    enter(storage)
    return true
  }

  private mutating func enter(_ storage: EntityStorage) {
    self.storage = storage
    storageReference = .passUnretained(storage)
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
      keeper = try cursor?.list(&entries).map { RowKeeper($0) }
    } catch {
      entries.removeAll(keepingCapacity: true)
      return false
    }
    return keeper != nil && entries.first?.key == key
  }

  private func giveSingleRow(to object: ManagedObject) -> Bool {
    guard let row = try? view.row(of: object) else { return false }
    object.set(row)
    return true
  }
}
