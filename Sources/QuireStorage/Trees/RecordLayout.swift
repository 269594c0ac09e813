// Nodes of record trees.
//
//   header | base, width | differences … | offsets … |   free   | payloads …      leaf
//   header | base, width | differences … | children … |  free                     inner node
//
// Keys of a record tree are mostly assigned in ascending order, and those of one node are then
// close together. So a node has one key in full, its base, and for each key the difference from it:
// in two bytes if all of the node allow it, otherwise in four or eight. That saves six of twelve
// bytes beside a value, and a search, which still uses a dense array and has no branch that depends
// on a key, touches a quarter of the memory.
//
// Invariants:
//
//   - no key is below the base; the lowest one may be above it;
//   - the first entry of an inner node has no key, and a difference of zero;
//   - an empty node has neither base nor payloads: after its header all is zero or free.
//
// A key that is below the base, or too far above it, gives the node a new base and width; payloads
// are not moved for that (`RecordLayout+Changes.swift`). Splitting and compacting fill a node again
// with the narrowest differences.

/// Nodes of record trees: a base, an array of differences to it, an array of offsets or children,
/// free bytes, then a leaf's payloads.
enum RecordLayout: NodeLayout {
  typealias Key = Int64

  static let kind = TreeKind.record
  static let leafType = PageType.recordLeaf
  static let innerType = PageType.recordInner
  static let lowestKey = Int64.min

  static let baseOffset = PageHeader.byteCount
  static let widthOffset = baseOffset + 8
  /// A multiple of eight, so that no difference lies on two lines of memory.
  static let keysStart = widthOffset + 8
  /// The number of bytes of base and width in a node that has entries.
  static let fieldByteCount = keysStart - PageHeader.byteCount
  static let offsetByteCount = 2
  static let childByteCount = 4

  // MARK: Where things are

  static func baseKey(of node: Page) -> Int64 { node.base.i64(at: baseOffset) }

  static func width(of node: Page) -> RecordKeyWidth {
    RecordKeyWidth(code: node.base.load(fromByteOffset: widthOffset, as: UInt8.self))
  }

  static func difference(at slot: Int, in node: Page) -> UInt64 {
    // A whole word, whatever the width: after the last difference come twice as many bytes as
    // there are entries, and in a leaf as many again of payloads, so the page does not end before.
    let width = width(of: node)
    return node.base.u64(at: keysStart &+ slot &<< width.shift) & width.mask
  }

  static func key(at slot: Int, in node: Page) -> Int64 {
    baseKey(of: node) &+ Int64(bitPattern: difference(at: slot, in: node))
  }

  static func keyRoomByteCount(pageSize: Int) -> Int { 0 }

  static func key(at slot: Int, in node: Page, room: UnsafeMutableRawPointer) -> Int64 {
    key(at: slot, in: node)
  }

  /// The offset of the offsets or the children.
  static func secondsStart(of node: Page) -> Int {
    keysStart &+ node.count &<< width(of: node).shift
  }

  static func offset(at slot: Int, in node: Page) -> Int {
    node.base.u16(at: secondsStart(of: node) &+ slot &* offsetByteCount)
  }

  @inline(__always)
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer {
    guard node.level == 0 else {
      let start = secondsStart(of: node) &+ slot &* childByteCount
      return UnsafeRawBufferPointer(start: node.base + start, count: childByteCount)
    }
    let start = node.base + offset(at: slot, in: node)
    return UnsafeRawBufferPointer(start: start, count: ValuePayload.byteCount(at: start))
  }

  /// The first slot that has a key.
  static func lowestSlot(of node: Page) -> Int { node.level == 0 ? 0 : 1 }

  // MARK: Searching

  @inline(__always)
  static func find(_ key: Int64, in leaf: Page) -> (slot: Int, isFound: Bool) {
    // If keys were assigned in ascending order and none is missing, one comparison is enough.
    let distance = key &- baseKey(of: leaf) &- Int64(bitPattern: difference(at: 0, in: leaf))
    let slot = Int(truncatingIfNeeded: distance)
    if slot >= 0, slot < leaf.count, self.key(at: slot, in: leaf) == key { return (slot, true) }
    return search(key, from: 0, in: leaf)
  }

