/// Entries of a leaf of a window (`RunWindow.swift`), or keys of the run, that follow one another.
struct RunStretch {
  /// The leaf in which they lie, or in which new ones would.
  var leaf: UInt8
  var isNew: Bool
  /// The first one's slot of the leaf, or its position in the run.
  var start: UInt16
  var count: Int32
  /// The number of their bytes with the leaf's prefix.
  var byteCount: Int32

  var positions: Range<Int> { Int(start)..<Int(start) + Int(count) }

  /// Removes leading entries until they have a number of bytes, at least one entry and at most a
  /// limit.
  mutating func takeFirst(
    of leaf: Page, _ run: KeyRun, until target: Int, limit: Int
  ) -> RunStretch {
    let prefix = IndexLayout.prefixByteCount(of: leaf)
    var (count, byteCount) = (0, 0)
    repeat {
      byteCount += self.byteCount(at: Int(start) + count, of: leaf, run, prefix, under: prefix)
      count += 1
    } while count < limit && count < self.count && byteCount < target
    var first = self
    first.count = Int32(truncatingIfNeeded: count)
    first.byteCount = Int32(truncatingIfNeeded: byteCount)
    start &+= UInt16(truncatingIfNeeded: count)
    self.count &-= first.count
    self.byteCount &-= first.byteCount
    return first
  }

  /// The number of bytes of the entries with another prefix than that of their leaf.
  func byteCount(under prefix: Int, of leaf: Page, _ run: KeyRun) -> Int {
    let old = IndexLayout.prefixByteCount(of: leaf)
    if old == prefix { return Int(byteCount) }
    var total = 0
    for position in positions {
      total &+= byteCount(at: position, of: leaf, run, old, under: prefix)
    }
    return total
  }

  private func byteCount(
    at position: Int, of leaf: Page, _ run: KeyRun, _ old: Int, under prefix: Int
  ) -> Int {
    if isNew {
      return IndexLayout.byteCount(
        suffix: max(0, run.keys[position].count &- prefix), payload: run.payload.count)
    }
    let cell = IndexLayout.cell(at: position, in: leaf)
    return IndexLayout.byteCount(
      suffix: cell.suffixByteCount &+ old &- prefix,
      payload: ValuePayload.byteCount(at: cell.payloadStart))
  }

  /// The key at a position, in `room` if it is no new one.
  func key(
    at position: Int, of leaf: Page, _ run: KeyRun, room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    isNew ? run.keys[position] : IndexLayout.key(at: position, in: leaf, room: room)
  }
}
