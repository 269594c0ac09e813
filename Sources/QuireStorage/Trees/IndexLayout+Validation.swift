extension IndexLayout {
  /// Why the offsets and lengths of a node from disk cannot be trusted; `nil` when they can.
  static func defect(of node: Page, geometry: PageGeometry) -> String? {
    let count = node.count
    let prefix = prefixByteCount(of: node)
    guard count > 0 else { return defect(ofEmpty: node, prefix, geometry) }
    guard prefix <= geometry.keyLimit else { return "its prefix is \(prefix) bytes long" }
    let slotsEnd =
      headsStart(prefix: prefix) + count * (headByteCount + offsetByteCount)
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.contentEnd else {
      return "\(count) entries do not fit before the cells at \(node.cellStart)"
    }
    return isSurelySound(node, prefix, geometry) ? nil : defect(ofEntriesIn: node, prefix, geometry)
  }

  /// Whether a node is sound that is as most are: with short keys, values in their cells, and the
  /// cells one below the other as they came. Costs a fraction of looking for what is wrong.
  ///
  /// - Parameter node: has entries, whose slots end before the cells.
  private static func isSurelySound(_ node: Page, _ prefix: Int, _ geometry: PageGeometry) -> Bool {
    let count = node.count
    let isLeaf = node.level == 0
    let cellStart = node.cellStart
    let heads = node.base + headsStart(prefix: prefix)
    let offsets = heads + count * headByteCount
    let longestSuffix = min(longLength - 1, geometry.keyLimit - prefix)
    var free = geometry.capacity - prefixFieldByteCount(prefix)
    var lowestStart = geometry.contentEnd
    var lastHead: UInt32 = 0
    let lowestSlot = lowestSlot(of: node)
    for slot in 0..<count {
      let start = offsets.u16(at: slot * offsetByteCount)
      guard start >= cellStart, start + 2 <= lowestStart else { return false }
      let suffix = Int(node.base.load(fromByteOffset: start, as: UInt8.self))
      guard suffix <= longestSuffix else { return false }
      let payloadStart = start + 1 + IndexCell.restByteCount(suffix: suffix)
      var end = payloadStart + childByteCount
      if isLeaf {
        guard payloadStart + 2 <= lowestStart else { return false }
        let payload = node.base + payloadStart
        guard ValuePayload.isShort(at: payload, geometry) else { return false }
        end = payloadStart + ValuePayload.byteCount(at: payload)
      }
      guard end <= lowestStart else { return false }
      lowestStart = start
      free -= headByteCount + offsetByteCount + end - start
      let head = heads.u32(at: slot * headByteCount)
      if suffix < headByteCount, head << UInt32(8 * suffix) != 0 { return false }
      if slot < lowestSlot, suffix > 0 { return false }
      if slot > lowestSlot, head <= lastHead, !isAscending(at: slot, in: node) { return false }
      lastHead = head
    }
    return free == node.freeBytes
  }

  private static func defect(
    ofEntriesIn node: Page, _ prefix: Int, _ geometry: PageGeometry
  ) -> String? {
    let count = node.count
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
    guard prefix == 0, node.cellStart == geometry.contentEnd, node.freeBytes == geometry.capacity
    else { return "it has no entries and is not empty" }
    return nil
  }

  private static func validCellByteCount(
    at slot: Int, in node: Page, _ geometry: PageGeometry
  ) -> Int? {
    let offsets = headsStart(prefix: prefixByteCount(of: node)) + node.count * headByteCount
    let start = node.base.u16(at: offsets + slot * offsetByteCount)
    // A length may have two bytes, and some payload follows it.
    guard start >= node.cellStart, start + 2 <= geometry.contentEnd else { return nil }
    let cell = IndexCell(node.base + start)
    let room = geometry.contentEnd - (cell.payloadStart - node.base)
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
    // Nothing of a head lies after its key: else equal keys could have different heads.
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
    // Only the bytes after the head are read, which are in one piece with where it would be.
    let suffix = UnsafeRawBufferPointer(
      start: other.rest - headByteCount, count: other.suffixByteCount)
    return compare(at: slot - 1, in: node, withSuffix: suffix) < 0
  }
}

/// The two ways of looking at an index node's bytes, for a test that they agree.
package enum IndexNodeProof {
  /// - Returns: `nil` for bytes that cannot be a node.
  package static func looks(at bytes: [UInt8]) -> (isSurelySound: Bool, isSound: Bool)? {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      let (node, geometry) = (Page(base), PageGeometry(pageSize: bytes.count))
      return IndexLayout.looks(at: node, geometry)
    }
  }
}

extension IndexLayout {
  fileprivate static func looks(
    at node: Page, _ geometry: PageGeometry
  ) -> (isSurelySound: Bool, isSound: Bool)? {
    let (count, prefix) = (node.count, prefixByteCount(of: node))
    guard node.isOfIndex, count > 0, prefix <= geometry.keyLimit else { return nil }
    let slotsEnd = headsStart(prefix: prefix) + count * (headByteCount + offsetByteCount)
    guard slotsEnd <= node.cellStart, node.cellStart <= geometry.contentEnd else { return nil }
    return (
      isSurelySound(node, prefix, geometry),
      defect(ofEntriesIn: node, prefix, geometry) == nil
    )
  }
}
