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
    // Taken out, so that nothing is copied to look at it.
    guard var cursor = cursor.take() else { return nil }
    defer { self.cursor = cursor }
    let key = object.reference.key
    let follows = try cursor.isAtEntry && cursor.next() && cursor.key == key
    if !follows {
      guard try cursor.seek(to: key), try cursor.key == key else { return nil }
    }
    return try RowBytes(cursor.storedValue(), layout: storage.layout)
  }
}
