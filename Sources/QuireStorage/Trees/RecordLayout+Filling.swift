// Filling nodes anew: closing holes, splitting, merging.
//
// That a split always works. Where the new key changes neither base nor width of the node, each
// half gets differences that are no wider, and an entry takes at most half a page, so halving the
// bytes to within one entry fits. Else the new key is the first or the last one; if the halves do
// not fit, as all keys beside it become wider, it goes into a node of its own, and the others stay
// together as they are. (An inner node's first entry has no key: what begins the right node of two
// keeps its key to the parent.)

extension RecordLayout {
  static func split(
    _ node: MutablePage, to right: MutablePage, inserting key: Int64,
    _ payload: UnsafeRawBufferPointer, at slot: Int, isAppend: Bool, _ scratch: NodeScratch
  ) -> Int64 {
    let level = node.page.level
    if isAppend {
      // The left page stays full, the right one has all its room for what comes next.
      _ = insert(level > 0 ? lowestKey : key, payload, at: 0, in: right, scratch)
      return key
    }
    let entries = RecordEntries(scratch.putAside(node), adding: key, payload, at: slot)
    let leftCount = splitPoint(of: entries, scratch)
    entries.fill(node, with: 0..<leftCount, scratch)
    entries.fill(right, with: leftCount..<entries.count, scratch)
    return entries.key(at: leftCount)
  }

  /// The number of entries that remain on the left: half of the bytes, unless they do not fit then.
  private static func splitPoint(of entries: RecordEntries, _ scratch: NodeScratch) -> Int {
    let capacity = scratch.geometry.capacity
    let half = halvingCount(of: entries)
    if entries.byteCount(0..<half) <= capacity,
      entries.byteCount(half..<entries.count) <= capacity
    {
      return half
    }
    return entries.slot == entries.count - 1 ? entries.count - 1 : 1
  }

  private static func halvingCount(of entries: RecordEntries) -> Int {
    let slotByteCount = slotByteCount(level: entries.node.level, width(of: entries.node))
    var total = 0
    for index in 0..<entries.count { total += slotByteCount + entries.cellByteCount(at: index) }
    var left = 0
    var best = (leftCount: 1, larger: Int.max)
    for index in 0..<(entries.count - 1) {
      left += slotByteCount + entries.cellByteCount(at: index)
      let larger = max(left, total - left)
      if larger >= best.larger { break }
      best = (index + 1, larger)
    }
    return best.leftCount
  }

  static func canMerge(
    _ right: Page, bound: Int64, into left: Page, _ scratch: NodeScratch
  ) -> Bool {
    // Only a root may be empty in a valid store.
    guard left.count > 0, right.count > 0, areInOrder(left, bound, right) else { return false }
    let lowest = lowestSlot(of: left)
    let first = left.count > lowest ? key(at: lowest, in: left) : bound
    let last = right.count > lowest ? key(at: right.count - 1, in: right) : bound
    let width = RecordKeyWidth(for: UInt64(bitPattern: last &- first))
    let wider = max(width.byteCount, self.width(of: left).byteCount)
    let total =
      left.count * (wider - self.width(of: left).byteCount)
      + right.count * (wider - self.width(of: right).byteCount)
      + scratch.geometry.capacity - right.freeBytes - fieldByteCount
    return total <= left.freeBytes
  }

  /// Whether all keys of two nodes ascend, as they do but in a damaged file.
  static func areInOrder(_ left: Page, _ bound: Int64, _ right: Page) -> Bool {
    let lowest = lowestSlot(of: left)
    if left.count > lowest, key(at: left.count - 1, in: left) >= bound { return false }
    guard right.count > lowest else { return true }
    let first = key(at: lowest, in: right)
    // A leaf's first key may be its bound.
    return lowest == 0 ? first >= bound : first > bound
  }