  @inline(__always)
  static func childSlot(for key: Int64, in node: Page) -> Int {
    let (slot, isFound) = search(key, from: 1, in: node)
    return isFound ? slot : slot &- 1
  }

  static func isSlot(_ slot: Int, of bound: Int64, in node: Page) -> Bool {
    search(bound, from: 1, in: node) == (slot, false)
  }

  /// The first slot at or after `start` whose key is not below `key`, the count when there is none;
  /// and whether it has that very key.
  @inline(__always)
  static func search(
    _ key: Int64, from start: Int, in node: Page
  ) -> (slot: Int, isFound: Bool) {
    let count = node.count
    let base = baseKey(of: node)
    guard start < count, key >= base else { return (start, false) }
    let difference = UInt64(bitPattern: key &- base)
    let width = width(of: node)
    guard difference <= width.mask else { return (count, false) }
    let keys = node.base + keysStart
    switch width.shift {
    case 1:
      return lowerBound(of: UInt16(truncatingIfNeeded: difference), in: keys, start, count)
    case 2:
      return lowerBound(of: UInt32(truncatingIfNeeded: difference), in: keys, start, count)
    default:
      return lowerBound(of: difference, in: keys, start, count)
    }
  }

  /// The first slot from `start` whose difference is not below the one given, else `end`; and
  /// whether it is the one. `start` is below `end`.
  ///
  /// Without a branch that depends on a key: the compiler makes the choice a conditional move. The
  /// number of steps depends on the number of keys only.
  @inline(__always)
  private static func lowerBound<Difference: FixedWidthInteger & BitwiseCopyable>(
    of difference: Difference, in keys: UnsafeRawPointer, _ start: Int, _ end: Int
  ) -> (slot: Int, isFound: Bool) {
    let stride = MemoryLayout<Difference>.size
    func load(_ address: UnsafeRawPointer) -> Difference {
      Difference(littleEndian: address.loadUnaligned(as: Difference.self))
    }
    var base = keys + start &* stride
    var remaining = end &- start
    while remaining > 1 {
      let half = remaining &>> 1
      let isBelow = load(base + (half &- 1) &* stride) < difference
      base = isBelow ? base + half &* stride : base
      remaining &-= half
    }
    let isBelow = load(base) < difference
    base = isBelow ? base + stride : base
    let slot = (base - keys) / stride
    return (slot, slot < end && load(base) == difference)
  }

  static func isAscending(_ left: Int64, _ right: Int64) -> Bool { left < right }

  // MARK: Bytes

  /// The number of bytes of an entry's slot, without a leaf's payload.
  static func slotByteCount(level: Int, _ width: RecordKeyWidth) -> Int {
    width.byteCount &+ (level == 0 ? offsetByteCount : childByteCount)
  }

  static func byteCount(at slot: Int, in node: Page) -> Int {
    let level = node.level
    return slotByteCount(level: level, width(of: node))
      &+ (level == 0 ? payload(at: slot, in: node).count : 0)
  }

  static func byteCount(
    of key: Int64, _ payload: UnsafeRawBufferPointer, in node: Page
  ) -> Int {
    slotByteCount(level: node.level, width(of: node)) + (node.level == 0 ? payload.count : 0)
  }

  static func contiguousFreeBytes(of node: Page) -> Int {
    node.cellStart &- keysStart &- node.count &* slotByteCount(level: node.level, width(of: node))
  }
}

/// The width of the differences between keys and base in a node.
struct RecordKeyWidth: Equatable {
  /// As written in the node. On disk: 0 is two bytes, 1 four, 2 eight.
  let code: UInt8

  static let codeCount = 3
  static var narrowest: RecordKeyWidth { RecordKeyWidth(code: 0) }

  init(code: UInt8) { self.code = code }

  /// The narrowest that such a difference fits in.
  init(for difference: UInt64) {
    code = difference <= 0xFFFF ? 0 : difference <= 0xFFFF_FFFF ? 1 : 2
  }

  var shift: Int { 1 &+ Int(code) }
  var byteCount: Int { 1 &<< shift }
  /// The highest difference.
  var mask: UInt64 { UInt64.max &>> UInt64(64 &- 8 &* byteCount) }
}
