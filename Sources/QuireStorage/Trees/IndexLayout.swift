/// Nodes of index trees: an array of offsets, free bytes, then cells of key length, key and
/// payload.
enum IndexLayout: NodeLayout {
  typealias Key = UnsafeRawBufferPointer

  static let kind = TreeKind.index
  static let leafType = PageType.indexLeaf
  static let innerType = PageType.indexInner
  static var lowestKey: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  private static let slotsStart = PageHeader.byteCount
  private static let offsetByteCount = 2
  private static let lengthByteCount = 2
  private static let childByteCount = 4

  @inline(__always)
  private static func cell(at slot: Int, in node: Page) -> UnsafeRawPointer {
    node.base + node.base.u16(at: slotsStart + slot &* offsetByteCount)
  }

  @inline(__always)
  static func key(at slot: Int, in node: Page) -> UnsafeRawBufferPointer {
    let cell = cell(at: slot, in: node)
    return UnsafeRawBufferPointer(start: cell + lengthByteCount, count: cell.u16(at: 0))
  }

  @inline(__always)
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer {
    let cell = cell(at: slot, in: node)
    let start = cell + lengthByteCount + cell.u16(at: 0)
    let byteCount = node.level == 0 ? ValuePayload.byteCount(at: start) : childByteCount
    return UnsafeRawBufferPointer(start: start, count: byteCount)
  }

  /// Below zero, zero or above, as `left` is below, equal to or above `right`.
  @inline(__always)
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    guard common > 0, let one = left.baseAddress, let other = right.baseAddress else {
      return left.count - right.count
    }
    // Eight bytes at a time: read big-endian, they compare as numbers the way bytes compare in
    // order.
    var offset = 0
    while offset &+ 8 <= common {
      let a = UInt64(bigEndian: one.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let b = UInt64(bigEndian: other.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      if a != b { return a < b ? -1 : 1 }
      offset &+= 8
    }
    while offset < common {
      let a = one.load(fromByteOffset: offset, as: UInt8.self)
      let b = other.load(fromByteOffset: offset, as: UInt8.self)
      if a != b { return a < b ? -1 : 1 }
      offset &+= 1
    }
    return left.count - right.count
  }

  static func lowerBound(of key: UnsafeRawBufferPointer, from start: Int, in node: Page) -> Int {
    var base = start
    var remaining = node.count - start
    while remaining > 0 {
      let half = remaining >> 1
      if compare(self.key(at: base + half, in: node), key) < 0 {
        base += half + 1
        remaining -= half + 1
      } else {
        remaining = half
      }
    }
    return base
  }

  static func upperBound(of key: UnsafeRawBufferPointer, from start: Int, in node: Page) -> Int {
    var base = start
    var remaining = node.count - start
    while remaining > 0 {
      let half = remaining >> 1
      if compare(self.key(at: base + half, in: node), key) <= 0 {
        base += half + 1
        remaining -= half + 1
      } else {
        remaining = half
      }
    }
    return base
  }

  static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && compare(left, right) == 0
  }

  static func isAscending(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    compare(left, right) < 0
  }

  @inline(__always)
  static func byteCount(of key: UnsafeRawBufferPointer, payloadByteCount: Int, level: Int) -> Int {
    offsetByteCount + lengthByteCount + key.count + payloadByteCount
  }

  @inline(__always)
  static func byteCount(at slot: Int, in node: Page) -> Int {
    byteCount(
      of: key(at: slot, in: node), payloadByteCount: payload(at: slot, in: node).count,
      level: node.level)
  }

  @inline(__always)
  static func contiguousFreeBytes(of node: Page) -> Int {
    node.cellStart - slotsStart - node.count * offsetByteCount
  }

