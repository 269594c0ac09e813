extension RecordLayout {
  static func separator(between left: Int64, and right: Int64) -> Int64 { right }

  static func copy(_ key: Int64, to room: UnsafeMutableRawPointer) -> Int64 { key }

  static func clearFirstKey(in node: MutablePage) {
    node.base.setI64(lowestKey, at: keysStart)
  }

  static func insert(
    _ key: Int64, _ payload: UnsafeRawBufferPointer, at slot: Int, in node: MutablePage,
    _ scratch: NodeScratch
  ) -> Bool {
    let page = node.page
    let count = page.count
    let level = page.level
    let needed = byteCount(payload: payload.count, level: level)
    guard needed <= page.freeBytes else { return false }
    if needed > contiguousFreeBytes(of: page) { closeHoles(in: node, scratch) }

    let isLeaf = level == 0
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
    node.freeBytes -= needed
    node.count = count + 1
    return true
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
    let old = scratch.putAside(node)
    let leftCount = splitPoint(of: old, adding: payload, at: slot, scratch)
    // The new entry is left or right of the split; `source` are the slots where its own side lies.
    let isLeft = slot < leftCount
    let rightStart = isLeft ? leftCount - 1 : leftCount
    fill(node, with: 0..<rightStart, of: old, scratch)
    fill(right, with: rightStart..<old.count, of: old, scratch)
    if isLeft {
      _ = insert(key, payload, at: slot, in: node, scratch)
    } else {
      _ = insert(key, payload, at: slot - leftCount, in: right, scratch)
    }
    let bound = self.key(at: 0, in: right.page)
    if level > 0 { clearFirstKey(in: right) }
    return bound
  }

  /// How many of the entries, the new one at `slot` included, stay on the left: half of the bytes.
  ///
  /// An entry takes at most half a page, so halving the bytes to within one entry always fits.
  private static func splitPoint(
    of node: Page, adding payload: UnsafeRawBufferPointer, at slot: Int, _ scratch: NodeScratch
  ) -> Int {
    let level = node.level
    let newByteCount = byteCount(payload: payload.count, level: level)
    let capacity = scratch.pageSize - PageHeader.byteCount
    let total = capacity - node.freeBytes + newByteCount
    var left = 0
    var best = (leftCount: 1, larger: Int.max)
    for index in 0..<node.count {
      if index == slot {
        left += newByteCount
      } else {
        left += byteCount(at: index < slot ? index : index - 1, in: node)
      }
      let larger = max(left, total - left)
      if larger >= best.larger { break }
      best = (index + 1, larger)
    }
    assert(best.larger <= capacity)
    return best.leftCount
  }

  static func canMerge(
    _ right: Page, bound: Int64, into left: Page, _ scratch: NodeScratch
  ) -> Bool {
    scratch.pageSize - PageHeader.byteCount - right.freeBytes <= left.freeBytes
  }

  static func merge(
    _ right: Page, bound: Int64, into left: MutablePage, _ scratch: NodeScratch
  ) {
    let old = left.count
    let isInner = right.level > 0
    for slot in 0..<right.count {
      let key = isInner && slot == 0 ? bound : key(at: slot, in: right)
      _ = insert(key, payload(at: slot, in: right), at: old + slot, in: left, scratch)
    }
  }

  private static func closeHoles(in node: MutablePage, _ scratch: NodeScratch) {
    let old = scratch.putAside(node)
    fill(node, with: 0..<old.count, of: old, scratch)
  }

  /// Makes `target` a node of some entries of another.
  private static func fill(
    _ target: MutablePage, with slots: Range<Int>, of source: Page, _ scratch: NodeScratch
  ) {
    let level = source.level
    target.initialize(
      type(ofLevel: level), level: level, commit: target.commit, pageSize: scratch.pageSize)
    let keys = target.base + keysStart
    keys.copyMemory(
      from: source.base + keysStart + slots.lowerBound * keyByteCount,
      byteCount: slots.count * keyByteCount)
    let seconds = keys + slots.count * keyByteCount
    if level > 0 {
      let children = source.base + keysStart + source.count * keyByteCount
      seconds.copyMemory(
        from: children + slots.lowerBound * childByteCount, byteCount: slots.count * childByteCount)
    } else {
      var start = scratch.pageSize
      for (index, slot) in slots.enumerated() {
        let payload = payload(at: slot, in: source)
        start -= payload.count
        UnsafeMutableRawBufferPointer(start: target.base + start, count: payload.count)
          .copyMemory(from: payload)
        seconds.setU16(start, at: index * offsetByteCount)
      }
      target.cellStart = start
    }
    target.count = slots.count
    target.freeBytes = contiguousFreeBytes(of: target.page)
  }
}
