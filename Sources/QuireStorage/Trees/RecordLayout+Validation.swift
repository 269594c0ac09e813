// The checks of a record tree's node before its numbers are trusted.
extension RecordLayout {
  /// Why the offsets and lengths of a node from disk cannot be trusted; `nil` when they can.
  static func defect(of node: Page, geometry: PageGeometry) -> String? {
    let count = node.count
    let level = node.level
    guard count > 0 else { return defect(ofEmpty: node, geometry) }
    // The width's byte and seven zeros.
    guard node.base.u64(at: widthOffset) < UInt64(RecordKeyWidth.codeCount) else {
      return "its keys have no width"
    }
    let slotsEnd = keysStart + count * slotByteCount(level: level, width(of: node))
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.contentEnd else {
      return "\(count) entries do not fit before the cells at \(node.cellStart)"
    }
    var free = geometry.contentEnd - slotsEnd
    // Mostly values are stacked from the end of the page, in the order of insertion.
    var lowestStart = geometry.contentEnd
    var isStacked = true
    if level == 0 {
      for slot in 0..<count {
        let start = offset(at: slot, in: node)
        guard start >= node.cellStart,
          let byteCount = ValuePayload.validByteCount(
            at: node.base + start, room: geometry.contentEnd - start, geometry)
        else { return "the value of entry \(slot) lies outside the page" }
        free -= byteCount
        if start + byteCount > lowestStart { isStacked = false }
        lowestStart = start
      }
    }
    guard free == node.freeBytes else {
      return "\(node.freeBytes) bytes are said to be free, \(free) are"
    }
    if !isStacked, hasOverlap(node, geometry) { return "two values lie in the same bytes" }
    return defectOfKeys(in: node)
  }

  private static func defect(ofEmpty node: Page, _ geometry: PageGeometry) -> String? {
    if node.level > 0 { return "an inner node has no child" }
    guard node.cellStart == geometry.contentEnd, node.freeBytes == geometry.capacity,
      width(of: node) == .narrowest
    else { return "it has no entries and is not empty" }
    return nil
  }

  private static func defectOfKeys(in node: Page) -> String? {
    let lowest = lowestSlot(of: node)
    let count = node.count
    if lowest == 1, difference(at: 0, in: node) != 0 {
      return "the first entry of an inner node has a key"
    }
    guard lowest < count else { return nil }
    for slot in stride(from: lowest + 1, to: count, by: 1)
    where difference(at: slot - 1, in: node) >= difference(at: slot, in: node) {
      return "the keys of entries \(slot - 1) and \(slot) are out of order"
    }
    let room = UInt64(bitPattern: Int64.max &- baseKey(of: node))
    guard difference(at: count - 1, in: node) <= room else {
      return "the key of entry \(count - 1) is above all numbers"
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
