/// A record tree that a transaction may change.
///
/// Bound to its transaction: after the commit or the abort, every call throws. Not Sendable.
public struct MutableRecordTree {
  /// The reading side; it shows every change at once.
  public let reading: RecordTree
  let editor: PageEditor

  init(_ reading: RecordTree, _ editor: PageEditor) {
    self.reading = reading
    self.editor = editor
  }

  /// Stores `value` under `key`, in place of an earlier value.
  ///
  /// The bytes are copied; they may lie in the store's own pages.
  ///
  /// - Returns: whether there was an earlier value.
  /// - Throws: ``StorageError/damaged(page:reason:)`` or ``StorageError/storeFull(pageLimit:)``;
  ///   the transaction can then only be aborted.
  /// - Complexity: O(log *n*), amortised over splits, plus the length of the value.
  @discardableResult
  public func put(
    _ value: UnsafeRawBufferPointer, for key: Int64
  ) throws(StorageError) -> Bool {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.put(value, for: key, with: editor)
    }
  }

  /// Stores the array's bytes.
  @discardableResult
  public func put(_ value: [UInt8], for key: Int64) throws(StorageError) -> Bool {
    try value.withRawBytes { value throws(StorageError) in try put(value, for: key) }
  }

  /// Removes `key` and its value.
  ///
  /// - Returns: whether the key was there.
  @discardableResult
  public func remove(_ key: Int64) throws(StorageError) -> Bool {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.remove(key, with: editor)
    }
  }

  /// Removes every entry. Visits every page of the tree.
  public func removeAll() throws(StorageError) {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.removeAll(with: editor)
    }
  }

  // The reading side, so that it need not be spelled out.
  /// The number of entries, with this transaction's changes. O(1), exact.
  public var count: Int { reading.count }
  /// The value of `key`, or `nil`; see ``RecordTree/value(for:)``.
  public func value(for key: Int64) throws(StorageError) -> StoredValue? {
    try reading.value(for: key)
  }
  /// What `body` makes of the value of `key`, or `nil` when there is none; see
  /// ``RecordTree/withValue(for:_:)``.
  public func withValue<R>(
    for key: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try reading.withValue(for: key, body)
  }
  /// Whether there is an entry for `key`.
  public func contains(_ key: Int64) throws(StorageError) -> Bool { try reading.contains(key) }
  /// The lowest key, or `nil` in an empty tree.
  public var firstKey: Int64? { get throws(StorageError) { try reading.firstKey } }
  /// The highest key, or `nil` in an empty tree.
  public var lastKey: Int64? { get throws(StorageError) { try reading.lastKey } }
  /// A cursor that is not placed yet. A change to the tree makes it stale: then it is to be placed
  /// anew.
  public func cursor() -> RecordCursor { reading.cursor() }
}

/// An index tree that a transaction may change.
///
/// Bound to its transaction: after the commit or the abort, every call throws. Not Sendable.
public struct MutableIndexTree {
  /// The reading side; it shows every change at once.
  public let reading: IndexTree
  let editor: PageEditor

  init(_ reading: IndexTree, _ editor: PageEditor) {
    self.reading = reading
    self.editor = editor
  }

  /// Stores `value` under `key`, in place of an earlier value.
  ///
  /// The bytes are copied; they may lie in the store's own pages.
  ///
  /// - Returns: whether there was an earlier value.
  /// - Throws: ``StorageError/keyTooLong(byteCount:limit:)``, with nothing changed;
  ///   ``StorageError/damaged(page:reason:)`` or ``StorageError/storeFull(pageLimit:)``, and the
  ///   transaction can then only be aborted.
  /// - Complexity: O(log *n*), amortised over splits, plus the length of the value.
  @discardableResult
  public func put(
    _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool {
    let limit = editor.space.geometry.keyLimit
    guard key.count <= limit else { throw .keyTooLong(byteCount: key.count, limit: limit) }
    return try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.put(value, for: key, with: editor)
    }
  }

  /// Stores the arrays' bytes.
  @discardableResult
  public func put(_ value: [UInt8], for key: [UInt8]) throws(StorageError) -> Bool {
    try value.withRawBytes { value throws(StorageError) in
      try key.withRawBytes { key throws(StorageError) in try put(value, for: key) }
    }
  }

  /// Removes `key` and its value.
  ///
  /// - Returns: whether the key was there.
  @discardableResult
  public func remove(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    // No such key can be there, nor does it fit where keys are put aside.
    guard key.count <= editor.space.geometry.keyLimit else { return false }
    return try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.remove(key, with: editor)
    }
  }

  /// Removes the key with the array's bytes.
  @discardableResult
  public func remove(_ key: [UInt8]) throws(StorageError) -> Bool {
    try key.withRawBytes { key throws(StorageError) in try remove(key) }
  }

  /// Removes every entry. Visits every page of the tree.
  public func removeAll() throws(StorageError) {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.removeAll(with: editor)
    }
  }

  // The reading side, so that it need not be spelled out.
  /// The number of entries, with this transaction's changes. O(1), exact.
  public var count: Int { reading.count }
  /// The value of `key`, or `nil`; see `IndexTree.value(for:)`.
  public func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> StoredValue? {
    try reading.value(for: key)
  }
  /// The value of the key with the array's bytes, or `nil`.
  public func value(for key: [UInt8]) throws(StorageError) -> StoredValue? {
    try reading.value(for: key)
  }
  /// What `body` makes of the value of `key`, or `nil` when there is none; see
  /// `IndexTree.withValue(for:_:)`.
  public func withValue<R>(
    for key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try reading.withValue(for: key, body)
  }
  /// What `body` makes of the value of the key with the array's bytes, or `nil` when there is none.
  public func withValue<R>(
    for key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try reading.withValue(for: key, body)
  }
  /// Whether there is an entry for `key`.
  public func contains(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    try reading.contains(key)
  }
  /// Whether there is an entry for the key with the array's bytes.
  public func contains(_ key: [UInt8]) throws(StorageError) -> Bool { try reading.contains(key) }
  /// A cursor that is not placed yet. A change to the tree makes it stale: then it is to be placed
  /// anew.
  public func cursor() -> IndexCursor { reading.cursor() }
}

extension PageEditor {
  /// Runs a change to a tree; if it fails half-way, nothing but an abort is possible any more.
  @inline(__always)
  func change<R>(
    _ state: TreeState, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try state.checkUsable()
    return try operate(body)
  }

  /// Runs an operation that may change pages; if it fails half-way, nothing but an abort is
  /// possible any more.
  @inline(__always)
  func operate<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    if hasFailed, let failure { throw failure }
    try process.check()
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    freeDropped()
    do {
      let result = try body()
      try keepWithinLimit()
      return result
    } catch {
      failure = error
      throw error
    }
  }
}
