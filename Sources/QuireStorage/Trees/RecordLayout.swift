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

  private static let keysStart = PageHeader.byteCount
  private static let keyByteCount = 8
  private static let offsetByteCount = 2
  private static let childByteCount = 4

  @inline(__always)
  static func key(at slot: Int, in node: Page) -> Int64 {
    node.base.i64(at: keysStart + slot &* keyByteCount)
  }

  @inline(__always)
  private static func offset(at slot: Int, in node: Page) -> Int {
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
  static func lowerBound(of key: Int64, from start: Int, in node: Page) -> Int {
    // Without a branch that depends on a key: the compiler makes the choice a conditional move.
    var base = start
    var remaining = node.count &- start
    while remaining > 0 {
      let half = remaining >> 1
      let isBelow = self.key(at: base &+ half, in: node) < key
      base = isBelow ? base &+ half &+ 1 : base
      remaining = isBelow ? remaining &- half &- 1 : half
    }
    return base
  }

  @inline(__always)
  static func upperBound(of key: Int64, from start: Int, in node: Page) -> Int {
    var base = start
    var remaining = node.count &- start
    while remaining > 0 {
      let half = remaining >> 1
      let isBelow = self.key(at: base &+ half, in: node) <= key
      base = isBelow ? base &+ half &+ 1 : base
      remaining = isBelow ? remaining &- half &- 1 : half
    }
    return base
  }

  @inline(__always)
  static func areEqual(_ left: Int64, _ right: Int64) -> Bool { left == right }
  @inline(__always)
  static func isAscending(_ left: Int64, _ right: Int64) -> Bool { left < right }

  @inline(__always)
  static func byteCount(of key: Int64, payloadByteCount: Int, level: Int) -> Int {
    level == 0 ? keyByteCount + offsetByteCount + payloadByteCount : keyByteCount + childByteCount
  }

  @inline(__always)
  static func byteCount(at slot: Int, in node: Page) -> Int {
    byteCount(
      of: 0, payloadByteCount: payload(at: slot, in: node).count, level: node.level)
  }

  @inline(__always)
  private static func slotByteCount(level: Int) -> Int {
    keyByteCount + (level == 0 ? offsetByteCount : childByteCount)
  }

  @inline(__always)
  static func contiguousFreeBytes(of node: Page) -> Int {
    node.cellStart - keysStart - node.count * slotByteCount(level: node.level)
  }

  static func insert(
    _ key: Int64, _ payload: UnsafeRawBufferPointer, at slot: Int, in node: MutablePage
  ) {
    let page = node.page
    let count = page.count
    let isLeaf = page.level == 0
    let width = isLeaf ? offsetByteCount : childByteCount
    let seconds = keysStart + count * keyByteCount
    // The second array moves up by one key; behind the new slot also by one of its own elements.
    let secondSlot = node.base + seconds + slot * width
    (secondSlot + keyByteCount + width).copyMemory(
      from: secondSlot, byteCount: (count - slot) * width)
    (node.base + seconds + keyByteCount).copyMemory(
      from: node.base + seconds, byteCount: slot * width)
    let keySlot = node.base + keysStart + slot * keyByteCount
    (keySlot + keyByteCount).copyMemory(from: keySlot, byteCount: (count - slot) * keyByteCount)
    keySlot.setI64(key, at: 0)
    let target = node.base + seconds + keyByteCount + slot * width
    if isLeaf {
      let start = page.cellStart - payload.count
      UnsafeMutableRawBufferPointer(start: node.base + start, count: payload.count)
        .copyMemory(from: payload)
      target.setU16(start, at: 0)
      node.cellStart = start
    } else {
      UnsafeMutableRawBufferPointer(start: target, count: width).copyMemory(from: payload)
    }
    node.freeBytes -= byteCount(of: key, payloadByteCount: payload.count, level: page.level)
    node.count = count + 1
  }

  static func remove(at slot: Int, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let isLeaf = page.level == 0
    let width = isLeaf ? offsetByteCount : childByteCount
    let freed = byteCount(at: slot, in: page)
    if isLeaf {
      let start = offset(at: slot, in: page)
      // The lowest cell gives its bytes back at once; others leave a hole for the next rebuild.
      if start == page.cellStart { node.cellStart = start + freed - keyByteCount - width }
    }
    let seconds = keysStart + count * keyByteCount
    let keySlot = node.base + keysStart + slot * keyByteCount
    keySlot.copyMemory(from: keySlot + keyByteCount, byteCount: (count - slot - 1) * keyByteCount)
    (node.base + seconds - keyByteCount).copyMemory(
      from: node.base + seconds, byteCount: slot * width)
    let secondSlot = node.base + seconds + slot * width
    (secondSlot - keyByteCount).copyMemory(
      from: secondSlot + width, byteCount: (count - slot - 1) * width)
    node.freeBytes += freed
    node.count = count - 1
  }

  static func clearFirstKey(in node: MutablePage) {
    node.base.setI64(lowestKey, at: keysStart)
  }

  static func separator(between left: Int64, and right: Int64) -> Int64 { right }

  static func copy(_ key: Int64, to room: UnsafeMutableRawPointer) -> Int64 { key }

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
            at: node.base + start, room: geometry.pageSize - start)
        else { return "the value of entry \(slot) lies outside the page" }
        free -= byteCount
      }
    } else if count == 0 {
      return "an inner node has no child"
    }
    guard free == node.freeBytes else {
      return "\(node.freeBytes) bytes are said to be free, \(free) are"
    }
    for slot in stride(from: level == 0 ? 1 : 2, to: count, by: 1)
    where key(at: slot - 1, in: node) >= key(at: slot, in: node) {
      return "the keys of entries \(slot - 1) and \(slot) are out of order"
    }
    return nil
  }
}
