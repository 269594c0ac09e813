// Filling index nodes anew (`IndexLayout+Filling.swift`): what there is, and where it goes.

/// The entries of one node, and perhaps one more among them.
struct IndexEntries {
  let node: Page
  let key: UnsafeRawBufferPointer
  let payload: UnsafeRawBufferPointer
  /// The slot of the one more.
  let slot: Int
  let count: Int
  let prefix: Int

  init(
    _ node: Page, adding key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer,
    at slot: Int
  ) {
    self.node = node
    self.key = key
    self.payload = payload
    self.slot = slot
    count = node.count + 1
    prefix = IndexLayout.prefixByteCount(of: node)
  }

  func source(_ index: Int) -> Int { index < slot ? index : index &- 1 }

  /// The length of the key at `index`, which has one.
  func keyByteCount(at index: Int) -> Int {
    if index == slot { return key.count }
    return prefix &+ IndexLayout.cell(at: source(index), in: node).suffixByteCount
  }

  func payload(at index: Int) -> UnsafeRawBufferPointer {
    index == slot ? payload : IndexLayout.payload(at: source(index), in: node)
  }

  func key(at index: Int, room: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    index == slot ? key : IndexLayout.key(at: source(index), in: node, room: room)
  }

  /// The number of leading bytes that the keys of some entries share, for a node of these entries;
  /// the first entry of an inner node does not count.
  func commonPrefix(_ range: Range<Int>, _ scratch: NodeScratch) -> Int {
    let lowest = range.lowerBound + IndexLayout.lowestSlot(of: node)
    guard lowest + 1 < range.upperBound else { return 0 }
    return KeyBytes.commonByteCount(
      key(at: lowest, room: scratch.firstKey),
      key(at: range.upperBound - 1, room: scratch.secondKey))
  }

  /// The number of bytes of some entries in a node with a prefix.
  func byteCount(_ range: Range<Int>, prefix: Int) -> Int {
    var total = IndexLayout.prefixFieldByteCount(prefix)
    let lowest = range.lowerBound &+ IndexLayout.lowestSlot(of: node)
    for index in range {
      total &+= IndexLayout.byteCount(
        suffix: index < lowest ? 0 : keyByteCount(at: index) &- prefix,
        payload: payload(at: index).count)
    }
    return total
  }

  /// A prefix under which a node can hold some entries: the longest that they share if they fit,
  /// else the one the node has; `nil` when they do not fit.
  func fittingPrefix(_ range: Range<Int>, sharesPrefix: Bool, _ scratch: NodeScratch) -> Int? {
    let capacity = scratch.geometry.capacity
    let common = commonPrefix(range, scratch)
    if byteCount(range, prefix: common) <= capacity { return common }
    // A longer prefix can take more room than it saves: short keys leave nothing to save.
    guard common != prefix, sharesPrefix || !range.contains(slot) else { return nil }
    return byteCount(range, prefix: prefix) <= capacity ? prefix : nil
  }

  /// Makes `target` a node of some entries; it must not be this list's node.
  func fill(
    _ target: MutablePage, with range: Range<Int>, prefix: Int, _ scratch: NodeScratch
  ) {
    let lowest = range.lowerBound + IndexLayout.lowestSlot(of: node)
    let prefixKey =
      prefix == 0 ? IndexLayout.lowestKey : key(at: lowest, room: scratch.secondKey)
    var filling = IndexFilling(
      target, level: node.level, commit: target.commit, prefix: prefix, of: prefixKey,
      count: range.count, in: scratch.geometry)
    var next = range.lowerBound
    if next < lowest {
      filling.add(IndexLayout.lowestKey, payload(at: next))
      next += 1
    }
    if next <= slot, slot < range.upperBound {
      filling.add(entriesAt: next..<slot, of: node, scratch)
      filling.add(key, payload)
      next = slot + 1
    }
    // After the one more, all lie one slot before.
    let shift = slot < range.upperBound ? 1 : 0
    filling.add(entriesAt: next - shift..<range.upperBound - shift, of: node, scratch)
    filling.finish()
  }
}

/// A node being filled with a known number of entries in order.
struct IndexFilling {
  private let node: MutablePage
  private let prefix: Int
  private let count: Int
  private var head: UnsafeMutableRawPointer
  private var offset: UnsafeMutableRawPointer
  private var cellStart: Int

