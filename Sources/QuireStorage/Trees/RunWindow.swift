// A window: up to three leaves beside each other, under one parent, that are filled anew with what
// they have and with keys of a run, in as many leaves or in one more.
//
// Everything is planned on copies: the entries by their bytes, the bounds in a copy of the parent.
// Where anything does not fit, the copies are forgotten, and the tree is as it was.

/// Leaves beside each other, and what is to lie in them.
struct RunWindow {
  private typealias Layout = IndexLayout

  /// The content of one leaf in the new division.
  struct Part {
    /// Its stretches among ``pieces``.
    var range: Range<Int>
    var count: Int
    var prefix: Int
  }

  /// The most leaves there are before.
  static let leafLimit = 3
  /// The maximum filling of leaves if their number does not change: if they were fuller, they would
  /// be filled again for the next keys.
  private static let fullPercentage = 94

  /// The old leaves, side by side.
  let leaves: [Page]
  /// Their bounds from above; the last may have none.
  let bounds: [UnsafeRawBufferPointer?]
  let run: KeyRun
  let scratch: NodeScratch
  private let stretches: UnsafeMutablePointer<RunStretch>
  private var stretchCount = 0
  /// The stretches, divided at the ends of parts.
  private let pieces: UnsafeMutablePointer<RunStretch>
  /// The number of entries, and of new ones among them.
  private var count = 0
  private(set) var newCount = 0
  /// The number of their bytes, with the leaves' prefixes.
  private var byteCount = 0
  private(set) var parts: [Part] = []

  /// The most stretches there are: around each new key, one after the last, and at each cut.
  private static func stretchLimit(runCount: Int) -> Int { 2 * runCount + 2 * (leafLimit + 1) }

  /// The number of bytes of memory for a window.
  static func roomByteCount(runCount: Int) -> Int {
    2 * stretchLimit(runCount: runCount) * MemoryLayout<RunStretch>.stride
  }

  private var capacity: Int { scratch.geometry.capacity }

