/// A set of pages, kept as runs of neighbours.
struct PageRuns: Sendable {
  /// In ascending order, with gaps in between.
  private var runs: [Range<UInt32>] = []

  /// Adds pages that follow each other.
  ///
  /// - Complexity: O(1) when they lie after all others, else O(runs).
  mutating func insert(_ first: PageID, count: Int) {
    guard count > 0 else { return }
    var run = first.rawValue..<(first.rawValue + UInt32(count))
    // The runs that overlap or touch it become one with it.
    let start = firstIndex { $0.upperBound >= run.lowerBound }
    var end = start
    while end < runs.count, runs[end].lowerBound <= run.upperBound {
      run =
        min(run.lowerBound, runs[end].lowerBound)..<max(run.upperBound, runs[end].upperBound)
      end += 1
    }
    runs.replaceSubrange(start..<end, with: CollectionOfOne(run))
    assert(zip(runs, runs.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
  }

  /// - Complexity: O(log *n*) in the runs.
  func contains(_ id: PageID) -> Bool {
    let index = firstIndex { $0.upperBound > id.rawValue }
    return index < runs.count && runs[index].contains(id.rawValue)
  }

  /// The first run for which a condition holds that holds for all after it.
  private func firstIndex(where condition: (Range<UInt32>) -> Bool) -> Int {
    if let last = runs.last, !condition(last) { return runs.count }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if condition(runs[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