  /// - Parameter key: begins with the prefix; not in the node.
  init(
    _ node: MutablePage, level: Int, commit: CommitNumber, prefix: Int,
    of key: UnsafeRawBufferPointer, count: Int, in geometry: PageGeometry
  ) {
    self.node = node
    self.prefix = prefix
    self.count = count
    let headsStart = IndexLayout.headsStart(prefix: prefix)
    // Bytes that are not written below are zeroed at the end.
    node.initialize(
      IndexLayout.type(ofLevel: level), level: level, commit: commit, in: geometry,
      zeroing: headsStart)
    node.base.setU16(prefix, at: IndexLayout.prefixLengthOffset)
    if let start = key.baseAddress {
      (node.base + IndexLayout.prefixStart).copyMemory(from: start, byteCount: prefix)
    }
    head = node.base + headsStart
    offset = head + count * IndexLayout.headByteCount
    cellStart = geometry.contentEnd
  }

  /// Adds an entry whose key begins with the prefix, or an inner node's first, whose key is empty.
  mutating func add(_ key: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) {
    let suffixByteCount = max(0, key.count &- prefix)
    cellStart &-= IndexCell.byteCount(suffix: suffixByteCount, payload: payload.count)
    let suffix = key.baseAddress.map { $0 + prefix } ?? UnsafeRawPointer(node.base)
    head.setU32(KeyBytes.head(suffix, count: suffixByteCount), at: 0)
    offset.setU16(cellStart, at: 0)
    IndexCell.write(
      suffix: suffixByteCount, rest: suffix + IndexLayout.headByteCount, payload: payload,
      to: node.base + cellStart)
    head += IndexLayout.headByteCount
    offset += IndexLayout.offsetByteCount
  }

  /// Adds entries, with keys, of another node, which begin with the prefix too.
  mutating func add(entriesAt slots: Range<Int>, of source: Page, _ scratch: NodeScratch) {
    if slots.isEmpty { return }
    let sourcePrefix = IndexLayout.prefixByteCount(of: source)
    guard sourcePrefix == prefix else {
      scratch.firstKey.copyMemory(
        from: source.base + IndexLayout.prefixStart, byteCount: sourcePrefix)
      for slot in slots {
        let key = IndexLayout.completeKey(
          at: slot, in: source, after: sourcePrefix, room: scratch.firstKey)
        add(key, IndexLayout.payload(at: slot, in: source))
      }
      return
    }
    // The entries are the same here as there.
    let heads = source.base + IndexLayout.headsStart(prefix: prefix)
    let offsets = heads + source.count &* IndexLayout.headByteCount
    let isLeaf = source.level == 0
    let headsByteCount = slots.count &* IndexLayout.headByteCount
    head.copyMemory(
      from: heads + slots.lowerBound &* IndexLayout.headByteCount, byteCount: headsByteCount)
    head += headsByteCount
    var slot = slots.lowerBound
    var start = offsets.u16(at: slot &* IndexLayout.offsetByteCount)
    while slot < slots.upperBound {
      // Adjacent cells are mostly moved together.
      let end = IndexFilling.cellEnd(start, in: source, isLeaf)
      let distance = cellStart &- end
      var lowest = start
      while true {
        offset.setU16(start &+ distance, at: 0)
        offset += IndexLayout.offsetByteCount
        lowest = start
        slot &+= 1
        guard slot < slots.upperBound else { break }
        start = offsets.u16(at: slot &* IndexLayout.offsetByteCount)
        guard IndexFilling.cellEnd(start, in: source, isLeaf) == lowest else { break }
      }
      cellStart = lowest &+ distance
      (node.base + cellStart).copyMemory(from: source.base + lowest, byteCount: end &- lowest)
    }
  }

  /// The end of the cell that begins at an offset.
  private static func cellEnd(_ start: Int, in node: Page, _ isLeaf: Bool) -> Int {
    let payload = IndexCell(node.base + start).payloadStart
    return payload - node.base
      &+ (isLeaf ? ValuePayload.byteCount(at: payload) : IndexLayout.childByteCount)
  }

  func finish() {
    node.count = count
    node.cellStart = cellStart
    // No holes: what is free lies in one piece.
    let freeByteCount = cellStart - (offset - node.base)
    node.freeBytes = freeByteCount
    offset.initializeMemory(as: UInt8.self, repeating: 0, count: freeByteCount)
  }
}
