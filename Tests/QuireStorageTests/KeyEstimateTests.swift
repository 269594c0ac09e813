import QuireSimulation
import QuireStorage
import Testing

/// How many keys lie in a range, told by the ways to its ends.
@Suite struct KeyEstimateTests {
  private func tree(_ keys: [[UInt8]]) throws -> IndexTree {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for key in keys { try tree.put([], for: key) }
    }
    return try #require(try store.snapshot().indexTree("tree"))
  }

  private func bytes(_ number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  @Test func `keys of one leaf are counted`() throws {
    let tree = try tree((0..<20).map { bytes($0) })
    for lower in 0..<22 as Range<UInt32> {
      for upper in 0..<22 as Range<UInt32> {
        let expected = max(0, Int(min(upper, 20)) - Int(min(lower, 20)))
        #expect(try tree.estimatedKeyCount(from: bytes(lower), to: bytes(upper)) == expected)
      }
      #expect(
        try tree.estimatedKeyCount(from: bytes(lower), to: nil) == 20 - Int(min(lower, 20)))
    }
    #expect(try self.tree([]).estimatedKeyCount(from: [], to: nil) == 0)
  }

  /// In a tree of some levels, whose nodes are filled as they come.
  @Test(arguments: Amount.of(debug: [1], release: [1, 2, 3]) as [UInt64], [false, true])
  func `the estimate is near the number of keys`(seed: UInt64, isSorted: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let numbers = (0..<20_000).map { _ in UInt32.random(in: 0..<1_000_000, using: &generator) }
    let tree = try tree((isSorted ? numbers.sorted() : numbers).map(bytes))
    let keys = Set(numbers).sorted()
    #expect(try tree.estimatedKeyCount(from: [], to: nil) == keys.count)
    var worst = 1.0
    for _ in 0..<Amount.of(debug: 150, release: 500) {
      let lower = UInt32.random(in: 0..<1_000_000, using: &generator)
      let width = UInt32.random(
        in: 0..<[1_000, 30_000, 900_000][Int(lower % 3)], using: &generator)
      let count = keys.count { $0 >= lower && $0 < lower + width }
      let estimate = try tree.estimatedKeyCount(from: bytes(lower), to: bytes(lower + width))
      #expect(abs(estimate - count) <= max(80, count / 2), "seed \(seed): \(estimate), \(count)")
      let (least, most) = (min(estimate, count), max(estimate, count))
      if count > 500 { worst = max(worst, Double(most) / Double(least)) }
    }
    print("seed \(seed), sorted \(isSorted): estimates are wrong by \(worst) at most")
  }

  @Test func `a range without keys is estimated as empty, and none as larger than the tree`() throws
  {
    let tree = try tree((0..<3_000).map { bytes($0 * 10) })
    #expect(try tree.estimatedKeyCount(from: bytes(15_001), to: bytes(15_009)) == 0)
    #expect(try tree.estimatedKeyCount(from: bytes(20_000), to: bytes(10_000)) == 0)
    #expect(try tree.estimatedKeyCount(from: bytes(40_000), to: nil) == 0)
    #expect(try tree.estimatedKeyCount(from: [], to: [255]) <= 3_000)
  }
}
