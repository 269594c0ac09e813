// Nodes of index trees.
//
//   header | prefix | heads … | offsets … |   free   | cells …
//
// The prefix that all keys of a node share is stored once. The next four bytes of each key, its
// head, are in a dense array of numbers: a search touches few cache lines, has no branch that
// depends on a key, and reads the rest of a key, in its cell, only where heads are equal. The bytes
// of a key are stored once, in three pieces.
//
// Invariants; a node's prefix may be shorter than what its keys share:
//
//   - every key begins with the prefix, but that of an inner node's first entry, which is empty;
//   - a head has zeros for bytes that the key does not have; equal heads of which one is padded
//     mean that one key begins with the other, so the lengths decide;
//   - an empty node has neither prefix nor cells: after its header all is free.
//
// The prefix is not the common prefix of the node's bounds in its parent, although that would never
// have to become shorter: nodes at the right edge, where ascending keys are inserted, have no upper
// bound, and would have none. It is the common prefix of the first and the last key when the node
// is filled (`IndexLayout+Filling.swift`), and it is shortened when a key is inserted that does not
// begin with it (`IndexLayout+Changes.swift`).

/// Nodes of index trees: a prefix, an array of heads, an array of offsets, free bytes, then cells
/// of key length, rest of the key, and payload.
enum IndexLayout: NodeLayout {
  typealias Key = UnsafeRawBufferPointer

  static let kind = TreeKind.index
  static let leafType = PageType.indexLeaf
  static let innerType = PageType.indexInner
  static var lowestKey: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  static let prefixLengthOffset = PageHeader.byteCount
  static let prefixStart = prefixLengthOffset + 2
  static let headByteCount = 4
  static let offsetByteCount = 2
  static let childByteCount = 4
  /// Lengths below this take one byte in a cell, others two.
  static let longLength = 0x80

  // MARK: Where things are

  static func prefixByteCount(of node: Page) -> Int { node.base.u16(at: prefixLengthOffset) }

  /// The number of bytes of a prefix with its length: a multiple of four, so that heads are aligned
  /// and none crosses cache lines.
  static func prefixFieldByteCount(_ prefixByteCount: Int) -> Int { (prefixByteCount &+ 5) & ~3 }

  static func headsStart(prefix prefixByteCount: Int) -> Int {
    PageHeader.byteCount &+ prefixFieldByteCount(prefixByteCount)
  }

  static func head(at slot: Int, in node: Page) -> UInt32 {
    node.base.u32(at: headsStart(prefix: prefixByteCount(of: node)) &+ slot &* headByteCount)
  }

  @inline(__always)
  static func cell(at slot: Int, in node: Page) -> IndexCell {
    let offsets =
      headsStart(prefix: prefixByteCount(of: node)) &+ node.count &* headByteCount
    return IndexCell(node.base + node.base.u16(at: offsets &+ slot &* offsetByteCount))
  }

  /// The first slot that has a key.
  static func lowestSlot(of node: Page) -> Int { node.level == 0 ? 0 : 1 }

  // MARK: Entries

  @inline(__always)
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer {
    let start = cell(at: slot, in: node).payloadStart
    let byteCount = node.level == 0 ? ValuePayload.byteCount(at: start) : childByteCount
    return UnsafeRawBufferPointer(start: start, count: byteCount)
  }

  static func keyRoomByteCount(pageSize: Int) -> Int { pageSize / 4 }

  static func key(
    at slot: Int, in node: Page, room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    guard slot >= lowestSlot(of: node) else { return lowestKey }
    let prefix = prefixByteCount(of: node)
    if prefix <= 8 {
      // The following bytes that are copied as well are overwritten next.
      room.setU64(node.base.u64(at: prefixStart), at: 0)
    } else {
      room.copyMemory(from: node.base + prefixStart, byteCount: prefix)
    }
    return completeKey(at: slot, in: node, after: prefix, room: room)
  }

  /// The key at `slot`, which has one, in `room`, which begins with the node's prefix already.
  static func completeKey(
    at slot: Int, in node: Page, after prefix: Int, room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    let cell = cell(at: slot, in: node)
    // All four bytes of the head, whether or not the key has as many: the room has space for them.
    room.setU32(head(at: slot, in: node).byteSwapped, at: prefix)
    let target = room + prefix + headByteCount
    let restByteCount = cell.restByteCount
    if restByteCount > 8 {
      target.copyMemory(from: cell.rest, byteCount: restByteCount)
    } else if restByteCount > 0 {
      // The word that ends with it, as there are always bytes of the page before a cell, but not
      // after it.
      let word = (cell.rest + (restByteCount &- 8)).u64(at: 0)
      target.setU64(word &>> UInt64(64 &- 8 &* restByteCount), at: 0)
    }
    return UnsafeRawBufferPointer(start: room, count: prefix &+ cell.suffixByteCount)
  }

