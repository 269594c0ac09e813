// When a node's prefix changes: a node with one key takes what that key and the next share, for
// better or worse; a key that arrives and does not begin with the prefix shortens it to what it has
// of it. Such a key can only be the new first or last one. Most nodes are there after a few
// entries. Splitting, merging and closing holes fill a node anew and take the longest prefix.
//
// A shorter prefix makes all entries longer. If they no longer fit, the node is split, which always
// works (`split`).

extension IndexLayout {
  static func copy(
    _ key: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: room, count: key.count).copyMemory(from: key)
    return UnsafeRawBufferPointer(start: room, count: key.count)
  }

  /// The prefix of `right` up to the first byte in which it differs from `left`.
  static func separator(
    between left: UnsafeRawBufferPointer, and right: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let common = KeyBytes.commonByteCount(left, right)
    return UnsafeRawBufferPointer(rebasing: right[..<min(common + 1, right.count)])
  }

  static func insert(
    _ key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer, at slot: Int,
    in node: MutablePage, _ scratch: NodeScratch
  ) -> Bool {
    let page = node.page
    let count = page.count
    if count == 0 {
      fillEmpty(node, with: key, payload)
      return true
    }
    let prefix = prefixByteCount(of: page)
    let keyCount = page.level == 0 ? count : count &- 1
    guard keyCount > 1, beginsWithPrefix(of: page, prefix, key) else {
      return refill(node, adding: key, payload, at: slot, scratch)
    }
    let suffixByteCount = key.count &- prefix
    let needed = byteCount(suffix: suffixByteCount, payload: payload.count)
    let cellByteCount = needed &- headByteCount &- offsetByteCount
    var start = page.cellStart &- cellByteCount
    if needed > contiguousFreeBytes(of: page) {
      guard let hole = hole(of: cellByteCount, in: page, scratch) else {
        return refill(node, adding: key, payload, at: slot, scratch)
      }
      start = hole
    }

    let heads = node.base + headsStart(prefix: prefix)
    let offsets = heads + count &* headByteCount
    // The offsets move up by one head; those after the new one also by one of their own.
    let offset = offsets + slot &* offsetByteCount
    let head = heads + slot &* headByteCount
    if slot < count {
      (offset + (headByteCount &+ offsetByteCount)).copyMemory(
        from: offset, byteCount: (count &- slot) &* offsetByteCount)
    }
    (offsets + headByteCount).copyMemory(from: offsets, byteCount: slot &* offsetByteCount)
    (offset + headByteCount).setU16(start, at: 0)
    if slot < count {
      (head + headByteCount).copyMemory(from: head, byteCount: (count &- slot) &* headByteCount)
    }
    if let keyStart = key.baseAddress {
      let suffix = keyStart + prefix
      head.setU32(KeyBytes.head(suffix, count: suffixByteCount), at: 0)
      IndexCell.write(
        suffix: suffixByteCount, rest: suffix + headByteCount, payload: payload,
        to: node.base + start)
    } else {
      head.setU32(0, at: 0)
      IndexCell.write(suffix: 0, rest: node.base, payload: payload, to: node.base + start)
    }
    if start < page.cellStart { node.cellStart = start }
    node.freeBytes = page.freeBytes &- needed
    node.count = count &+ 1
    return true
  }

  /// The offset of a hole among the cells for a new one, if before them there is room enough for
  /// its head and its offset.
  private static func hole(
    of cellByteCount: Int, in node: Page, _ scratch: NodeScratch
  ) -> Int? {
    let contiguous = contiguousFreeBytes(of: node)
    guard contiguous >= headByteCount &+ offsetByteCount,
      node.freeBytes &- contiguous >= cellByteCount
    else { return nil }
    return CellMap.hole(
      of: cellByteCount, from: node.cellStart, contentEnd: scratch.geometry.contentEnd,
      count: node.count
    ) { slot in
      let cell = cell(at: slot, in: node)
      let payload = cell.payloadStart - node.base
      let byteCount =
        node.level == 0 ? ValuePayload.byteCount(at: cell.payloadStart) : childByteCount
      return Range(uncheckedBounds: (cell.start - node.base, payload &+ byteCount))
    }
  }

  static func beginsWithPrefix(
    of node: Page, _ prefix: Int, _ key: UnsafeRawBufferPointer
  ) -> Bool {
    if prefix == 0 { return true }
    guard key.count >= prefix, let start = key.baseAddress else { return false }
    if prefix <= 8, key.count >= 8 {
      let difference = start.u64(at: 0) ^ node.base.u64(at: prefixStart)
      return difference &<< UInt64(64 &- 8 &* prefix) == 0
    }
    return KeyBytes.commonByteCount(start, node.base + prefixStart, count: prefix) == prefix
  }

  /// The first entry of a node: all of its key is suffix, as one key shares nothing.
  private static func fillEmpty(
    _ node: MutablePage, with key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer
  ) {
    let suffixByteCount = node.page.level == 0 ? key.count : 0
    let needed = byteCount(suffix: suffixByteCount, payload: payload.count)
    let start = node.cellStart - (needed - headByteCount - offsetByteCount)
    let heads = node.base + headsStart(prefix: 0)
    node.base.setU16(0, at: prefixLengthOffset)
    let keyStart = key.baseAddress ?? UnsafeRawPointer(node.base)
    heads.setU32(KeyBytes.head(keyStart, count: suffixByteCount), at: 0)
    heads.setU16(start, at: headByteCount)
    IndexCell.write(
      suffix: suffixByteCount, rest: keyStart + headByteCount, payload: payload,
      to: node.base + start)
    node.cellStart = start
    node.freeBytes -= prefixFieldByteCount(0) + needed
    node.count = 1
  }

  static func remove(at slot: Int, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let prefix = prefixByteCount(of: page)
    let freed = byteCount(at: slot, in: page)
    if count == 1 { return empty(node, freed) }
    let heads = node.base + headsStart(prefix: prefix)
    let offsets = heads + count * headByteCount
    let offset = offsets + slot * offsetByteCount
    let start = UnsafeRawPointer(offset).u16(at: 0)
    // The lowest cell gives its bytes back at once; others leave a hole for the next filling.
    if start == page.cellStart {
      node.cellStart = start + freed - headByteCount - offsetByteCount
    }
    let head = heads + slot * headByteCount
    head.copyMemory(from: head + headByteCount, byteCount: (count - slot - 1) * headByteCount)
    (offsets - headByteCount).copyMemory(from: offsets, byteCount: slot * offsetByteCount)
    (offset - headByteCount).copyMemory(
      from: offset + offsetByteCount, byteCount: (count - slot - 1) * offsetByteCount)
    node.freeBytes += freed
    node.count = count - 1
  }

  /// Resets a node from which the last entries are removed to its initial state.
  private static func empty(_ node: MutablePage, _ freed: Int) {
    let prefix = prefixByteCount(of: node.page)
    let freeBytes = node.freeBytes + freed + prefixFieldByteCount(prefix)
    node.base.setU16(0, at: prefixLengthOffset)
    node.freeBytes = freeBytes
    node.cellStart = PageHeader.byteCount + freeBytes
    node.count = 0
  }

  static func remove(_ slots: UnsafePointer<UInt16>, _ removedCount: Int, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let heads = node.base + headsStart(prefix: prefixByteCount(of: page))
    let offsets = UnsafeRawPointer(heads + count &* headByteCount)
    var freed = removedCount &* (headByteCount &+ offsetByteCount)
    var cellStart = page.cellStart
    for index in stride(from: removedCount &- 1, through: 0, by: -1) {
      let start = offsets.u16(at: Int(slots[index]) &* offsetByteCount)
      let payload = IndexCell(page.base + start).payloadStart
      let byteCount = payload - (page.base + start) &+ ValuePayload.byteCount(at: payload)
      freed &+= byteCount
      if start == cellStart { cellStart = start &+ byteCount }
    }
    if removedCount == count { return empty(node, freed) }
    let left = count &- removedCount
    close(heads, count, headByteCount, without: slots, removedCount, to: heads)
    close(
      offsets, count, offsetByteCount, without: slots, removedCount,
      to: heads + left &* headByteCount)
    node.cellStart = cellStart
    node.freeBytes += freed
    node.count = left
  }

  static func clearFirstKey(in node: MutablePage) {
    let page = node.page
    let old = cell(at: 0, in: page)
    guard old.suffixByteCount > 0 else { return }
    // The cell stays where it is with no key; what is left of it is a hole.
    let child = child(at: 0, in: page)
    let freed =
      IndexCell.byteCount(suffix: old.suffixByteCount, payload: childByteCount)
      - IndexCell.byteCount(suffix: 0, payload: childByteCount)
    let cell = UnsafeMutableRawPointer(mutating: old.start)
    cell.storeBytes(of: 0, as: UInt8.self)
    cell.setU32(child.rawValue, at: 1)
    (node.base + headsStart(prefix: prefixByteCount(of: page))).setU32(0, at: 0)
    node.freeBytes += freed
  }
}
