// A window: up to three leaves beside each other, under one parent, that are filled anew with what
// they have and with keys of a run, in as many leaves or in one more.
//
// Everything is planned on copies: the entries by their bytes, the bounds in a copy of the parent.
// Where anything does not fit, the copies are forgotten, and the tree is as it was.

/// Leaves beside each other, and what is to lie in them.
struct RunWindow {
  private typealias Layout = IndexLayout

  /// An entry of one of the leaves, or a key of the run.
  private struct Entry {
    /// The leaf in which it lies, or in which a new one would.
    var leaf: UInt8
    var isNew: Bool
    /// The slot of the leaf, or the place in the run.
    var place: UInt16
    var keyByteCount: UInt16
    var payloadByteCount: UInt16
  }

  /// The most leaves there are before.
  static let leafLimit = 3
  /// How full leaves are at most when they are as many as before: else the next keys would have
  /// them filled anew again.
  private static let fullPercentage = 94

  /// The leaves as they were, side by side.
  let leaves: [Page]
  /// Their bounds from above; the last may have none.
  let bounds: [UnsafeRawBufferPointer?]
  let run: KeyRun
  let scratch: NodeScratch
  private let entries: UnsafeMutablePointer<Entry>
  private var count = 0
  private(set) var newCount = 0
  private var byteCount = 0
  /// Where leaf after leaf ends, and its prefix.
  private(set) var parts: [(end: Int, prefix: Int)] = []

  /// What the entries of a window take in memory at most.
  static func entryRoom(_ geometry: PageGeometry, runCount: Int) -> Int {
    let smallest = Layout.byteCount(suffix: 0, payload: 0)
    return (leafLimit * (geometry.capacity / smallest + 1) + runCount) * MemoryLayout<Entry>.stride
  }

  private var capacity: Int { scratch.pageSize - PageHeader.byteCount }

  /// - Parameters:
  ///   - room: for ``entryRoom(_:runCount:)``.
  init(
    _ leaves: [Page], bounds: [UnsafeRawBufferPointer?], _ run: KeyRun,
    room: UnsafeMutableRawPointer, roomByteCount: Int, _ scratch: NodeScratch
  ) {
    self.leaves = leaves
    self.bounds = bounds
    self.run = run
    self.scratch = scratch
    entries = room.bindMemory(
      to: Entry.self, capacity: roomByteCount / MemoryLayout<Entry>.stride)
  }

  /// Whether each leaf lies between its bounds, as they do but in a damaged file.
  var isInOrder: Bool {
    for (index, leaf) in leaves.enumerated() {
      guard leaf.count > 0 else { return false }
      if let bound = bounds[index] {
        let last = Layout.key(at: leaf.count - 1, in: leaf, room: scratch.firstKey)
        guard Layout.isAscending(last, bound) else { return false }
      }
      if index > 0, let bound = bounds[index - 1] {
        let first = Layout.key(at: 0, in: leaf, room: scratch.firstKey)
        guard !Layout.isAscending(first, bound) else { return false }
      }
    }
    return true
  }

  /// Takes the entries of all leaves and as many keys of the run as one leaf more has room for.
  mutating func gather() {
    for leaf in leaves { byteCount += capacity - leaf.freeBytes }
    let limit = (leaves.count + 1) * capacity * RunWindow.fullPercentage / 100
    var isOpen = true
    for (index, leaf) in leaves.enumerated() {
      let prefix = Layout.prefixByteCount(of: leaf)
      var slot = 0
      while isOpen, newCount < run.count {
        let key = run.keys[newCount]
        if let bound = bounds[index], !Layout.isAscending(key, bound) { break }
        let needed = Layout.byteCount(
          suffix: max(0, key.count - prefix), payload: run.payload.count)
        let (place, isThere) = Layout.search(key, from: slot, in: leaf)
        if isThere || byteCount + needed > limit {
          isOpen = false
          break
        }
        add(slot..<place, of: leaf, index, prefix)
        slot = place
        entries[count] = Entry(
          leaf: UInt8(truncatingIfNeeded: index), isNew: true,
          place: UInt16(truncatingIfNeeded: newCount),
          keyByteCount: UInt16(truncatingIfNeeded: key.count),
          payloadByteCount: UInt16(truncatingIfNeeded: run.payload.count))
        count += 1
        newCount += 1
        byteCount += needed
      }
      add(slot..<leaf.count, of: leaf, index, prefix)
    }
  }

