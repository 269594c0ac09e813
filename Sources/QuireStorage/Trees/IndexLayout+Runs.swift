// Entries without a value that go into one leaf together.

/// Keys in ascending order, each with the slot of a leaf that it goes before.
struct KeyRun {
  let keys: UnsafeBufferPointer<UnsafeRawBufferPointer>
  let slots: UnsafeMutablePointer<UInt16>
  var count: Int

  /// The payload of an entry without a value, in constant memory.
  let payload: UnsafeRawBufferPointer
}

extension IndexLayout {
  /// Whether a leaf takes a run as it is: all keys begin with its prefix, and between offsets and
  /// cells is room for all.
  static func hasRoom(for run: KeyRun, in leaf: Page) -> Bool {
    guard leaf.count > 1 else { return false }
    let prefix = prefixByteCount(of: leaf)
    // Keys between two that begin with the prefix begin with it, too.
    guard beginsWithPrefix(of: leaf, prefix, run.keys[0]),
      beginsWithPrefix(of: leaf, prefix, run.keys[run.count &- 1])
    else { return false }
    let free = contiguousFreeBytes(of: leaf)
    var needed = 0
    for index in 0..<run.count {
      needed &+= byteCount(
        suffix: run.keys[index].count &- prefix, payload: run.payload.count)
      if needed > free { return false }
    }
    return true
  }

  /// Inserts a run into a leaf that has room for it: what lies between two slots of new entries
  /// moves once.
  static func insert(_ run: KeyRun, in node: MutablePage) {
    let page = node.page
    let count = page.count
    let prefix = prefixByteCount(of: page)
    let heads = node.base + headsStart(prefix: prefix)
    let oldOffsets = heads + count &* headByteCount
    let offsets = oldOffsets + run.count &* headByteCount
    var freeBytes = page.freeBytes
    var start = page.cellStart

    // From the last on, as all move up: first the offsets, whose old bytes heads will take.
    var end = count
    for index in stride(from: run.count &- 1, through: 0, by: -1) {
      let slot = Int(run.slots[index])
      (offsets + (slot &+ index &+ 1) &* offsetByteCount).copyMemory(
        from: oldOffsets + slot &* offsetByteCount, byteCount: (end &- slot) &* offsetByteCount)
      end = slot
    }
    offsets.copyMemory(from: oldOffsets, byteCount: end &* offsetByteCount)
    end = count
    for index in stride(from: run.count &- 1, through: 0, by: -1) {
      let slot = Int(run.slots[index])
      (heads + (slot &+ index &+ 1) &* headByteCount).copyMemory(
        from: heads + slot &* headByteCount, byteCount: (end &- slot) &* headByteCount)
      end = slot
    }

    for index in 0..<run.count {
      let key = run.keys[index]
      let suffixByteCount = key.count &- prefix
      let needed = byteCount(suffix: suffixByteCount, payload: run.payload.count)
      start &-= needed &- headByteCount &- offsetByteCount
      freeBytes &-= needed
      let slot = Int(run.slots[index]) &+ index
      let suffix = key.baseAddress.map { $0 + prefix } ?? UnsafeRawPointer(node.base)
      (heads + slot &* headByteCount).setU32(KeyBytes.head(suffix, count: suffixByteCount), at: 0)
      (offsets + slot &* offsetByteCount).setU16(start, at: 0)
      IndexCell.write(
        suffix: suffixByteCount, rest: suffix + headByteCount, payload: run.payload,
        to: node.base + start)
    }
    node.cellStart = start
    node.freeBytes = freeBytes
    node.count = count &+ run.count
  }
}
