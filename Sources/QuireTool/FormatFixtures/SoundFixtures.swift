import QuireStorage

/// Stores of the file format that this release writes, which every later one must open:
/// `Fixtures/Format2`. Those of format 1, with the same content, are in `Fixtures/Format1`.
package enum SoundFixtures {
  package static let folderName = "Format2"

  static let identity = StoreIdentity(high: 0xF0F0_0001_0000_4000, low: 0x8000_0000_0000_0001)

  /// - Returns: each fixture with what it holds.
  package static func all() throws -> [(fixture: StoreFixture, content: FixtureContent)] {
    var all: [(StoreFixture, FixtureContent)] = []
    for (pageSize, rows) in [(512, 420), (4096, 160), (32_768, 40)] {
      all.append(try closed(pageSize, rows: rows))
      // One store of the largest pages is enough: it has more bytes than all others.
      if pageSize < 32_768 { all.append(try withLog(pageSize, rows: 80)) }
    }
    return all
  }

  private static func closed(
    _ pageSize: Int, rows: Int
  ) throws -> (StoreFixture, FixtureContent) {
    let commits = [
      first(rows: rows, pageSize), second(pageSize), third(rows: rows, pageSize),
    ]
    let workshop = FixtureWorkshop(pageSize: pageSize, identity: identity)
    try workshop.run(commits, isClosed: true)
    return (
      StoreFixture(
        name: "closed-\(pageSize)", making: "three commits, then closed",
        opening: "opens at commit 3", finding: "sound", store: workshop.store, log: nil),
      content(of: commits)
    )
  }

  private static func withLog(
    _ pageSize: Int, rows: Int
  ) throws -> (StoreFixture, FixtureContent) {
    let commits = [
      first(rows: rows, pageSize), second(pageSize), third(rows: rows, pageSize), fourth(),
    ]
    let workshop = FixtureWorkshop(pageSize: pageSize, identity: identity)
    try workshop.run([commits[0]], isClosed: true)
    try workshop.run(Array(commits[1...]), isClosed: false)
    return (
      StoreFixture(
        name: "with-log-\(pageSize)",
        making: "one commit and closed; three more commits, then the process died",
        opening: "opens at commit 4", finding: "sound", store: workshop.store, log: workshop.log),
      content(of: commits)
    )
  }

  private static func content(of commits: [[FixtureStep]]) -> FixtureContent {
    var content = FixtureContent()
    for step in commits.joined() { step.apply(to: &content) }
    return content
  }

  // MARK: Content

  /// Keys close together and far apart, names that begin alike, a tree to be dropped.
  private static func first(rows: Int, _ pageSize: Int) -> [FixtureStep] {
    var steps: [FixtureStep] = []
    for row in 0..<rows {
      let value = FixtureStep.bytes(row % 40, seed: row)
      steps.append(.put(tree: "numbers", key: Int64(row * 3 - 90), value: value))
      let name = "name/\(row % 7)/\(row)/of a thing"
      steps.append(.enter(tree: "names", key: Array(name.utf8), value: []))
      if row % 4 == 0, !isLarge(pageSize) {
        let value = FixtureStep.bytes(50, seed: row)
        steps.append(.put(tree: "dropped", key: Int64(row), value: value))
      }
    }
    for key in [Int64.min, -1 << 40, 1 << 17, 1 << 40, Int64.max] {
      steps.append(.put(tree: "numbers", key: key, value: FixtureStep.bytes(3, seed: 1)))
    }
    if !isLarge(pageSize) { steps.append(.makeIndex(tree: "empty")) }
    return steps
  }

  /// Values at and around the lengths where they are stored another way; keys as long as can be.
  private static func second(_ pageSize: Int) -> [FixtureStep] {
    let capacity = pageSize - 24
    var lengths = [0, 1, capacity / 4, capacity / 4 + 1, capacity + 1]
    // With small pages one value is so long that its run steps over the second page map.
    if !isLarge(pageSize) { lengths += [capacity, pageSize == 512 ? 36_000 : 3 * capacity + 5] }
    var steps: [FixtureStep] = lengths.enumerated().map { index, length in
      .put(tree: "texts", key: Int64(index), value: FixtureStep.bytes(length, seed: index))
    }
    let longest = isLarge(pageSize) ? 200 : capacity / 4 - 32
    for seed in 0..<6 {
      let key = FixtureStep.bytes(longest - seed % 2, seed: seed)
      steps.append(
        .enter(tree: "Schlüssel, long", key: key, value: FixtureStep.bytes(9, seed: seed)))
    }
    steps.append(.enter(tree: "Schlüssel, long", key: [], value: [1]))
    return steps
  }

  /// Leaves free pages behind, and holes in leaves.
  private static func third(rows: Int, _ pageSize: Int) -> [FixtureStep] {
    var steps: [FixtureStep] = [.remove(tree: "texts", key: 3)]
    if !isLarge(pageSize) { steps.append(.drop(tree: "dropped")) }
    steps += stride(from: 0, to: rows, by: 5).map {
      .remove(tree: "numbers", key: Int64($0 * 3 - 90))
    }
    return steps
  }

  private static func fourth() -> [FixtureStep] {
    (0..<10).map { .put(tree: "numbers", key: Int64($0), value: FixtureStep.bytes(12, seed: 4)) }
  }

  /// Whether pages are so large that the store gets only a few, to stay small.
  private static func isLarge(_ pageSize: Int) -> Bool { pageSize == 32_768 }
}
