// Filling nodes anew: what insertion does when an entry does not fit as the node is, splits and
// merges. Each begins with a list of entries, looks for a prefix under which they fit, and writes
// them one after the other.
//
// That a split always works. Let *c* be the page's capacity, *k* the longest key and *v* the
// longest payload: *k* ≤ c/4 − 32 and *v* ≤ c/4 + 2 (`PageGeometry`, `ValuePayload`).
//
//   - The entry of a key of *n* bytes under a prefix of *p* takes
//     e = 6 + (1 or 2) + max(0, n − p − 4) + payload, the prefix itself f ≤ p + 5.
//   - An inner node holds four entries, whatever its keys: 4 (8 + k − 4 + 4) + 5 ≤ c − 91 without
//     a prefix, and no filling takes a prefix under which what has to fit does not.
//   - Let the new key begin with the node's prefix, of *p* bytes. The entries take at most
//     c − f + e under it, so halving them to within one entry leaves either side at most
//     f + (c − f + e) / 2 + e / 2 ≤ c/2 + f/2 + e, and f/2 + e is greatest without a prefix:
//     2.5 + 8 + k − 4 + v ≤ c/2 − 23. Either side fits; the right side of an inner node even loses
//     a key.
//   - Let it not begin with the prefix. Then it is the new first or the new last key, since a key
//     between two that share a prefix has it too. If halves do not fit with the prefixes they have,
//     the new entry goes into a node of its own, and the others stay together under theirs.

extension IndexLayout {
  /// Fills a node anew with one entry more; `false`, with nothing changed, when they do not fit.
  static func refill(
    _ node: MutablePage, adding key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer,
    at slot: Int, _ scratch: NodeScratch
  ) -> Bool {
    let all = 0..<(node.count + 1)
    let entries = IndexEntries(node.page, adding: key, payload, at: slot)
    let sharesPrefix = beginsWithPrefix(of: node.page, entries.prefix, key)
    if sharesPrefix, isFull(node.page, for: key, payload, entries.prefix),
      entries.commonPrefix(all, scratch) == entries.prefix
    {
      // The usual end: no prefix is better than the one that the node has.
      return false
    }
    guard let prefix = entries.fittingPrefix(all, sharesPrefix: sharesPrefix, scratch) else {
      return false
    }
    IndexEntries(scratch.putAside(node), adding: key, payload, at: slot)
      .fill(node, with: all, prefix: prefix, scratch)
    return true
  }

  private static func isFull(
    _ node: Page, for key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer,
    _ prefix: Int
  ) -> Bool {
    byteCount(suffix: key.count - prefix, payload: payload.count) > node.freeBytes
  }

  static func split(
    _ node: MutablePage, to right: MutablePage, inserting key: UnsafeRawBufferPointer,
    _ payload: UnsafeRawBufferPointer, at slot: Int, isAppend: Bool, _ scratch: NodeScratch
  ) -> UnsafeRawBufferPointer {
    let level = node.page.level
    if isAppend {
      // The left page stays full, the right one has all its room for what comes next.
      let bound =
        level > 0
        ? key
        : separator(
          between: self.key(at: slot - 1, in: node.page, room: scratch.firstKey), and: key)
      _ = insert(key, payload, at: 0, in: right, scratch)
      return move(bound, to: scratch.key)
    }
    let entries = IndexEntries(scratch.putAside(node), adding: key, payload, at: slot)
    let plan = splitPlan(entries, scratch)
    entries.fill(node, with: 0..<plan.leftCount, prefix: plan.leftPrefix, scratch)
    entries.fill(right, with: plan.leftCount..<entries.count, prefix: plan.rightPrefix, scratch)
    // All entries are still in the node put aside, so their keys can be had once more.
    let first = entries.key(at: plan.leftCount, room: scratch.secondKey)
    guard level == 0 else { return move(first, to: scratch.key) }
    let last = entries.key(at: plan.leftCount - 1, room: scratch.firstKey)
    return move(separator(between: last, and: first), to: scratch.key)
  }

  /// Like ``copy(_:to:)`` for bytes that may lie in the room already.
  private static func move(
    _ key: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    if let start = key.baseAddress { room.copyMemory(from: start, byteCount: key.count) }
    return UnsafeRawBufferPointer(start: room, count: key.count)
  }

  private struct SplitPlan {
    var leftCount: Int
    var leftPrefix: Int
    var rightPrefix: Int
  }

  private static func splitPlan(_ entries: IndexEntries, _ scratch: NodeScratch) -> SplitPlan {
    let count = entries.count
    let sharesPrefix = beginsWithPrefix(of: entries.node, entries.prefix, entries.key)
    let prefix = sharesPrefix ? entries.prefix : entries.commonPrefix(0..<count, scratch)
    let half = halvingCount(entries, prefix: prefix)
    let alone = entries.slot == count - 1 ? count - 1 : 1
    for leftCount in [half, alone] {
      if let left = entries.fittingPrefix(0..<leftCount, sharesPrefix: sharesPrefix, scratch),
        let right = entries.fittingPrefix(
          leftCount..<count, sharesPrefix: sharesPrefix, scratch)
      {
        return SplitPlan(leftCount: leftCount, leftPrefix: left, rightPrefix: right)
      }
    }
    // The essay above says why.
    preconditionFailure("entries that fit in one page do not fit in two")
  }

