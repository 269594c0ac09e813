import QuireStorage

/// Reads the rows of objects, of which many lie one behind the other: those that a save has written
/// do, if they are new.
struct RowRun {
  private let view: StoreView
  private var storage: EntityStorage?
  private var cursor: RecordCursor?

  init(_ view: StoreView) { self.view = view }

  /// - Complexity: O(1) if the object's row follows the one that was read last, O(log *n*)
  ///   otherwise.
  mutating func row(of object: ManagedObject) throws -> RowBytes? {
    guard view.isPlain, let storage = object.storage else { return try view.row(of: object) }
    if storage !== self.storage {
      self.storage = storage
      cursor = try view.rows(of: storage)?.cursor()
    }
    let key = object.reference.key
    guard cursor != nil else { return nil }
    if try !follows(key) {
      guard try cursor?.seek(to: key) == true, try cursor?.key == key else { return nil }
    }
    return try cursor.map { try RowBytes($0.storedValue(), layout: storage.layout) }
  }

  private mutating func follows(_ key: Int64) throws -> Bool {
    guard cursor?.isAtEntry == true, try cursor?.next() == true else { return false }
    return try cursor?.key == key
  }
}
