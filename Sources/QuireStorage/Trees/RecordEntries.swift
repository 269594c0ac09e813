/// An entry of a record tree as it lies in its leaf.
@frozen
public struct RecordEntry {
  /// The key.
  public let key: Int64
  /// The value's bytes; `nil` of one that does not lie in its leaf.
  public let start: UnsafeRawPointer?
  /// The number of the value's bytes; 0 of one that does not lie in its leaf.
  public let byteCount: Int

  /// An entry as it is listed; ``RecordCursor`` makes them.
  @inlinable
  public init(key: Int64, start: UnsafeRawPointer?, byteCount: Int) {
    self.key = key
    self.start = start
    self.byteCount = byteCount
  }
}

extension RecordCursor {
  /// Lists the entries from the cursor's to the last one of the same leaf, to which the cursor
  /// moves. It is the fastest way to visit many entries, at a few instructions for each.
  ///
  /// - Parameter entries: overwritten.
  /// - Returns: an object that keeps the bytes, unchanged, as long as it is retained, independently
  ///   of the snapshot and the store. `nil`, with nothing listed and the cursor not moved, if the
  ///   leaf should not be kept: values must then be read one by one.
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the cursor is at no entry.
  public mutating func list(_ entries: inout [RecordEntry]) throws(StorageError) -> AnyObject? {
    if cursor.tree.space.pagesShouldNotBeKept { return nil }
    return try cursor.list(&entries)
  }

  /// The same in any store, for values that are read before the cursor moves on.
  ///
  /// - Returns: the object that keeps the bytes, and whether it may be kept for longer. In a store
  ///   that does not fit in the cache it may not: a value that is wanted for longer is copied
  ///   (``StoredValue/init(copying:)``).
  package mutating func listForVisit(
    _ entries: inout [RecordEntry]
  ) throws(StorageError) -> (owner: AnyObject, mayBeKept: Bool)? {
    let mayBeKept = !cursor.tree.space.pagesShouldNotBeKept
    return try cursor.list(&entries).map { ($0, mayBeKept) }
  }
}

extension TreeCursor where Layout == RecordLayout {
  fileprivate mutating func list(
    _ entries: inout [RecordEntry]
  ) throws(StorageError) -> AnyObject? {
    let (leaf, slot, _) = try entry()
    guard !tree.space.isPrivate(leaf) else {
      entries.removeAll(keepingCapacity: true)
      return nil
    }
    let count = leaf.count
    entries.setCount(count &- slot)
    entries.withUnsafeMutableBufferPointer { RecordLayout.list(leaf, from: slot, into: $0) }
    moveWithinLeaf(to: count &- 1)
    return leaf.frame
  }
}

extension RecordLayout {
  /// Writes the entries of a leaf from a slot on, one for each element of `entries`.
  fileprivate static func list(
    _ leaf: Page, from slot: Int, into entries: UnsafeMutableBufferPointer<RecordEntry>
  ) {
    // All that the entries share is read once: for all the compiler knows, writing an entry could
    // change the page.
    let (page, base, width) = (leaf.base, baseKey(of: leaf), width(of: leaf))
    let (shift, mask) = (width.shift, width.mask)
    let (keys, offsets) = (page + keysStart, page + secondsStart(of: leaf))
    for index in entries.indices {
      let slot = slot &+ index
      let difference = keys.u64(at: slot &<< shift) & mask
      let payload = page + offsets.u16(at: slot &* offsetByteCount)
      let value = ValuePayload.inlineValue(at: payload)
      entries[index] = RecordEntry(
        key: base &+ Int64(bitPattern: difference), start: value?.baseAddress,
        byteCount: value?.count ?? 0)
    }
  }
}

extension [RecordEntry] {
  /// Adds or removes entries at the end; what is added has no meaning yet.
  fileprivate mutating func setCount(_ wanted: Int) {
    if count > wanted {
      removeLast(count &- wanted)
    } else if count < wanted {
      append(
        contentsOf: repeatElement(
          RecordEntry(key: 0, start: nil, byteCount: 0), count: wanted &- count))
    }
  }
}
