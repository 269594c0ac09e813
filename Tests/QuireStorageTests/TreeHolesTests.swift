import QuireSimulation
import QuireStorage
import Testing

/// The parts of a tree whose inner nodes are lost find their places, however many there are.
@Suite struct TreeHolesTests {
  private typealias Key = PageContent.Key

  /// The oracle looks at each hole.
  private func best(_ holes: [TreeHole], for fragment: TreeFragment) -> Set<PageID> {
    let fitting = holes.filter { $0.takes(fragment) && $0.page != fragment.root }
    let lowest = fitting.compactMap(\.level).min()
    let found = lowest.map { level in fitting.filter { $0.level == level } } ?? fitting
    return Set(found.map(\.page))
  }

  private func hole(
    _ page: Int, level: Int?, _ lower: Int64?, _ upper: Int64?, kind: TreeKind = .record
  ) -> TreeHole {
    TreeHole(
      page: PageID(rawValue: UInt32(page)), kind: kind, level: level,
      lower: lower.map(Key.number) ?? .none,
      upper: upper.map(Key.number))
  }

  private func fragment(
    _ page: Int, level: Int, _ keys: ClosedRange<Int64>, kind: TreeKind = .record
  ) -> TreeFragment {
    TreeFragment(
      kind: kind, level: level, root: PageID(rawValue: UInt32(page)),
      first: .number(keys.lowerBound),
      last: .number(keys.upperBound), leafCount: 1)
  }

  @Test func `a part fits in the lowest holes around its keys, and in no others`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("holes by seed \(seed)")
    var random = SeededGenerator(seed: seed)
    func key() -> Int64 { Int64.random(in: 0...40, using: &random) }
    func kind() -> TreeKind { Int.random(in: 0..<4, using: &random) == 0 ? .index : .record }
    func isOpen() -> Bool { Int.random(in: 0..<6, using: &random) == 0 }
    var foundCount = 0
    for round in 0..<Amount.of(debug: 60, release: 2_000) {
      let holes = (0..<Int.random(in: 0...40, using: &random)).map { page in
        let level = Int.random(in: 1...4, using: &random)
        return hole(
          page, level: level == 4 ? nil : level, isOpen() ? nil : key(), isOpen() ? nil : key(),
          kind: kind())
      }
      let index = TreeHoles(holes)
      for _ in 0..<20 {
        let (first, last) = (key(), key())
        // A few have the number of a hole, in which they cannot be.
        let part = fragment(
          Int.random(in: 0...60, using: &random), level: Int.random(in: 0...3, using: &random),
          min(first, last)...max(first, last), kind: kind())
        let expected = best(holes, for: part)
        let found = index.best(for: part).map(\.page)
        #expect(found.count == expected.count && Set(found) == expected, "round \(round): \(part)")
        #expect(index.best(for: part, limit: 2).count == min(2, expected.count), "round \(round)")
        foundCount += found.count
      }
    }
    #expect(foundCount > 100)
  }

  @Test func `twenty thousand parts find their places among twenty thousand holes`() {
    let count = 20_000
    let holes = (0..<count).map { hole($0, level: 1, Int64($0) * 10, Int64($0) * 10 + 10) }
    let index = TreeHoles(holes.shuffled())
    var (wrong, comparedCount) = (0, 0)
    for number in 0..<count {
      let start = Int64(number) * 10
      let part = fragment(count + number, level: 0, start...start + 9)
      let search = index.search(for: part, limit: 2)
      comparedCount += search.comparedCount
      if search.found.map(\.page) != [PageID(rawValue: UInt32(number))] { wrong += 1 }
    }
    #expect(wrong == 0)
    // A search by halves, and the way down a tree of 15 levels with a look to the side at each.
    #expect(comparedCount / count <= 15 + 2 * 16, "\(comparedCount / count)")
  }
}
