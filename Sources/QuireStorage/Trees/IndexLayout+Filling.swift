// Filling nodes anew: what insertion does when an entry does not fit as the node is, splits and
// merges. Each begins with a list of entries, looks for a prefix under which they fit, and writes
// them one after the other.
//
// That a split always works. Let *c* be the page's capacity, *k* the longest key and *v* the
// longest payload: *k* ≤ c/4 − 32 and *v* ≤ c/4 + 2 (`PageGeometry`, `ValuePayload`).
//
//   - The entry of a key of *n* bytes under a prefix of *p* takes
//     e = 6 + (1 or 2) + max(0, n − p − 4) + payload, the prefix itself f ≤ p + 5.
//   - An inner node holds four entries, whatever its keys: 4 (8 + k − 4 + 4) + 5 ≤ c − 91 without a
//     prefix, and no filling takes a prefix under which what has to fit does not.
//   - Let the new key begin with the node's prefix, of *p* bytes. The entries take at most c − f + e
//     under it, so halving them to within one entry leaves either side at most
//     f + (c − f + e) / 2 + e / 2 ≤ c/2 + f/2 + e, and f/2 + e is greatest without a prefix:
//     2.5 + 8 + k − 4 + v ≤ c/2 − 23. Either side fits; the right side of an inner node even loses a
//     key.
//   - Let it not begin with the prefix. Then it is the new first or the new last key, since a key
//     between two that share a prefix has it too. If halves do not fit with the prefixes they have,
//     the new entry goes into a node of its own, and the others stay together under theirs.

/// The entries of one node, and perhaps one more among them.
private struct IndexEntries {
  let node: Page
  let key: UnsafeRawBufferPointer
  let payload: UnsafeRawBufferPointer
  /// The place of the one more.
  let slot: Int
  let count: Int
  let prefix: Int

  init(
    _ node: Page, adding key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer,
    at slot: Int
  ) {
    self.node = node
    self.key = key
    self.payload = payload
    self.slot = slot
    count = node.count + 1
    prefix = IndexLayout.prefixByteCount(of: node)
  }

  @inline(__always)
  func source(_ index: Int) -> Int { index < slot ? index : index &- 1 }

  /// The length of the key at `index`, which has one.
  @inline(__always)
  func keyByteCount(at index: Int) -> Int {
    if index == slot { return key.count }
    return prefix &+ IndexLayout.cell(at: source(index), in: node).suffixByteCount
  }

  @inline(__always)
  func payload(at index: Int) -> UnsafeRawBufferPointer {
    index == slot ? payload : IndexLayout.payload(at: source(index), in: node)
  }

  func key(at index: Int, room: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    index == slot ? key : IndexLayout.key(at: source(index), in: node, room: room)
  }

  /// What the keys of some entries begin with; for a node of them, so the first of an inner node
  /// does not count.
  func commonPrefix(_ range: Range<Int>, _ scratch: NodeScratch) -> Int {
    let lowest = range.lowerBound + IndexLayout.lowestSlot(of: node)
    guard lowest + 1 < range.upperBound else { return 0 }
    return KeyBytes.commonByteCount(
      key(at: lowest, room: scratch.firstKey),
      key(at: range.upperBound - 1, room: scratch.secondKey))
  }

  /// What a node of some entries takes under a prefix.
  func byteCount(_ range: Range<Int>, prefix: Int) -> Int {
    var total = IndexLayout.prefixFieldByteCount(prefix)
    let lowest = range.lowerBound &+ IndexLayout.lowestSlot(of: node)
    for index in range {
      total &+= IndexLayout.byteCount(
        suffix: index < lowest ? 0 : keyByteCount(at: index) &- prefix,
        payload: payload(at: index).count)
    }
    return total
  }

  /// A prefix under which a node can hold some entries: the longest that they share if they fit,
  /// else the one the node has; `nil` when they do not fit.
  func fittingPrefix(_ range: Range<Int>, sharesPrefix: Bool, _ scratch: NodeScratch) -> Int? {
    let capacity = scratch.pageSize - PageHeader.byteCount
    let common = commonPrefix(range, scratch)
    if byteCount(range, prefix: common) <= capacity { return common }
    // A longer prefix can take more room than it saves: short keys leave nothing to save.
    guard common != prefix, sharesPrefix || !range.contains(slot) else { return nil }
    return byteCount(range, prefix: prefix) <= capacity ? prefix : nil
  }

  /// Makes `target` a node of some entries; this list's node lies elsewhere.
  func fill(
    _ target: MutablePage, with range: Range<Int>, prefix: Int, _ scratch: NodeScratch
  ) {
    let lowest = range.lowerBound + IndexLayout.lowestSlot(of: node)
    let prefixKey =
      prefix == 0 ? IndexLayout.lowestKey : key(at: lowest, room: scratch.secondKey)
    var filling = IndexFilling(
      target, level: node.level, commit: target.commit, prefix: prefix, of: prefixKey,
      count: range.count, pageSize: scratch.pageSize)
    filling.prepare(toCopyFrom: node, scratch)
    for index in range {
      if index < lowest {
        filling.add(IndexLayout.lowestKey, payload(at: index))
      } else if index == slot {
        filling.add(key, payload)
      } else {
        filling.add(entryAt: source(index), of: node, scratch)
      }
    }
    filling.finish()
  }
}