  /// The number of entries that have half of their bytes, with that prefix.
  private static func halvingCount(_ entries: IndexEntries, prefix: Int) -> Int {
    let total = entries.byteCount(0..<entries.count, prefix: prefix) - prefixFieldByteCount(prefix)
    let lowest = lowestSlot(of: entries.node)
    var left = 0
    var best = (leftCount: 1, larger: Int.max)
    for index in 0..<(entries.count - 1) {
      left += byteCount(
        suffix: index < lowest ? 0 : entries.keyByteCount(at: index) - prefix,
        payload: entries.payload(at: index).count)
      let larger = max(left, total - left)
      if larger >= best.larger { break }
      best = (index + 1, larger)
    }
    return best.leftCount
  }

  static func canMerge(
    _ right: Page, bound: UnsafeRawBufferPointer, into left: Page, _ scratch: NodeScratch
  ) -> Bool {
    let capacity = scratch.geometry.capacity
    // Only a root may be empty in a valid store.
    guard left.count > 0, right.count > 0 else { return false }
    // A common prefix is hardly ever longer than both, so that entries do not become shorter.
    guard usedBytes(of: left, capacity) + usedBytes(of: right, capacity) <= capacity else {
      return false
    }
    guard areInOrder(left, bound, right, scratch) else { return false }
    let ends = mergedEnds(right, bound, left, scratch)
    let prefix = KeyBytes.commonByteCount(ends.first, ends.last)
    let needed =
      prefixFieldByteCount(prefix) + byteCount(of: left, prefix: prefix)
      + byteCount(of: right, prefix: prefix, firstSuffix: max(0, bound.count - prefix))
    return needed <= capacity
  }

  /// Whether all keys of two nodes ascend: else, which only a damaged file can bring about, what
  /// the first and the last share is not what all share.
  private static func areInOrder(
    _ left: Page, _ bound: UnsafeRawBufferPointer, _ right: Page, _ scratch: NodeScratch
  ) -> Bool {
    let lowest = lowestSlot(of: right)
    if left.count > lowest {
      let last = key(at: left.count - 1, in: left, room: scratch.firstKey)
      guard isAscending(last, bound) else { return false }
    }
    if right.count > lowest {
      let first = key(at: lowest, in: right, room: scratch.firstKey)
      // A leaf's first key may be its bound.
      return right.level > 0 ? isAscending(bound, first) : !isAscending(first, bound)
    }
    return true
  }

  /// The first and the last key of two nodes made one.
  private static func mergedEnds(
    _ right: Page, _ bound: UnsafeRawBufferPointer, _ left: Page, _ scratch: NodeScratch
  ) -> (first: UnsafeRawBufferPointer, last: UnsafeRawBufferPointer) {
    let lowest = lowestSlot(of: right)
    return (
      left.count > lowest ? key(at: lowest, in: left, room: scratch.firstKey) : bound,
      right.count > lowest ? key(at: right.count - 1, in: right, room: scratch.secondKey) : bound
    )
  }

  static func merge(
    _ right: Page, bound: UnsafeRawBufferPointer, into left: MutablePage, _ scratch: NodeScratch
  ) {
    let level = right.level
    let lowest = lowestSlot(of: right)
    let ends = mergedEnds(right, bound, left.page, scratch)
    let prefix = KeyBytes.commonByteCount(ends.first, ends.last)
    let old = scratch.putAside(left)
    var filling = IndexFilling(
      left, level: level, commit: left.commit, prefix: prefix, of: ends.last,
      count: old.count + right.count, in: scratch.geometry)
    for slot in 0..<min(lowest, old.count) {
      filling.add(lowestKey, payload(at: slot, in: old))
    }
    filling.add(entriesAt: min(lowest, old.count)..<old.count, of: old, scratch)
    for slot in 0..<min(lowest, right.count) {
      filling.add(bound, payload(at: slot, in: right))
    }
    filling.add(entriesAt: min(lowest, right.count)..<right.count, of: right, scratch)
    filling.finish()
  }

  private static func usedBytes(of node: Page, _ capacity: Int) -> Int {
    capacity - node.freeBytes - prefixFieldByteCount(prefixByteCount(of: node))
  }

  /// The number of bytes of a node's entries with another prefix.
  ///
  /// - Parameter firstSuffix: the length of the key of an inner node's first entry, beyond the
  ///   prefix.
  private static func byteCount(of node: Page, prefix: Int, firstSuffix: Int = 0) -> Int {
    let lowest = lowestSlot(of: node)
    let difference = prefixByteCount(of: node) - prefix
    var total = 0
    for slot in 0..<node.count {
      let suffixByteCount = cell(at: slot, in: node).suffixByteCount
      total += byteCount(
        suffix: slot < lowest ? firstSuffix : suffixByteCount + difference,
        payload: payload(at: slot, in: node).count)
    }
    return total
  }
}
