/// The bytes of a page that cells use.
enum CellMap {
  /// Whether two of some ranges in a page share a byte.
  static func hasOverlap(
    pageSize: Int, count: Int, _ range: (Int) -> Range<Int>
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: pageSize / 64) { words in
      words.initialize(repeating: 0)
      for slot in 0..<count where !mark(range(slot), in: words) { return true }
      return false
    }
  }

  /// The smallest hole between cells that has room for a new one.
  ///
  /// A new cell in a hole is all there is to log; closing holes moves most of a page.
  ///
  /// - Parameters:
  ///   - cellStart: where the lowest cell begins; what is below it is no hole.
  ///   - range: the bytes of each cell, no two of which overlap.
  static func hole(
    of byteCount: Int, from cellStart: Int, contentEnd: Int, count: Int,
    _ range: (Int) -> Range<Int>
  ) -> Int? {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: (contentEnd + 63) / 64) { words in
      words.initialize(repeating: 0)
      for slot in 0..<count { _ = mark(range(slot), in: words) }
      var best: (start: Int, byteCount: Int)?
      var start = firstBit(false, from: cellStart, in: words)
      while start + byteCount <= contentEnd {
        let end = min(firstBit(true, from: start, in: words), contentEnd)
        if end - start == byteCount { return start }
        if end - start > byteCount, end - start < best?.byteCount ?? .max {
          best = (start, end - start)
        }
        start = firstBit(false, from: end, in: words)
      }
      return best?.start
    }
  }

  /// Marks bytes as taken.
  ///
  /// - Returns: `false` if one of them was before.
  private static func mark(
    _ range: Range<Int>, in words: UnsafeMutableBufferPointer<UInt64>
  ) -> Bool {
    var start = range.lowerBound
    let end = range.upperBound
    while start < end {
      let part = min(end, (start | 63) &+ 1)
      let mask = (UInt64.max &>> UInt64(64 &- (part &- start))) &<< UInt64(start & 63)
      let word = words[start &>> 6]
      if word & mask != 0 { return false }
      words[start &>> 6] = word | mask
      start = part
    }
    return true
  }

  /// The first bit at or after `offset` that is set, or clear; the end when there is none.
  private static func firstBit(
    _ isSet: Bool, from offset: Int, in words: UnsafeMutableBufferPointer<UInt64>
  ) -> Int {
    guard offset < words.count * 64 else { return words.count * 64 }
    var index = offset >> 6
    var word = (isSet ? words[index] : ~words[index]) & (UInt64.max << UInt64(offset & 63))
    while word == 0 {
      index += 1
      if index == words.count { return index * 64 }
      word = isSet ? words[index] : ~words[index]
    }
    return index * 64 + word.trailingZeroBitCount
  }
}
