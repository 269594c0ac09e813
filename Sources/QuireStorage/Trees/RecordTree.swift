/// A tree with `Int64` keys, as one snapshot or transaction shows it.
///
/// A small value that keeps what it needs alive. In a transaction it shows the transaction's own
/// changes, and refuses to answer once the transaction has ended.
public struct RecordTree {
  let tree: Tree<RecordLayout>

  init(_ space: PageSpace, _ state: TreeState) {
    tree = Tree(space: space, state: state)
  }

  /// The number of entries. O(1), exact.
  public var count: Int { tree.state.count }

  /// The value of `key`, or `nil`.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged.
  /// - Complexity: O(log *n*); a value in overflow pages is copied.
  public func value(for key: Int64) throws(StorageError) -> StoredValue? {
    try tree.value(for: key)
  }

  /// The result of `body` for the value of `key`; `nil` if there is none. It is the fastest way to
  /// read a value, as nothing is kept.
  ///
  /// - Parameter body: called with the value's bytes, which are valid within the call. It should be
  ///   short: until it returns, memory that any version releases is not freed. It must not change
  ///   this tree.
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the path is damaged; the errors
  ///   of `body`.
  /// - Complexity: O(log *n*); a value in overflow pages is copied.
  public func withValue<R>(
    for key: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try tree.withValue(for: key, body)
  }

  /// Like ``withValue(for:_:)``, for values that are kept: `body` also gets the object that keeps
  /// the bytes, unchanged, as long as it is retained, independently of the snapshot and the store.
  ///
  /// - Returns: whether there is a value.
  public func withKeepableValue(
    for key: Int64, _ body: (UnsafeRawBufferPointer, Unmanaged<AnyObject>) throws -> Void
  ) throws -> Bool {
    try tree.withKeepableValue(for: key, body)
  }

  /// Whether there is an entry for `key`.
  public func contains(_ key: Int64) throws(StorageError) -> Bool {
    try tree.contains(key)
  }

  /// The lowest key, or `nil` in an empty tree.
  public var firstKey: Int64? {
    get throws(StorageError) {
      var cursor = cursor()
      return try cursor.first() ? try cursor.key : nil
    }
  }

  /// The highest key, or `nil` in an empty tree.
  public var lastKey: Int64? {
    get throws(StorageError) {
      var cursor = cursor()
      return try cursor.last() ? try cursor.key : nil
    }
  }

  /// A cursor that is not placed yet: `next()` takes it to the first entry, `previous()` to the
  /// last.
  public func cursor() -> RecordCursor { RecordCursor(TreeCursor(tree)) }
}

/// A position in a record tree.
///
/// Every move returns whether the cursor is at an entry afterwards; past either end it stays there
/// until it moves back. In a transaction, a change to the tree makes the cursor stale: reading or
/// moving it then throws ``StorageError/invalidArgument(_:)``, placing it anew is fine.
///
/// Bytes it lends live no longer than the cursor, and Swift may end the life of a cursor right
/// after its last use: hold it with `withExtendedLifetime`, or take ``storedValue()``.
public struct RecordCursor {
  var cursor: TreeCursor<RecordLayout>

  init(_ cursor: TreeCursor<RecordLayout>) { self.cursor = cursor }

  /// Whether the cursor is at an entry.
  public var isAtEntry: Bool { cursor.isAtEntry }

  /// Moves to the lowest key.
  @discardableResult
  public mutating func first() throws(StorageError) -> Bool { try cursor.first() }

  /// Moves to the highest key.
  @discardableResult
  public mutating func last() throws(StorageError) -> Bool { try cursor.last() }

  /// Moves to the first key at or after `key`.
  ///
  /// - Returns: `false` when there is none; the cursor is then past the end.
  /// - Complexity: O(log *n*).
  @discardableResult
  public mutating func seek(to key: Int64) throws(StorageError) -> Bool {
    try cursor.seek(to: key)
  }

  /// Moves to the last key at or before `key`.
  ///
  /// - Returns: `false` when there is none; the cursor is then before the start.
  @discardableResult
  public mutating func seek(atOrBefore key: Int64) throws(StorageError) -> Bool {
    try cursor.seek(atOrBefore: key)
  }

  /// Moves to the next higher key. Amortised O(1).
  @discardableResult
  public mutating func next() throws(StorageError) -> Bool { try cursor.next() }

  /// Moves to the next lower key. Amortised O(1).
  @discardableResult
  public mutating func previous() throws(StorageError) -> Bool { try cursor.previous() }

  /// The key of the entry the cursor is at.
  public var key: Int64 {
    get throws(StorageError) {
      let (leaf, slot, _) = try cursor.entry()
      return RecordLayout.key(at: slot, in: leaf)
    }
  }

  /// The entry's value, borrowed: valid until the cursor moves or is released, or until its
  /// transaction changes the tree. A value in overflow pages is assembled first.
  public var valueBytes: UnsafeRawBufferPointer {
    mutating get throws(StorageError) { try cursor.valueBytes() }
  }

  /// The entry's value with its owner, to be kept for as long as wanted.
  public func storedValue() throws(StorageError) -> StoredValue {
    let (leaf, slot, id) = try cursor.entry()
    return try cursor.tree.storedValue(at: slot, of: id, leaf)
  }
}
