extension RecordLayout {
  static func separator(between left: Int64, and right: Int64) -> Int64 { right }

  static func copy(_ key: Int64, to room: UnsafeMutableRawPointer) -> Int64 { key }

  static func clearFirstKey(in node: MutablePage) {
    setDifference(0, at: 0, width(of: node.page), in: node)
  }

  static func insert(
    _ key: Int64, _ payload: UnsafeRawBufferPointer, at slot: Int, in node: MutablePage,
    _ scratch: NodeScratch
  ) -> Bool {
    let count = node.page.count
    let level = node.page.level
    let isLeaf = level == 0
    let scale = scale(of: node.page, adding: key, at: slot)
    let second = isLeaf ? offsetByteCount : childByteCount
    let slotsGrowth =
      (count == 0
        ? fieldByteCount : count &* (scale.width.byteCount &- width(of: node.page).byteCount))
      &+ scale.width.byteCount &+ second
    let cellByteCount = isLeaf ? payload.count : 0
    guard slotsGrowth &+ cellByteCount <= node.page.freeBytes else { return false }

    let start = placeCell(of: cellByteCount, besides: slotsGrowth, in: node, scratch)
    if count == 0 {
      node.freeBytes -= fieldByteCount
      setScale(scale, of: node)
    } else if scale != self.scale(of: node.page) {
      rescale(node, to: scale)
    }
    openSlot(slot, second, scale.width, in: node)
    let isKey = isLeaf || slot > 0
    setDifference(
      isKey ? UInt64(bitPattern: key &- scale.base) : 0, at: slot, scale.width, in: node)
    node.count = count &+ 1
    let target = node.base + secondsStart(of: node.page) + slot &* second
    if isLeaf {
      (node.base + start).copyMemory(
        from: payload.baseAddress.unsafelyUnwrapped, byteCount: payload.count)
      target.setU16(start, at: 0)
    } else {
      target.copyMemory(
        from: payload.baseAddress.unsafelyUnwrapped, byteCount: childByteCount)
    }
    node.freeBytes -= scale.width.byteCount &+ second &+ cellByteCount
    return true
  }

  /// Makes room for an entry's difference and its offset or child.
  private static func openSlot(
    _ slot: Int, _ second: Int, _ width: RecordKeyWidth, in node: MutablePage
  ) {
    let count = node.page.count
    let seconds = node.base + keysStart + count &<< width.shift
    // The second array moves up by one key; after the new slot also by one of its own elements.
    let secondSlot = seconds + slot &* second
    (secondSlot + width.byteCount + second).copyMemory(
      from: secondSlot, byteCount: (count &- slot) &* second)
    (seconds + width.byteCount).copyMemory(from: seconds, byteCount: slot &* second)
    let keySlot = node.base + keysStart + slot &<< width.shift
    (keySlot + width.byteCount).copyMemory(
      from: keySlot, byteCount: (count &- slot) &<< width.shift)
  }

  /// Finds room for a payload, in one of the holes if need be, or closes them; the lowest cell
  /// is then at or below it. There are enough free bytes.
  private static func placeCell(
    of byteCount: Int, besides slotsGrowth: Int, in node: MutablePage, _ scratch: NodeScratch
  ) -> Int {
    // An empty node's slots begin after a base that it does not have yet.
    let contiguous =
      contiguousFreeBytes(of: node.page) &+ (node.page.count == 0 ? fieldByteCount : 0)
    if contiguous < slotsGrowth &+ byteCount {
      if contiguous >= slotsGrowth, byteCount > 0,
        let hole = hole(of: byteCount, in: node.page, scratch)
      {
        return hole
      }
      closeHoles(in: node, scratch)
    }
    let start = node.page.cellStart &- byteCount
    node.cellStart = start
    return start
  }

  private static func hole(of byteCount: Int, in node: Page, _ scratch: NodeScratch) -> Int? {
    CellMap.hole(
      of: byteCount, from: node.cellStart, contentEnd: scratch.geometry.contentEnd,
      count: node.count
    ) { slot in
      let start = offset(at: slot, in: node)
      return Range(
        uncheckedBounds: (start, start &+ payload(at: slot, in: node).count))
    }
  }

  static func remove(at slot: Int, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let isLeaf = page.level == 0
    let width = width(of: page)
    let second = isLeaf ? offsetByteCount : childByteCount
    let freed = byteCount(at: slot, in: page)
    if count == 1 { return empty(node, freed) }
    if isLeaf {
      let start = offset(at: slot, in: page)
      // The lowest cell gives its bytes back at once; others leave a hole for a later one.
      if start == page.cellStart { node.cellStart = start + payload(at: slot, in: page).count }
    }
    let seconds = node.base + secondsStart(of: page)
    let keySlot = node.base + keysStart + slot << width.shift
    keySlot.copyMemory(
      from: keySlot + width.byteCount, byteCount: (count - slot - 1) << width.shift)
    (seconds - width.byteCount).copyMemory(from: seconds, byteCount: slot * second)
    let secondSlot = seconds + slot * second
    (secondSlot - width.byteCount).copyMemory(
      from: secondSlot + second, byteCount: (count - slot - 1) * second)
    node.freeBytes += freed
    node.count = count - 1
  }

