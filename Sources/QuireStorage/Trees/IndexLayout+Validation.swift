extension IndexLayout {
  static func defect(of node: Page, geometry: PageGeometry) -> String? {
    let count = node.count
    let prefix = prefixByteCount(of: node)
    guard count > 0 else { return defect(ofEmpty: node, prefix, geometry) }
    guard prefix <= geometry.keyLimit else { return "its prefix is \(prefix) bytes long" }
    let slotsEnd =
      headsStart(prefix: prefix) + count * (headByteCount + offsetByteCount)
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.pageSize else {
      return "\(count) entries do not fit before the cells at \(node.cellStart)"
    }
    var free = geometry.capacity - prefixFieldByteCount(prefix)
    for slot in 0..<count {
      guard let byteCount = validCellByteCount(at: slot, in: node, geometry) else {
        return "entry \(slot) lies outside the page"
      }
      free -= byteCount
      if let defect = defectOfHead(at: slot, in: node, prefix, geometry) { return defect }
    }
    guard free == node.freeBytes else {
      return "\(node.freeBytes) bytes are said to be free, \(free) are"
    }
    // All of a cell may be changed in place, so it must be in no other.
    let hasOverlap = CellMap.hasOverlap(pageSize: geometry.pageSize, count: count) { slot in
      let start = cell(at: slot, in: node).start - node.base
      return start..<(start + byteCount(at: slot, in: node) - headByteCount - offsetByteCount)
    }
    if hasOverlap { return "two entries lie in the same bytes" }
    for slot in stride(from: lowestSlot(of: node) + 1, to: count, by: 1)
    where !isAscending(at: slot, in: node) {
      return "the keys of entries \(slot - 1) and \(slot) are out of order"
    }
    return nil
  }

  private static func defect(
    ofEmpty node: Page, _ prefix: Int, _ geometry: PageGeometry
  ) -> String? {
    if node.level > 0 { return "an inner node has no child" }
    guard prefix == 0, node.cellStart == geometry.pageSize, node.freeBytes == geometry.capacity
    else { return "it has no entries and is not empty" }
    return nil
  }

  private static func validCellByteCount(
    at slot: Int, in node: Page, _ geometry: PageGeometry
  ) -> Int? {
    let offsets = headsStart(prefix: prefixByteCount(of: node)) + node.count * headByteCount
    let start = node.base.u16(at: offsets + slot * offsetByteCount)
    // A length may have two bytes, and some payload follows it.
    guard start >= node.cellStart, start + 2 <= geometry.pageSize else { return nil }
    let cell = IndexCell(node.base + start)
    let room = geometry.pageSize - (cell.payloadStart - node.base)
    guard cell.isLengthShortest, room > 0 else { return nil }
    let payloadByteCount: Int
    if node.level > 0 {
      guard childByteCount <= room else { return nil }
      payloadByteCount = childByteCount
    } else {
      guard
        let byteCount = ValuePayload.validByteCount(at: cell.payloadStart, room: room, geometry)
      else { return nil }
      payloadByteCount = byteCount
    }
    return byteCount(suffix: cell.suffixByteCount, payload: payloadByteCount)
  }

  private static func defectOfHead(
    at slot: Int, in node: Page, _ prefix: Int, _ geometry: PageGeometry
  ) -> String? {
    let suffixByteCount = cell(at: slot, in: node).suffixByteCount
    guard slot >= lowestSlot(of: node) else {
      return suffixByteCount == 0 && head(at: slot, in: node) == 0
        ? nil : "the first entry of an inner node has a key"
    }
    guard prefix + suffixByteCount <= geometry.keyLimit else {
      return "the key of entry \(slot) is \(prefix + suffixByteCount) bytes long"
    }
    // Nothing of a head lies behind its key: else equal keys could have different heads.
    let isPadded =
      suffixByteCount >= headByteCount
      || head(at: slot, in: node) << UInt32(8 * suffixByteCount) == 0
    return isPadded ? nil : "the head of entry \(slot) is longer than its key"
  }

  /// Whether the key at `slot` is above the one before it.
  private static func isAscending(at slot: Int, in node: Page) -> Bool {
    let left = head(at: slot - 1, in: node)
    let right = head(at: slot, in: node)
    if left != right { return left < right }
    let other = cell(at: slot, in: node)
    // Only what follows the head is looked at, which lies in one piece with where it would be.
    let suffix = UnsafeRawBufferPointer(
      start: other.rest - headByteCount, count: other.suffixByteCount)
    return compare(at: slot - 1, in: node, withSuffix: suffix) < 0
  }
}
