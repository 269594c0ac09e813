import QuireSimulation
import Testing

@Suite struct RandomUndoTests {
  private static let seeds =
    Seeds.wanted.map(Array.init)
    ?? Array(1...Amount.of(debug: 8, release: 70, exhaustive: 4000)) + [
      1449, 301_059, 301_208, 301_654, 302_089, 305_810, 306_746, 309_226, 316_449, 325_254,
      418_297,
    ]
  private static let eventCount = 14

  @Test func `random changes are undone and redone step by step across saves`() throws {
    var saves = 0
    for seed in Self.seeds {
      let walk = try UndoWalk(seed: seed)
      try walk.run(events: Self.eventCount)
      saves += walk.saves
      guard let first = walk.findings.first else { continue }
      let short = try Self.shrunk(seed, walk.operationCount)
      Issue.record(
        """
        seed \(seed): \(first)
        \(short.trace.joined(separator: "\n"))
        \(short.findings.joined(separator: "\n"))
        """)
      return
    }
    #expect(saves > Self.seeds.count)
  }

  /// Leaves out all operations that are not needed to fail.
  private static func shrunk(_ seed: UInt64, _ operationCount: Int) throws -> UndoWalk {
    var skipped: Set<Int> = []
    for operation in (1...operationCount).reversed() {
      let walk = try UndoWalk(seed: seed, skipping: skipped.union([operation]))
      try walk.run(events: eventCount)
      if !walk.findings.isEmpty { skipped.insert(operation) }
    }
    let walk = try UndoWalk(seed: seed, skipping: skipped)
    try walk.run(events: eventCount)
    return walk
  }
}
