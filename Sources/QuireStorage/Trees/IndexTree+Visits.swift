// Visits of many consecutive keys without a cursor.
extension IndexTree {
  /// Calls `body` with the keys from the first one at or after `lower` on, until it returns
  /// `false`: the fastest way to read many, which are put together in one buffer.
  ///
  /// - Parameter body: gets a key, which is valid while it runs. It should not take long: until it
  ///   returns, memory that any version gives up is not free. It must not change this tree.
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged; what `body`
  ///   throws.
  public func visitKeys(
    from lower: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try visitLeaves(from: lower) { leaf, first in
      try withUnsafeTemporaryAllocation(byteCount: IndexTree.roomByteCount, alignment: 8) { room in
        for slot in first..<leaf.count {
          // Writing a key may write a word after it.
          let byteCount = IndexLayout.keyByteCount(at: slot, in: leaf)
          if byteCount > IndexTree.roomByteCount &- 16 {
            if try !visitLongKey(at: slot, in: leaf, body) { return false }
          } else if let room = room.baseAddress {
            if try !body(IndexLayout.key(at: slot, in: leaf, room: room)) { return false }
          }
        }
        return true
      }
    }
  }

  private static var roomByteCount: Int { 512 }

  @inline(never)
  private func visitLongKey(
    at slot: Int, in leaf: Page, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let room = UnsafeMutableRawPointer.allocate(
      byteCount: tree.space.pageSize / 4, alignment: 8)
    defer { room.deallocate() }
    return try body(IndexLayout.key(at: slot, in: leaf, room: room))
  }

  /// The number of keys from `lower` up to `upper`, which is excluded; `nil` is the end of the
  /// tree.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged.
  /// - Complexity: O(log *n*), and a search in each leaf with such keys; no key is assembled.
  public func keyCount(
    from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer?
  ) throws -> Int {
    var count = 0
    try visitLeaves(from: lower) { leaf, first in
      let end = upper.map { IndexLayout.find($0, in: leaf).slot } ?? leaf.count
      if end > first { count += end - first }
      return end == leaf.count
    }
    return count
  }

  /// Calls `body` with the last eight bytes of each key of `byteCount` bytes that begins with the
  /// eight bytes of `first`, in order: both as big-endian numbers.
  ///
  /// - Parameters:
  ///   - byteCount: from 16 to 32.
  ///   - body: should not take long, and must not change this tree.
  /// - Returns: the length of a key among them, or right after them, that has another one, where
  ///   the visit ends; `nil` if none has.
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged.
  /// - Complexity: O(log *n* + keys).
  public func visitTails(
    ofKeysWith first: UInt64, byteCount: Int, _ body: (UInt64) -> Void
  ) throws -> Int? {
    try visitKeys(with: first, byteCount: byteCount) { _, tail in body(tail) }
  }

  /// The same with the eight bytes after the first as well, which with a key of 16 bytes are the
  /// last.
  package func visitMiddlesAndTails(
    ofKeysWith first: UInt64, byteCount: Int, _ body: (UInt64, UInt64) -> Void
  ) throws -> Int? {
    try visitKeys(with: first, byteCount: byteCount) { key, tail in
      body(key.u64(at: 8).byteSwapped, tail)
    }
  }

  @inline(__always)
  private func visitKeys(
    with first: UInt64, byteCount: Int, _ body: (UnsafeRawPointer, UInt64) -> Void
  ) throws -> Int? {
    precondition((16...32).contains(byteCount), "a key of \(byteCount) bytes is not for this")
    var misfit: Int?
    try withUnsafeBytes(of: first.bigEndian) { lower in
      try visitLeaves(from: lower) { leaf, firstSlot in
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { room in
          guard let room = room.baseAddress else { return false }
          for slot in firstSlot..<leaf.count {
            guard IndexLayout.keyByteCount(at: slot, in: leaf) == byteCount else {
              misfit = IndexLayout.keyByteCount(at: slot, in: leaf)
              return false
            }
            let key = IndexLayout.key(at: slot, in: leaf, room: room)
            guard let start = key.baseAddress, start.u64(at: 0).byteSwapped == first else {
              return false
            }
            body(start, start.u64(at: byteCount &- 8).byteSwapped)
          }
          return true
        }
      }
    }
    return misfit
  }

  /// Calls `body` with leaves, each with the first slot whose key is at or after `lower`, until it
  /// returns `false`.
  ///
  /// Mostly the first leaf or the one after it is enough; only if they are not, a cursor is made.
  @inline(__always)
  private func visitLeaves(
    from lower: UnsafeRawBufferPointer, _ body: (Page, Int) throws -> Bool
  ) throws {
    guard var visitedCount = try visitFirstLeaves(from: lower, body) else { return }
    var cursor = TreeCursor(tree)
    // Sound: the cursor keeps the leaf that it is in.
    defer { withExtendedLifetime(cursor) {} }
    var isInside = try cursor.seek(to: lower)
    while isInside {
      let (leaf, slot, _) = try cursor.entry()
      let count = leaf.count
      if visitedCount > 0 { visitedCount -= 1 } else if try !body(leaf, slot) { return }
      cursor.moveWithinLeaf(to: count &- 1)
      isInside = try cursor.next()
    }
  }

  /// Visits the leaf for `lower` and the one after it.
  ///
  /// - Returns: `nil` when that is enough; else how many of the two have keys at or after `lower`.
  @inline(__always)
  private func visitFirstLeaves(
    from lower: UnsafeRawBufferPointer, _ body: (Page, Int) throws -> Bool
  ) throws -> Int? {
    try tree.state.checkUsable()
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    var leaf = try tree.rootNode()
    /// The lowest node on the way with a child after it.
    var fork: (node: Page, slot: Int)?
    while leaf.level > 0 {
      let slot = IndexLayout.childSlot(for: lower, in: leaf)
      if slot &+ 1 < leaf.count { fork = (leaf, slot &+ 1) }
      leaf = try tree.childNode(at: slot, of: leaf).1
    }
    let (slot, _) = IndexLayout.find(lower, in: leaf)
    guard try body(leaf, slot), let fork else { return nil }
    var (id, next) = try tree.childNode(at: fork.slot, of: fork.node)
    while next.level > 0 { (id, next) = try tree.childNode(at: 0, of: next) }
    try tree.checkOrder(of: leaf, next, at: id)
    guard try body(next, 0) else { return nil }
    return slot < leaf.count ? 2 : 1
  }
}