  private mutating func add(_ slots: Range<Int>, of leaf: Page, _ index: Int, _ prefix: Int) {
    for slot in slots {
      let cell = Layout.cell(at: slot, in: leaf)
      entries[count] = Entry(
        leaf: UInt8(truncatingIfNeeded: index), isNew: false,
        place: UInt16(truncatingIfNeeded: slot),
        keyByteCount: UInt16(truncatingIfNeeded: prefix &+ cell.suffixByteCount),
        payloadByteCount: UInt16(
          truncatingIfNeeded: ValuePayload.byteCount(at: cell.payloadStart)))
      count &+= 1
    }
  }

  /// Divides the entries among as many leaves as there were, or one more.
  ///
  /// - Returns: `false` if they do not fit either way.
  mutating func divide(allowsMore: Bool) -> Bool {
    let isRoomy = byteCount <= leaves.count * capacity * RunWindow.fullPercentage / 100
    if isRoomy, divide(by: leaves.count) { return true }
    return allowsMore && divide(by: leaves.count + 1)
  }

  private mutating func divide(by partCount: Int) -> Bool {
    parts.removeAll(keepingCapacity: true)
    guard count >= partCount else { return false }
    // Under the prefixes that they have: what it is in the end is looked at part by part.
    let total = (0..<count).reduce(0) { $0 + estimate(entries[$1]) }
    var (start, sum) = (0, 0)
    for part in 1...partCount {
      let target = total * part / partCount
      var end = start
      repeat {
        sum += estimate(entries[end])
        end += 1
      } while end < count - (partCount - part) && (part == partCount || sum < target)
      guard let prefix = fittingPrefix(start..<end) else { return false }
      parts.append((end, prefix))
      start = end
    }
    return start == count
  }

  private func estimate(_ entry: Entry) -> Int {
    let prefix = Layout.prefixByteCount(of: leaves[Int(entry.leaf)])
    return Layout.byteCount(
      suffix: max(0, Int(entry.keyByteCount) &- prefix), payload: Int(entry.payloadByteCount))
  }

  private func fittingPrefix(_ range: Range<Int>) -> Int? {
    let common =
      range.count == 1
      ? 0
      : KeyBytes.commonByteCount(
        key(at: range.lowerBound, room: scratch.firstKey),
        key(at: range.upperBound - 1, room: scratch.secondKey))
    if byteCount(of: range, prefix: common) <= capacity { return common }
    // A longer prefix can take more room than it saves: short keys leave nothing to save.
    return byteCount(of: range, prefix: 0) <= capacity ? 0 : nil
  }

  private func byteCount(of range: Range<Int>, prefix: Int) -> Int {
    var total = Layout.prefixFieldByteCount(prefix)
    for index in range {
      let entry = entries[index]
      total &+= Layout.byteCount(
        suffix: Int(entry.keyByteCount) &- prefix, payload: Int(entry.payloadByteCount))
    }
    return total
  }

  private func key(at index: Int, room: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let entry = entries[index]
    if entry.isNew { return run.keys[Int(entry.place)] }
    return Layout.key(at: Int(entry.place), in: leaves[Int(entry.leaf)], room: room)
  }

  /// The bound between a part and the next one, in `room`.
  func bound(behind part: Int, room: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let end = parts[part].end
    let last = key(at: end - 1, room: scratch.firstKey)
    let first = key(at: end, room: scratch.secondKey)
    return Layout.copy(Layout.separator(between: last, and: first), to: room)
  }

  /// Makes a page the leaf of a part. None of the leaves may lie there.
  func fill(_ target: MutablePage, with part: Int) {
    let range = (part == 0 ? 0 : parts[part - 1].end)..<parts[part].end
    let prefix = parts[part].prefix
    var filling = IndexFilling(
      target, level: 0, commit: target.commit, prefix: prefix,
      of: key(at: range.lowerBound, room: scratch.secondKey), count: range.count,
      pageSize: scratch.pageSize)
    var source = UInt8.max
    for index in range {
      let entry = entries[index]
      if entry.isNew {
        filling.add(run.keys[Int(entry.place)], run.payload)
        continue
      }
      let leaf = leaves[Int(entry.leaf)]
      if entry.leaf != source {
        source = entry.leaf
        filling.prepare(toCopyFrom: leaf, scratch)
      }
      filling.add(entryAt: Int(entry.place), of: leaf, scratch)
    }
    filling.finish()
  }
}
