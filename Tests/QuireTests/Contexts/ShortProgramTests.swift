import Quire
import QuireSimulation
import QuireTesting
import Testing

/// Short random programs of up to four contexts about three objects and one relationship, of every
/// kind: dense where longer walks over many relationships rarely meet themselves.
@Suite(.serialized) struct ShortProgramTests {
  /// Those after the first ones have failed once.
  private static let seeds =
    Seeds.wanted.map(Array.init)
    ?? Array(1...Amount.of(debug: 120, release: 4_000, exhaustive: 400_000)) + [
      4_087, 10_944, 11_012, 17_508, 18_944, 20_590, 30_252, 35_132, 40_328, 43_854, 49_556, 62_788,
      82_898,
      94_507, 101_756,
      52_708, 106_202, 107_068, 131_358, 144_878, 161_876,
      155_556, 162_202, 177_671, 191_770, 206_824, 210_596,
      514_560, 517_756, 535_516, 656_006, 652_963, 1_035_455, 1_040_605, 1_087_452,
      1_143_340, 1_167_092, 2_035_774, 3_021_616, 3_103_076,
      3_575_526, 3_592_453, 3_718_528, 681_047,
    ]

  @Test func `both sides of relationships agree after short programs in several contexts`() throws {
    var saves = 0
    for seed in Self.seeds {
      var random = SeededGenerator(seed: seed &* 2_654_435_761)
      let program = try ShortProgram(seed: seed)
      let count = 3 + random.below(10)
      let statements = (0..<count).map { _ in
        ShortStatement(&random, contexts: program.contextCount)
      }
      let failure = program.failure(of: statements)
      saves += program.saveCount
      guard let failure else { continue }
      print("seed \(seed): \(failure)")
      var shrinker = OperationShrinker(statements) { statements in
        (try? ShortProgram(seed: seed).failure(of: statements)) != nil
      }
      shrinker.shrink()
      let short = try ShortProgram(seed: seed)
      let shortFailure = short.failure(of: shrinker.operations)
      Issue.record(
        """
        seed \(seed): \(failure)
        \(short.description)
        \(short.trace.joined(separator: "\n"))
        \(shortFailure ?? "nothing, now")
        """)
      return
    }
    // A single program may save nothing, and be sound.
    if Self.seeds.count >= 10 { #expect(saves > Self.seeds.count) }
  }
}
