extension IndexLayout {
  static func find(
    _ key: UnsafeRawBufferPointer, in leaf: Page
  ) -> (slot: Int, isFound: Bool) {
    search(key, from: 0, in: leaf)
  }

  @inline(__always)
  static func childSlot(for key: UnsafeRawBufferPointer, in node: Page) -> Int {
    let (slot, isFound) = search(key, from: 1, in: node)
    return isFound ? slot : slot &- 1
  }

  static func isSlot(_ slot: Int, of bound: UnsafeRawBufferPointer, in node: Page) -> Bool {
    search(bound, from: 1, in: node) == (slot, false)
  }

  /// The first slot at or after `start` whose key is not below `key`, the count when there is none;
  /// and whether it has that very key.
  @inline(__always)
  static func search(
    _ key: UnsafeRawBufferPointer, from start: Int, in node: Page
  ) -> (slot: Int, isFound: Bool) {
    let count = node.count
    guard start < count else { return (start, false) }
    guard let keyStart = key.baseAddress else {
      // An empty key may have no address. It comes before all others.
      let isFound =
        prefixByteCount(of: node) == 0 && cell(at: start, in: node).suffixByteCount == 0
      return (start, isFound)
    }
    let prefix = prefixByteCount(of: node)
    let prefixOrder = compareWithPrefix(keyStart, key.count, prefix, in: node)
    if prefixOrder != 0 { return (prefixOrder < 0 ? start : count, false) }

    let suffix = UnsafeRawBufferPointer(
      start: keyStart + prefix, count: key.count &- prefix)
    let head = KeyBytes.head(keyStart + prefix, count: suffix.count)
    let heads = node.base + headsStart(prefix: prefix)
    let slot = lowerBound(of: head, in: heads, from: start, to: count)
    guard slot < count, heads.u32(at: slot &* headByteCount) == head else { return (slot, false) }
    // Mostly there is one such key.
    let order = compare(at: slot, in: node, withSuffix: suffix)
    if order >= 0 { return (slot, order == 0) }
    if slot &+ 1 == count || heads.u32(at: (slot &+ 1) &* headByteCount) != head {
      return (slot &+ 1, false)
    }
    return searchEqualHeads(suffix, from: slot &+ 1, of: head, heads, in: node)
  }

  /// The order of `key` relative to all keys with the prefix: negative if it comes before them,
  /// positive if after them, zero if it has the prefix too.
  @inline(__always)
  private static func compareWithPrefix(
    _ key: UnsafeRawPointer, _ byteCount: Int, _ prefix: Int, in node: Page
  ) -> Int {
    if prefix == 0 { return 0 }
    let start = node.base + prefixStart
    if prefix <= 8, byteCount >= 8 {
      // Both can be read as a word, and this is how it nearly always is.
      let shift = UInt64(64 &- 8 &* prefix)
      let a = key.u64(at: 0).byteSwapped &>> shift
      let b = start.u64(at: 0).byteSwapped &>> shift
      return a == b ? 0 : a < b ? -1 : 1
    }
    let order = KeyBytes.compare(key, start, count: min(byteCount, prefix))
    return order != 0 ? order : byteCount < prefix ? -1 : 0
  }

  /// The first slot from `start` whose head is not below `head`, else `end`; `start` is below
  /// `end`.
  ///
  /// Without a branch that depends on a head: the compiler makes the choice a conditional move. The
  /// number of steps depends on the number of heads only.
  @inline(__always)
  private static func lowerBound(
    of head: UInt32, in heads: UnsafeRawPointer, from start: Int, to end: Int
  ) -> Int {
    var base = heads + start &* headByteCount
    var remaining = end &- start
    while remaining > 1 {
      let half = remaining &>> 1
      let isBelow = base.u32(at: half &* headByteCount &- headByteCount) < head
      base = isBelow ? base + half &* headByteCount : base
      remaining &-= half
    }
    let isBelow = base.u32(at: 0) < head
    return (base - heads) &>> 2 &+ (isBelow ? 1 : 0)
  }

  /// The search among keys with the same head, the first of which is at `start`.
  private static func searchEqualHeads(
    _ suffix: UnsafeRawBufferPointer, from start: Int, of head: UInt32, _ heads: UnsafeRawPointer,
    in node: Page
  ) -> (slot: Int, isFound: Bool) {
    var low = start
    var high = node.count
    if head < .max { high = lowerBound(of: head &+ 1, in: heads, from: start, to: high) }
    let offsets = heads + node.count &* headByteCount
    // After the head, eight bytes distinguish most keys.
    let hasWord = suffix.count >= headByteCount &+ 8
    let word = hasWord ? suffix.baseAddress.unsafelyUnwrapped.u64(at: headByteCount).byteSwapped : 0
    @inline(__always)
    func order(at slot: Int) -> Int {
      let cell = IndexCell(node.base + offsets.u16(at: slot &* offsetByteCount))
      if hasWord, cell.suffixByteCount >= headByteCount &+ 8 {
        let other = cell.rest.u64(at: 0).byteSwapped
        if other != word { return other < word ? -1 : 1 }
      }
      return compare(cell, withSuffix: suffix)
    }
    // Lists of members are sorted by their numbers, and a new member mostly has the highest.
    let last = order(at: high &- 1)
    if last <= 0 { return last == 0 ? (high &- 1, true) : (high, false) }
    high &-= 1
    while low < high {
      let middle = (low &+ high) &>> 1
      let order = order(at: middle)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  /// Below zero, zero or above, as the key at `slot` is below, equal to or above another, of which
  /// what follows the prefix is given; their heads are equal.
  @inline(__always)
  static func compare(
    at slot: Int, in node: Page, withSuffix suffix: UnsafeRawBufferPointer
  ) -> Int {
    compare(cell(at: slot, in: node), withSuffix: suffix)
  }

  @inline(__always)
  private static func compare(
    _ cell: IndexCell, withSuffix suffix: UnsafeRawBufferPointer
  ) -> Int {
    let common = min(cell.suffixByteCount, suffix.count) &- headByteCount
    // When the shorter one ends within the head, it is what the longer one begins with.
    if common > 0 {
      let order = KeyBytes.compare(
        cell.rest, suffix.baseAddress.unsafelyUnwrapped + headByteCount, count: common)
      if order != 0 { return order }
    }
    return cell.suffixByteCount &- suffix.count
  }
}
