import QuireStorage

/// Gives rows to objects whose rows are usually adjacent, as those of new objects are after a save.
///
/// It lists whole leaves as long as that is faster: if each object's row is in another leaf, rows
/// are looked up one by one.
struct RowRun {
  private let view: StoreView
  private var storage: EntityStorage?
  // Sound: `storage` holds it.
  private var storageReference: Unmanaged<EntityStorage>?
  private var shape: RowShape?
  private var cursor: RecordCursor?
  /// The rows of the current leaf, from the first that was needed.
  private var entries: [RecordEntry] = []
  private var position = 0
  /// Keeps the leaf for all objects with rows in it.
  private var keeper: RowKeeper?
  private var listCount = 0
  private var rowCount = 0

  init(_ view: StoreView) { self.view = view }

  /// Gives an object its row.
  ///
  /// - Returns: `false` if there is no readable row.
  /// - Complexity: O(1) if the row follows the one that was read last, O(log *n*) otherwise.
  mutating func giveRow(to object: ManagedObject) -> Bool {
    guard view.isPlain, enter(object) else { return giveSingleRow(to: object) }
    let key = object.reference.key
    guard let shape, find(key) || list(from: key) else { return giveSingleRow(to: object) }
    let entry = entries[position]
    position += 1
    guard let start = entry.start, let keeper, shape.isRight(start, entry.byteCount) else {
      return giveSingleRow(to: object)
    }
    rowCount += 1
    object.replaceRow(start, entry.byteCount, in: .passUnretained(keeper))
    return true
  }

  /// Moves to the rows of the object's entity, if it has any.
  private mutating func enter(_ object: ManagedObject) -> Bool {
    let reference = object.ofArena { $0.storageReference }
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
    position = 0
  }

  /// Moves forward to a key among the entries, and returns whether it is there.
  private mutating func find(_ key: Int64) -> Bool {
    while position < entries.count, entries[position].key < key { position += 1 }
    return position < entries.count && entries[position].key == key
  }

  private mutating func list(from key: Int64) -> Bool {
    // Listing a leaf for a single row is no better than looking the row up.
    if listCount > 8, rowCount < 4 * listCount { return false }
    guard cursor != nil else { return false }
    listCount += 1
    position = 0
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