  static func insert(
    _ key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer, at slot: Int,
    in node: MutablePage
  ) {
    let count = node.count
    let byteCount = lengthByteCount + key.count + payload.count
    let start = node.cellStart - byteCount
    let cell = node.base + start
    cell.setU16(key.count, at: 0)
    UnsafeMutableRawBufferPointer(start: cell + lengthByteCount, count: key.count)
      .copyMemory(from: key)
    UnsafeMutableRawBufferPointer(start: cell + lengthByteCount + key.count, count: payload.count)
      .copyMemory(from: payload)
    let offsets = node.base + slotsStart + slot * offsetByteCount
    (offsets + offsetByteCount).copyMemory(
      from: offsets, byteCount: (count - slot) * offsetByteCount)
    offsets.setU16(start, at: 0)
    node.cellStart = start
    node.freeBytes -= byteCount + offsetByteCount
    node.count = count + 1
  }

  static func remove(at slot: Int, in node: MutablePage) {
    let count = node.count
    let freed = byteCount(at: slot, in: node.page)
    let offsets = node.base + slotsStart + slot * offsetByteCount
    let start = UnsafeRawPointer(offsets).u16(at: 0)
    // The lowest cell gives its bytes back at once; others leave a hole for the next rebuild.
    if start == node.cellStart { node.cellStart = start + freed - offsetByteCount }
    offsets.copyMemory(
      from: offsets + offsetByteCount, byteCount: (count - slot - 1) * offsetByteCount)
    node.freeBytes += freed
    node.count = count - 1
  }

  static func clearFirstKey(in node: MutablePage) {
    let child = child(at: 0, in: node.page)
    let key = key(at: 0, in: node.page)
    guard key.count > 0 else { return }
    // The cell keeps its place with a shorter key; what is left of it is a hole.
    let freed = key.count
    let cell = UnsafeMutableRawPointer(mutating: self.cell(at: 0, in: node.page))
    cell.setU16(0, at: 0)
    cell.setU32(child.rawValue, at: lengthByteCount)
    node.freeBytes += freed
  }

  /// The prefix of `right` up to the first byte in which it differs from `left`.
  static func separator(
    between left: UnsafeRawBufferPointer, and right: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    var common = 0
    while common < left.count, common < right.count, left[common] == right[common] { common += 1 }
    return UnsafeRawBufferPointer(rebasing: right[..<min(common + 1, right.count)])
  }

  static func copy(
    _ key: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: room, count: key.count).copyMemory(from: key)
    return UnsafeRawBufferPointer(start: room, count: key.count)
  }

  static func defect(of node: Page, geometry: PageGeometry) -> String? {
    let count = node.count
    let slotsEnd = slotsStart + count * offsetByteCount
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.pageSize else {
      return "\(count) entries do not fit before the cells at \(node.cellStart)"
    }
    if node.level > 0, count == 0 { return "an inner node has no child" }
    var free = geometry.pageSize - slotsEnd
    for slot in 0..<count {
      guard let byteCount = validCellByteCount(at: slot, in: node, geometry: geometry) else {
        return "entry \(slot) lies outside the page"
      }
      free -= byteCount
    }
    guard free == node.freeBytes else {
      return "\(node.freeBytes) bytes are said to be free, \(free) are"
    }
    for slot in stride(from: node.level == 0 ? 1 : 2, to: count, by: 1)
    where compare(key(at: slot - 1, in: node), key(at: slot, in: node)) >= 0 {
      return "the keys of entries \(slot - 1) and \(slot) are out of order"
    }
    return nil
  }

  private static func validCellByteCount(
    at slot: Int, in node: Page, geometry: PageGeometry
  ) -> Int? {
    let start = node.base.u16(at: slotsStart + slot * offsetByteCount)
    guard start >= node.cellStart, start + lengthByteCount <= geometry.pageSize else { return nil }
    let keyByteCount = node.base.u16(at: start)
    guard keyByteCount <= geometry.keyLimit else { return nil }
    let payloadStart = start + lengthByteCount + keyByteCount
    let room = geometry.pageSize - payloadStart
    guard node.level == 0 else {
      return room >= childByteCount ? lengthByteCount + keyByteCount + childByteCount : nil
    }
    guard room > 0,
      let byteCount = ValuePayload.validByteCount(at: node.base + payloadStart, room: room)
    else { return nil }
    return lengthByteCount + keyByteCount + byteCount
  }
}