  /// Resets a node from which the last entries are removed to its initial state.
  private static func empty(_ node: MutablePage, _ freed: Int) {
    let freeBytes = node.freeBytes + freed + fieldByteCount
    setScale(Scale(base: 0, width: .narrowest), of: node)
    node.freeBytes = freeBytes
    node.cellStart = PageHeader.byteCount + freeBytes
    node.count = 0
  }

  static func remove(_ slots: UnsafePointer<UInt16>, _ removedCount: Int, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let width = width(of: page)
    let seconds = UnsafeRawPointer(node.base + secondsStart(of: page))
    var freed = removedCount &* slotByteCount(level: 0, width)
    var cellStart = page.cellStart
    for index in stride(from: removedCount &- 1, through: 0, by: -1) {
      let start = seconds.u16(at: Int(slots[index]) &* offsetByteCount)
      let byteCount = ValuePayload.byteCount(at: page.base + start)
      freed &+= byteCount
      if start == cellStart { cellStart = start &+ byteCount }
    }
    if removedCount == count { return empty(node, freed) }
    let keys = node.base + keysStart
    let left = count &- removedCount
    close(keys, count, width.byteCount, without: slots, removedCount, to: keys)
    close(
      seconds, count, offsetByteCount, without: slots, removedCount, to: keys + left &<< width.shift
    )
    node.cellStart = cellStart
    node.freeBytes += freed
    node.count = left
  }

  // MARK: Base and width

  /// The parameters with which the keys of a node are stored.
  struct Scale: Equatable {
    var base: Int64
    var width: RecordKeyWidth

    init(base: Int64, width: RecordKeyWidth) {
      self.base = base
      self.width = width
    }

    /// The narrowest for keys between two.
    init(from first: Int64, to last: Int64) {
      base = first
      width = RecordKeyWidth(for: UInt64(bitPattern: last &- first))
    }
  }

  static func scale(of node: Page) -> Scale {
    Scale(base: baseKey(of: node), width: width(of: node))
  }

  /// The scale of a node with another key: the present one if the key allows it, otherwise the
  /// narrowest.
  static func scale(of node: Page, adding key: Int64, at slot: Int) -> Scale {
    let scale = scale(of: node)
    let lowest = lowestSlot(of: node)
    let count = node.count
    if slot < lowest { return Scale(base: 0, width: .narrowest) }
    if count <= lowest { return Scale(from: key, to: key) }
    if key >= scale.base, UInt64(bitPattern: key &- scale.base) <= scale.width.mask { return scale }
    return Scale(
      from: slot == lowest ? key : self.key(at: lowest, in: node),
      to: slot == count ? key : self.key(at: count &- 1, in: node))
  }

  static func setScale(_ scale: Scale, of node: MutablePage) {
    node.base.setI64(scale.base, at: baseOffset)
    node.base.storeBytes(of: scale.width.code, toByteOffset: widthOffset, as: UInt8.self)
  }

  static func setDifference(
    _ difference: UInt64, at slot: Int, _ width: RecordKeyWidth, in node: MutablePage
  ) {
    let target = node.base + keysStart + slot &<< width.shift
    switch width.shift {
    case 1: target.setU16(Int(truncatingIfNeeded: difference), at: 0)
    case 2: target.setU32(UInt32(truncatingIfNeeded: difference), at: 0)
    default: target.setU64(difference, at: 0)
    }
  }

  /// Writes a node's keys anew, with another base or width; between slots and cells is the room.
  private static func rescale(_ node: MutablePage, to scale: Scale) {
    let page = node.page
    let count = page.count
    let old = self.scale(of: page)
    let lowest = lowestSlot(of: page)
    let second = lowest == 0 ? offsetByteCount : childByteCount
    let seconds = node.base + secondsStart(of: page)
    let growth = count * (scale.width.byteCount - old.width.byteCount)
    // Wider keys are written from the last on, so that none is written over before it is read.
    if growth > 0 { (seconds + growth).copyMemory(from: seconds, byteCount: count * second) }
    for index in 0..<count {
      let slot = growth > 0 ? count - 1 - index : index
      let source = node.page.base.u64(at: keysStart + slot << old.width.shift) & old.width.mask
      let key = old.base &+ Int64(bitPattern: source)
      setDifference(
        slot < lowest ? 0 : UInt64(bitPattern: key &- scale.base), at: slot, scale.width, in: node)
    }
    if growth < 0 { (seconds + growth).copyMemory(from: seconds, byteCount: count * second) }
    setScale(scale, of: node)
    node.freeBytes -= growth
  }
}
