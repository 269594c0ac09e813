/// A tree with byte-string keys, ordered as `memcmp` orders them, as one snapshot or transaction
/// shows it.
///
/// A small value that keeps what it needs alive. In a transaction it shows the transaction's own
/// changes, and refuses to answer once the transaction has ended.
public struct IndexTree {
  let tree: Tree<IndexLayout>

  init(_ space: PageSpace, _ state: TreeState) {
    tree = Tree(space: space, state: state)
  }

  /// The number of entries. O(1), exact.
  public var count: Int { tree.state.count }

  /// The value of `key`, or `nil`.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged.
  /// - Complexity: O(log *n*); a value in overflow pages is copied.
  public func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> StoredValue? {
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
    for key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try tree.withValue(for: key, body)
  }

  /// Whether there is an entry for `key`.
  public func contains(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    try tree.contains(key)
  }

  /// A cursor that is not placed yet: `next()` takes it to the first entry, `previous()` to the
  /// last.
  public func cursor() -> IndexCursor { IndexCursor(TreeCursor(tree)) }
}

/// A position in an index tree.
///
/// Every move returns whether the cursor is at an entry afterwards; past either end it stays there
/// until it moves back. In a transaction, a change to the tree makes the cursor stale: reading or
/// moving it then throws ``StorageError/invalidArgument(_:)``, placing it anew is fine.
///
/// Bytes it lends live no longer than the cursor, and Swift may end the life of a cursor right
/// after its last use: hold it with `withExtendedLifetime`, or take ``storedValue()``.
public struct IndexCursor {
  private var cursor: TreeCursor<IndexLayout>
  private var room: KeyRoom

  init(_ cursor: TreeCursor<IndexLayout>) {
    self.cursor = cursor
    room = KeyRoom(byteCount: cursor.tree.space.pageSize / 4)
  }

  /// To be called before every move.
  ///
  /// A copy of a cursor shares its room for as long as both are at the same entry, so that what
  /// one lent stays as it is when the other moves.
  @inline(__always)
  private mutating func leaveEntry() {
    guard room.holdsKey else { return }
    if isKnownUniquelyReferenced(&room) {
      room.holdsKey = false
    } else {
      room = KeyRoom(byteCount: room.byteCount)
    }
  }

  /// Whether the cursor is at an entry.
  public var isAtEntry: Bool { cursor.isAtEntry }

  /// Moves to the lowest key.
  @discardableResult
  public mutating func first() throws(StorageError) -> Bool {
    leaveEntry()
    return try cursor.first()
  }

  /// Moves to the highest key.
  @discardableResult
  public mutating func last() throws(StorageError) -> Bool {
    leaveEntry()
    return try cursor.last()
  }

  /// Moves to the first key at or after `key`.
  ///
  /// - Returns: `false` when there is none; the cursor is then past the end.
  /// - Complexity: O(log *n*).
  @discardableResult
  public mutating func seek(to key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    // The given key may be the one that the cursor lends: its buffer is not written before the next
    // seek.
    leaveEntry()
    return try cursor.seek(to: key)
  }

  /// Moves to the last key at or before `key`.
  ///
  /// - Returns: `false` when there is none; the cursor is then before the start.
  @discardableResult
  public mutating func seek(atOrBefore key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    leaveEntry()
    return try cursor.seek(atOrBefore: key)
  }

  /// Moves to the next higher key. Amortised O(1).
  @discardableResult
  public mutating func next() throws(StorageError) -> Bool {
    leaveEntry()
    return try cursor.next()
  }

  /// Moves to the next lower key. Amortised O(1).
  @discardableResult
  public mutating func previous() throws(StorageError) -> Bool {
    leaveEntry()
    return try cursor.previous()
  }

  /// The key of the cursor's entry, borrowed: valid until the cursor moves or is released. It is
  /// assembled on first use.
  public var key: UnsafeRawBufferPointer {
    get throws(StorageError) {
      let (leaf, slot, _) = try cursor.entry()
      return room.key(at: slot, in: leaf)
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

/// The buffer in which a cursor assembles a key, as a page does not have keys in one piece.
private final class KeyRoom {
  let byteCount: Int
  /// Whether the key of the cursor's entry is in the buffer.
  var holdsKey = false
  private var start: UnsafeMutableRawPointer?
  private var keyByteCount = 0

  /// Memory is allocated with the first key.
  init(byteCount: Int) { self.byteCount = byteCount }

  deinit { start?.deallocate() }

  @inline(__always)
  func key(at slot: Int, in leaf: Page) -> UnsafeRawBufferPointer {
    let start = start ?? allocate()
    if !holdsKey {
      keyByteCount = IndexLayout.key(at: slot, in: leaf, room: start).count
      holdsKey = true
    }
    return UnsafeRawBufferPointer(start: start, count: keyByteCount)
  }

  private func allocate() -> UnsafeMutableRawPointer {
    let room = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 8)
    start = room
    return room
  }
}

// The same with arrays for keys.
extension IndexTree {
  /// The value of `key`, or `nil`.
  public func value(for key: [UInt8]) throws(StorageError) -> StoredValue? {
    try key.withRawBytes { key throws(StorageError) in try value(for: key) }
  }

  /// The result of `body` for the value of `key`, whose bytes are valid within the call; `nil` if
  /// there is none.
  public func withValue<R>(
    for key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try key.withUnsafeBytes { try withValue(for: $0, body) }
  }

  /// Whether there is an entry for `key`.
  public func contains(_ key: [UInt8]) throws(StorageError) -> Bool {
    try key.withRawBytes { key throws(StorageError) in try contains(key) }
  }
}

extension IndexCursor {
  /// Moves to the first key at or after `key`.
  @discardableResult
  public mutating func seek(to key: [UInt8]) throws(StorageError) -> Bool {
    try key.withRawBytes { key throws(StorageError) in try seek(to: key) }
  }

  /// Moves to the last key at or before `key`.
  @discardableResult
  public mutating func seek(atOrBefore key: [UInt8]) throws(StorageError) -> Bool {
    try key.withRawBytes { key throws(StorageError) in try seek(atOrBefore: key) }
  }
}