/// A node being filled with a known number of entries in order.
private struct IndexFilling {
  private let node: MutablePage
  private let prefix: Int
  private let count: Int
  private var head: UnsafeMutableRawPointer
  private var offset: UnsafeMutableRawPointer
  private var cellStart: Int

  /// - Parameter key: begins with the prefix; not in the node.
  init(
    _ node: MutablePage, level: Int, commit: CommitNumber, prefix: Int,
    of key: UnsafeRawBufferPointer, count: Int, pageSize: Int
  ) {
    self.node = node
    self.prefix = prefix
    self.count = count
    node.initialize(
      IndexLayout.type(ofLevel: level), level: level, commit: commit, pageSize: pageSize)
    node.base.setU16(prefix, at: IndexLayout.prefixLengthOffset)
    if let start = key.baseAddress {
      (node.base + IndexLayout.prefixStart).copyMemory(from: start, byteCount: prefix)
    }
    head = node.base + IndexLayout.headsStart(prefix: prefix)
    offset = head + count * IndexLayout.headByteCount
    cellStart = pageSize
  }

  /// Adds an entry whose key begins with the prefix, or an inner node's first, whose key is empty.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) {
    let suffixByteCount = max(0, key.count &- prefix)
    cellStart &-= IndexCell.byteCount(suffix: suffixByteCount, payload: payload.count)
    let suffix = key.baseAddress.map { $0 + prefix } ?? UnsafeRawPointer(node.base)
    head.setU32(KeyBytes.head(suffix, count: suffixByteCount), at: 0)
    offset.setU16(cellStart, at: 0)
    IndexCell.write(
      suffix: suffixByteCount, rest: suffix + IndexLayout.headByteCount, payload: payload,
      to: node.base + cellStart)
    head += IndexLayout.headByteCount
    offset += IndexLayout.offsetByteCount
  }

  /// To be called before entries of `source` are added.
  func prepare(toCopyFrom source: Page, _ scratch: NodeScratch) {
    scratch.firstKey.copyMemory(
      from: source.base + IndexLayout.prefixStart,
      byteCount: IndexLayout.prefixByteCount(of: source))
  }

  /// Adds the entry, with a key, at `slot` of another node, which begins with the prefix too.
  @inline(__always)
  mutating func add(entryAt slot: Int, of source: Page, _ scratch: NodeScratch) {
    let payload = IndexLayout.payload(at: slot, in: source)
    let sourcePrefix = IndexLayout.prefixByteCount(of: source)
    guard sourcePrefix == prefix else {
      let key = IndexLayout.completeKey(
        at: slot, in: source, after: sourcePrefix, room: scratch.firstKey)
      return add(key, payload)
    }
    // The entry is the same here as there.
    let start = IndexLayout.cell(at: slot, in: source).start
    let byteCount = payload.baseAddress.unsafelyUnwrapped - start + payload.count
    cellStart &-= byteCount
    (node.base + cellStart).copyMemory(from: start, byteCount: byteCount)
    head.setU32(IndexLayout.head(at: slot, in: source), at: 0)
    offset.setU16(cellStart, at: 0)
    head += IndexLayout.headByteCount
    offset += IndexLayout.offsetByteCount
  }

  func finish() {
    node.count = count
    node.cellStart = cellStart
    // No holes: what is free lies in one piece.
    node.freeBytes = cellStart - (offset - node.base)
  }
}

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
      // How it mostly ends: no prefix is better than the one the node has.
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

  /// How many of the entries, with that prefix, make half of their bytes.
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
    let capacity = scratch.pageSize - PageHeader.byteCount
    // No node but a root is empty, if it was we who wrote it.
    guard left.count > 0, right.count > 0 else { return false }
    // A common prefix is hardly ever longer than both, so entries do not get shorter.
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

  /// Whether all keys of two nodes ascend: else, which only a damaged file can bring about, what the
  /// first and the last share is not what all share.
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
      count: old.count + right.count, pageSize: scratch.pageSize)
    filling.prepare(toCopyFrom: old, scratch)
    for slot in 0..<old.count {
      if slot < lowest {
        filling.add(lowestKey, payload(at: slot, in: old))
      } else {
        filling.add(entryAt: slot, of: old, scratch)
      }
    }
    filling.prepare(toCopyFrom: right, scratch)
    for slot in 0..<right.count {
      if slot < lowest {
        filling.add(bound, payload(at: slot, in: right))
      } else {
        filling.add(entryAt: slot, of: right, scratch)
      }
    }
    filling.finish()
  }

  private static func usedBytes(of node: Page, _ capacity: Int) -> Int {
    capacity - node.freeBytes - prefixFieldByteCount(prefixByteCount(of: node))
  }

  /// What the entries of a node take under another prefix.
  ///
  /// - Parameter firstSuffix: what the first entry of an inner node then has behind the prefix.
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
