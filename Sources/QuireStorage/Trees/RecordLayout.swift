/// Nodes of record trees: keys are a dense array of `Int64`, so that a search touches little
/// memory.
///
/// A leaf has its keys, then the offsets of its payloads, then free bytes, then the payloads. An
/// inner node has its keys, then its children, and no cells.
enum RecordLayout: NodeLayout {
  typealias Key = Int64

  static let kind = TreeKind.record
  static let leafType = PageType.recordLeaf
  static let innerType = PageType.recordInner
  static let lowestKey = Int64.min

  static let keysStart = PageHeader.byteCount
  static let keyByteCount = 8
  static let offsetByteCount = 2
  static let childByteCount = 4

  @inline(__always)
  static func key(at slot: Int, in node: Page) -> Int64 {
    node.base.i64(at: keysStart + slot &* keyByteCount)
  }

  @inline(__always)
  static func key(at slot: Int, in node: Page, room: UnsafeMutableRawPointer) -> Int64 {
    key(at: slot, in: node)
  }

  @inline(__always)
  static func offset(at slot: Int, in node: Page) -> Int {
    node.base.u16(at: keysStart + node.count &* keyByteCount + slot &* offsetByteCount)
  }

  @inline(__always)
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer {
    guard node.level == 0 else {
      let start = keysStart + node.count &* keyByteCount + slot &* childByteCount
      return UnsafeRawBufferPointer(start: node.base + start, count: childByteCount)
    }
    let start = node.base + offset(at: slot, in: node)
    return UnsafeRawBufferPointer(start: start, count: ValuePayload.byteCount(at: start))
  }

  @inline(__always)
  static func find(_ key: Int64, in leaf: Page) -> (slot: Int, isFound: Bool) {
    let count = leaf.count
    guard count > 0 else { return (0, false) }
    let keys = leaf.base + keysStart
    let slot = lowerBound(of: key, in: keys, from: 0, to: count)
    return (slot, slot < count && keys.i64(at: slot &* keyByteCount) == key)
  }

  @inline(__always)
  static func childSlot(for key: Int64, in node: Page) -> Int {
    let count = node.count
    guard count > 1 else { return 0 }
    let keys = node.base + keysStart
    let slot = lowerBound(of: key, in: keys, from: 1, to: count)
    return slot < count && keys.i64(at: slot &* keyByteCount) == key ? slot : slot &- 1
  }

  static func isPlace(_ slot: Int, of bound: Int64, in node: Page) -> Bool {
    childSlot(for: bound, in: node) == slot - 1
      && (slot == 1 || key(at: slot - 1, in: node) < bound)
  }

  /// The first slot from `start` whose key is not below `key`, else `end`; `start` is below `end`.
  ///
  /// Without a branch that depends on a key: the compiler makes the choice a conditional move. The
  /// number of steps depends on the number of keys only.
  @inline(__always)
  private static func lowerBound(
    of key: Int64, in keys: UnsafeRawPointer, from start: Int, to end: Int
  ) -> Int {
    var base = keys + start &* keyByteCount
    var remaining = end &- start
    while remaining > 1 {
      let half = remaining &>> 1
      let isBelow = base.i64(at: half &* keyByteCount &- keyByteCount) < key
      base = isBelow ? base + half &* keyByteCount : base
      remaining &-= half
    }
    let isBelow = base.i64(at: 0) < key
    return (base - keys) &>> 3 &+ (isBelow ? 1 : 0)
  }

  @inline(__always)
  static func isAscending(_ left: Int64, _ right: Int64) -> Bool { left < right }

  /// What an entry takes of a node's free bytes.
  @inline(__always)
  static func byteCount(payload payloadByteCount: Int, level: Int) -> Int {
    level == 0 ? keyByteCount + offsetByteCount + payloadByteCount : keyByteCount + childByteCount
  }

  /// What the entry at `slot` takes.
  @inline(__always)
  static func byteCount(at slot: Int, in node: Page) -> Int {
    byteCount(payload: payload(at: slot, in: node).count, level: node.level)
  }

  @inline(__always)
  static func slotByteCount(level: Int) -> Int {
    keyByteCount + (level == 0 ? offsetByteCount : childByteCount)
  }

  @inline(__always)
  static func contiguousFreeBytes(of node: Page) -> Int {
    node.cellStart - keysStart - node.count * slotByteCount(level: node.level)
  }

  static func defect(of node: Page, geometry: PageGeometry) -> String? {
    let count = node.count
    let level = node.level
    let slotsEnd = keysStart + count * slotByteCount(level: level)
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.pageSize else {
      return "\(count) entries do not fit before the cells at \(node.cellStart)"
    }
    var free = geometry.pageSize - slotsEnd
    if level == 0 {
      for slot in 0..<count {
        let start = offset(at: slot, in: node)
        guard start >= node.cellStart,
          let byteCount = ValuePayload.validByteCount(
            at: node.base + start, room: geometry.pageSize - start, geometry)
        else { return "the value of entry \(slot) lies outside the page" }
        free -= byteCount
      }
    } else if count == 0 {
      return "an inner node has no child"
    }
    guard free == node.freeBytes else {
      return "\(node.freeBytes) bytes are said to be free, \(free) are"
    }
    if level == 0, hasOverlap(node, geometry) { return "two values lie in the same bytes" }
    for slot in stride(from: level == 0 ? 1 : 2, to: count, by: 1)
    where key(at: slot - 1, in: node) >= key(at: slot, in: node) {
      return "the keys of entries \(slot - 1) and \(slot) are out of order"
    }
    return nil
  }

  /// A value may be changed in place, so it must be in no other's bytes.
  private static func hasOverlap(_ leaf: Page, _ geometry: PageGeometry) -> Bool {
    CellMap.hasOverlap(pageSize: geometry.pageSize, count: leaf.count) { slot in
      let start = offset(at: slot, in: leaf)
      return start..<(start + payload(at: slot, in: leaf).count)
    }
  }
}