  static func merge(
    _ right: Page, bound: Int64, into left: MutablePage, _ scratch: NodeScratch
  ) {
    let old = left.count
    let isInner = right.level > 0
    for slot in 0..<right.count {
      let key = isInner && slot == 0 ? bound : key(at: slot, in: right)
      let isIn = insert(key, payload(at: slot, in: right), at: old + slot, in: left, scratch)
      assert(isIn)
    }
  }

  static func closeHoles(in node: MutablePage, _ scratch: NodeScratch) {
    guard node.page.level == 0 else { return }
    let old = scratch.putAside(node)
    var start = scratch.geometry.contentEnd
    let offsets = node.base + secondsStart(of: old)
    for slot in 0..<old.count {
      let payload = payload(at: slot, in: old)
      start -= payload.count
      (node.base + start).copyMemory(
        from: payload.baseAddress.unsafelyUnwrapped, byteCount: payload.count)
      offsets.setU16(start, at: slot * offsetByteCount)
    }
    node.cellStart = start
  }
}

/// The entries of one node, and one more among them.
struct RecordEntries {
  let node: Page
  let key: Int64
  let payload: UnsafeRawBufferPointer
  /// The slot of the one more.
  let slot: Int
  let count: Int

  init(_ node: Page, adding key: Int64, _ payload: UnsafeRawBufferPointer, at slot: Int) {
    self.node = node
    self.key = key
    self.payload = payload
    self.slot = slot
    count = node.count + 1
  }

  private func source(_ index: Int) -> Int { index < slot ? index : index &- 1 }

  func key(at index: Int) -> Int64 {
    index == slot ? key : RecordLayout.key(at: source(index), in: node)
  }

  func payload(at index: Int) -> UnsafeRawBufferPointer {
    index == slot ? payload : RecordLayout.payload(at: source(index), in: node)
  }

  /// The number of bytes of an entry apart from its slot.
  func cellByteCount(at index: Int) -> Int { node.level == 0 ? payload(at: index).count : 0 }

  /// The narrowest scale for a node of some entries; the first of an inner node does not count.
  private func scale(_ range: Range<Int>) -> RecordLayout.Scale {
    let lowest = range.lowerBound + RecordLayout.lowestSlot(of: node)
    guard lowest < range.upperBound else {
      return RecordLayout.Scale(base: 0, width: .narrowest)
    }
    return RecordLayout.Scale(from: key(at: lowest), to: key(at: range.upperBound - 1))
  }

  /// The number of bytes of a node with some entries.
  func byteCount(_ range: Range<Int>) -> Int {
    var total =
      RecordLayout.fieldByteCount
      + range.count * RecordLayout.slotByteCount(level: node.level, scale(range).width)
    for index in range { total += cellByteCount(at: index) }
    return total
  }

  /// Makes `target` a node of some entries; it must not be this list's node.
  func fill(_ target: MutablePage, with range: Range<Int>, _ scratch: NodeScratch) {
    let level = node.level
    target.initialize(
      RecordLayout.type(ofLevel: level), level: level, commit: target.commit,
      in: scratch.geometry)
    let scale = scale(range)
    RecordLayout.setScale(scale, of: target)
    let lowest = range.lowerBound + RecordLayout.lowestSlot(of: node)
    let seconds = target.base + RecordLayout.keysStart + range.count << scale.width.shift
    var start = scratch.geometry.contentEnd
    for (index, source) in range.enumerated() {
      RecordLayout.setDifference(
        source < lowest ? 0 : UInt64(bitPattern: key(at: source) &- scale.base), at: index,
        scale.width, in: target)
      let payload = payload(at: source)
      if level == 0 {
        start -= payload.count
        seconds.setU16(start, at: index * RecordLayout.offsetByteCount)
      }
      let destination =
        level == 0 ? target.base + start : seconds + index * RecordLayout.childByteCount
      destination.copyMemory(
        from: payload.baseAddress.unsafelyUnwrapped, byteCount: payload.count)
    }
    target.cellStart = start
    target.count = range.count
    target.freeBytes = RecordLayout.contiguousFreeBytes(of: target.page)
  }
}
