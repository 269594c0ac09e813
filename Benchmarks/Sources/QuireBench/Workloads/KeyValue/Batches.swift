extension Run {
  /// The numbers from 0 to below N, in the order they are to be put.
  func numbers(_ order: KeyOrder) -> [Int] {
    order == .ascending ? Array(0..<count) : shuffled(count)
  }
}

extension RandomAccessCollection where Index == Int {
  /// Calls `body` with parts of so many elements: what goes into one commit.
  @inline(__always)
  func forEachBatch(
    of count: Int = KeyValueData.batchCount, _ body: (SubSequence) throws -> Void
  ) rethrows {
    for start in stride(from: startIndex, to: endIndex, by: count) {
      try body(self[start..<Swift.min(start + count, endIndex)])
    }
  }
}

/// New values for some of the entries of a large store, all over it.
enum Updates {
  /// The updates of a store of N entries; some meet the same one.
  static func numbers(of count: Int) -> [Int] {
    (0..<(count + 99) / 100).map { Int(mix(UInt64($0)) % UInt64(count)) }
  }

  /// What makes the new values.
  static var data: KeyValueData { KeyValueData(valueShift: 1) }

  /// The sum over all entries afterwards.
  static func expected(_ count: Int) -> KeyValueSum {
    let updated = Set(numbers(of: count))
    return .expected((0..<count).lazy.filter { !updated.contains($0) })
      + .expected(updated, with: data)
  }
}

/// The stores that are opened again and again.
enum OpenedStore {
  /// About 300 KB, and about 10 MB.
  static let smallCount = 2_400
  static let largeCount = 80_000

  /// The row that is read after an opening.
  static func row(_ opening: Int, of count: Int) -> Int {
    Int(mix(UInt64(opening)) % UInt64(count))
  }

  static func expected(_ openings: Int, of count: Int) -> KeyValueSum {
    .expected((0..<openings).lazy.map { row($0, of: count) }, withKeys: false)
  }
}