  /// The length of the key at `slot`.
  static func keyByteCount(at slot: Int, in node: Page) -> Int {
    guard slot >= lowestSlot(of: node) else { return 0 }
    return prefixByteCount(of: node) &+ cell(at: slot, in: node).suffixByteCount
  }

  static func isAscending(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    KeyBytes.compare(left, right) < 0
  }

  /// The number of bytes of an entry in a node: head, offset and cell.
  ///
  /// - Parameter suffixByteCount: the length of its key after the node's prefix.
  static func byteCount(suffix suffixByteCount: Int, payload payloadByteCount: Int) -> Int {
    headByteCount &+ offsetByteCount
      &+ IndexCell.byteCount(suffix: suffixByteCount, payload: payloadByteCount)
  }

  /// The number of bytes of the entry at `slot`.
  static func byteCount(at slot: Int, in node: Page) -> Int {
    byteCount(
      suffix: cell(at: slot, in: node).suffixByteCount,
      payload: payload(at: slot, in: node).count)
  }

  /// The number of bytes of entries in a leaf.
  static func byteCount(of slots: Range<Int>, inLeaf node: Page) -> Int {
    let offsets =
      node.base + headsStart(prefix: prefixByteCount(of: node)) + node.count &* headByteCount
    var total = slots.count &* (headByteCount &+ offsetByteCount)
    for slot in slots {
      let start = node.base + offsets.u16(at: slot &* offsetByteCount)
      let payload = IndexCell(start).payloadStart
      total &+= payload - start &+ ValuePayload.byteCount(at: payload)
    }
    return total
  }

  static func byteCount(
    of key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer, in node: Page
  ) -> Int {
    byteCount(suffix: max(0, key.count - prefixByteCount(of: node)), payload: payload.count)
  }

  static func contiguousFreeBytes(of node: Page) -> Int {
    node.cellStart &- headsStart(prefix: prefixByteCount(of: node))
      &- node.count &* (headByteCount &+ offsetByteCount)
  }
}

/// The cell of an entry: the length of its key after the prefix, what the head does not have of
/// it, and the payload.
struct IndexCell {
  let start: UnsafeRawPointer
  let suffixByteCount: Int
  private let lengthByteCount: Int

  init(_ start: UnsafeRawPointer) {
    self.start = start
    let first = Int(start.load(as: UInt8.self))
    if first < IndexLayout.longLength {
      (suffixByteCount, lengthByteCount) = (first, 1)
    } else {
      // Big-endian, as the first byte has the bit that tells the width.
      let second = Int(start.load(fromByteOffset: 1, as: UInt8.self))
      (suffixByteCount, lengthByteCount) = ((first & 0x7F) &<< 8 | second, 2)
    }
  }

  /// Whether the length is written as lengths are; it could be read from two bytes where one does.
  var isLengthShortest: Bool { lengthByteCount == 1 || suffixByteCount >= IndexLayout.longLength }

  /// The key after the head.
  var rest: UnsafeRawPointer { start + lengthByteCount }
  var restByteCount: Int { IndexCell.restByteCount(suffix: suffixByteCount) }
  var payloadStart: UnsafeRawPointer { rest + restByteCount }

  static func restByteCount(suffix suffixByteCount: Int) -> Int {
    max(0, suffixByteCount &- IndexLayout.headByteCount)
  }

  static func byteCount(suffix suffixByteCount: Int, payload payloadByteCount: Int) -> Int {
    (suffixByteCount < IndexLayout.longLength ? 1 : 2) &+ restByteCount(suffix: suffixByteCount)
      &+ payloadByteCount
  }

  /// Writes a cell.
  ///
  /// - Parameter rest: the key after the head; not read if there is none.
  static func write(
    suffix suffixByteCount: Int, rest: UnsafeRawPointer, payload: UnsafeRawBufferPointer,
    to start: UnsafeMutableRawPointer
  ) {
    var next = start
    if suffixByteCount < IndexLayout.longLength {
      next.storeBytes(of: UInt8(truncatingIfNeeded: suffixByteCount), as: UInt8.self)
      next += 1
    } else {
      next.storeBytes(of: UInt8(truncatingIfNeeded: suffixByteCount &>> 8 | 0x80), as: UInt8.self)
      next.storeBytes(
        of: UInt8(truncatingIfNeeded: suffixByteCount), toByteOffset: 1, as: UInt8.self)
      next += 2
    }
    let restByteCount = restByteCount(suffix: suffixByteCount)
    next.copyMemory(from: rest, byteCount: restByteCount)
    next += restByteCount
    // A payload is never empty.
    next.copyMemory(from: payload.baseAddress.unsafelyUnwrapped, byteCount: payload.count)
  }
}