  /// - Parameter room: for ``roomByteCount(runCount:)``.
  init(
    _ leaves: [Page], bounds: [UnsafeRawBufferPointer?], _ run: KeyRun,
    room: UnsafeMutableRawPointer, _ scratch: NodeScratch
  ) {
    self.leaves = leaves
    self.bounds = bounds
    self.run = run
    self.scratch = scratch
    let limit = RunWindow.stretchLimit(runCount: run.count)
    stretches = room.bindMemory(to: RunStretch.self, capacity: 2 * limit)
    pieces = stretches + limit
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

  // MARK: Planning

  /// Takes the entries of all leaves, and as many keys of the run as another leaf has room for.
  mutating func gather() {
    for leaf in leaves { byteCount += capacity - leaf.freeBytes }
    let limit = (leaves.count + 1) * capacity * RunWindow.fullPercentage / 100
    var isOpen = true
    for (index, leaf) in leaves.enumerated() {
      let prefix = Layout.prefixByteCount(of: leaf)
      // The bytes of the leaf's remaining entries need not be added up.
      var rest = capacity - leaf.freeBytes - Layout.prefixFieldByteCount(prefix)
      var slot = 0
      while isOpen, newCount < run.count {
        let key = run.keys[newCount]
        if let bound = bounds[index], !Layout.isAscending(key, bound) { break }
        let needed = Layout.byteCount(
          suffix: max(0, key.count - prefix), payload: run.payload.count)
        let (position, isThere) = Layout.search(key, from: slot, in: leaf)
        if isThere || byteCount + needed > limit {
          isOpen = false
          break
        }
        if position > slot {
          let passed = Layout.byteCount(of: slot..<position, inLeaf: leaf)
          add(index, isNew: false, slot, count: position - slot, byteCount: passed)
          rest -= passed
          slot = position
        }
        add(index, isNew: true, newCount, count: 1, byteCount: needed)
        newCount += 1
        byteCount += needed
      }
      if slot < leaf.count {
        add(index, isNew: false, slot, count: leaf.count - slot, byteCount: rest)
      }
    }
  }

  private mutating func add(
    _ leaf: Int, isNew: Bool, _ start: Int, count: Int, byteCount: Int
  ) {
    stretches[stretchCount] = RunStretch(
      leaf: UInt8(truncatingIfNeeded: leaf), isNew: isNew,
      start: UInt16(truncatingIfNeeded: start), count: Int32(truncatingIfNeeded: count),
      byteCount: Int32(truncatingIfNeeded: byteCount))
    stretchCount &+= 1
    self.count &+= count
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
    // With the present prefixes; the final ones are determined for each part.
    var total = 0
    for index in 0..<stretchCount { total += Int(stretches[index].byteCount) }
    var (index, pieceCount, sum, left) = (0, 0, 0, count)
    var rest = stretches[0]
    for part in 1...partCount {
      let target = total * part / partCount
      // Something must be left for each of the others.
      var open = left - (partCount - part)
      let first = pieceCount
      let before = left
      while open > 0, part == partCount || sum < target || pieceCount == first {
        let isWhole =
          Int(rest.count) <= open && (part == partCount || sum + Int(rest.byteCount) <= target)
        let piece =
          isWhole
          ? rest : rest.takeFirst(of: leaves[Int(rest.leaf)], run, until: target - sum, limit: open)
        pieces[pieceCount] = piece
        pieceCount += 1
        sum += Int(piece.byteCount)
        open -= Int(piece.count)
        left -= Int(piece.count)
        if isWhole || rest.count == 0 {
          index += 1
          if index < stretchCount { rest = stretches[index] }
        }
      }
      let range = first..<pieceCount
      guard let prefix = fittingPrefix(range) else { return false }
      parts.append(Part(range: range, count: before - left, prefix: prefix))
    }
    return left == 0
  }

  private func fittingPrefix(_ range: Range<Int>) -> Int? {
    let (first, last) = (pieces[range.lowerBound], pieces[range.upperBound - 1])
    let common =
      range.count == 1 && first.count == 1
      ? 0
      : KeyBytes.commonByteCount(
        firstKey(of: first, room: scratch.firstKey), lastKey(of: last, room: scratch.secondKey))
    if byteCount(of: range, prefix: common) <= capacity { return common }
    // A longer prefix can take more room than it saves: short keys leave nothing to save.
    return byteCount(of: range, prefix: 0) <= capacity ? 0 : nil
  }

  /// The number of bytes of a leaf of some pieces with a prefix.
  private func byteCount(of range: Range<Int>, prefix: Int) -> Int {
    var total = Layout.prefixFieldByteCount(prefix)
    for index in range {
      let piece = pieces[index]
      total &+= piece.byteCount(under: prefix, of: leaves[Int(piece.leaf)], run)
    }
    return total
  }

  private func firstKey(
    of stretch: RunStretch, room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    stretch.key(at: stretch.positions.lowerBound, of: leaves[Int(stretch.leaf)], run, room: room)
  }

  private func lastKey(
    of stretch: RunStretch, room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    stretch.key(
      at: stretch.positions.upperBound - 1, of: leaves[Int(stretch.leaf)], run, room: room)
  }

  // MARK: Filling

  /// The bound between a part and the next one, in `room`.
  func bound(after part: Int, room: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let end = parts[part].range.upperBound
    let last = lastKey(of: pieces[end - 1], room: scratch.firstKey)
    let first = firstKey(of: pieces[end], room: scratch.secondKey)
    return Layout.copy(Layout.separator(between: last, and: first), to: room)
  }

  /// Makes a page the leaf of a part. It must not be one of the leaves.
  func fill(_ target: MutablePage, with part: Int) {
    let part = parts[part]
    var filling = IndexFilling(
      target, level: 0, commit: target.commit, prefix: part.prefix,
      of: firstKey(of: pieces[part.range.lowerBound], room: scratch.secondKey),
      count: part.count, in: scratch.geometry)
    for index in part.range {
      let piece = pieces[index]
      if piece.isNew {
        for position in piece.positions { filling.add(run.keys[position], run.payload) }
      } else {
        filling.add(entriesAt: piece.positions, of: leaves[Int(piece.leaf)], scratch)
      }
    }
    filling.finish()
  }
}
