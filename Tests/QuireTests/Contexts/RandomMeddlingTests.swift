import Quire
import QuireSimulation
import QuireTesting
import Testing

/// Random changes in two contexts of a store, in a child and in its child. Both sides of what is
/// stored agree, and no object is stored that has lost what it was given; and nothing crashes where
/// classes, observers and policies do anything whenever they are called.
@Suite(.serialized) struct RandomMeddlingTests {
  /// Those after the first ones have failed once.
  private static let seeds =
    Seeds.wanted.map(Array.init)
    ?? Array(1...Amount.of(debug: 3, release: 30, exhaustive: 4_000)) + [
      320_380, 320_525, 320_635, 321_353, 321_453, 321_520, 322_977, 323_663, 323_881, 324_160,
      324_889, 325_829, 326_130,
    ]
  private static let stepCount = 200

  /// Takes the walk of a seed. If it goes wrong, tells what is left of it when every step that can
  /// be left out is.
  private static func walk(_ seed: UInt64, isCalm: Bool) throws -> MeddlingWalk? {
    let steps = MeddlingStep.sequence(seed: seed, count: stepCount)
    let walk = try MeddlingWalk(seed, isCalm: isCalm)
    guard let failure = walk.failure(of: steps) else { return walk }
    // Before it is shrunk, as what is left may end the process.
    print("seed \(seed): \(failure)")
    var shrinker = OperationShrinker(steps) { steps in
      (try? MeddlingWalk(seed, isCalm: isCalm).failure(of: steps)) != nil
    }
    shrinker.shrink()
    let last = try MeddlingWalk(seed, isCalm: isCalm)
    let lastFailure = last.failure(of: shrinker.operations)
    Issue.record(
      """
      seed \(seed): \(failure)
      \(shrinker.operations.count) steps are left, which fail with:
      \(lastFailure ?? "nothing, now")
      \(last.description)
      \(last.trace.joined(separator: "\n"))
      """)
    return nil
  }

  /// Without meddling: what every context has, and what is stored, is checked after each step.
  @Test func `a store stays whole, whatever contexts of one family and others do`() throws {
    for seed in Self.seeds {
      guard try Self.walk(seed, isCalm: true) != nil else { return }
    }
  }

  @Test func `a store stays whole, whatever a program's callbacks do`() throws {
    var (saves, meddlings) = (0, 0)
    for seed in Self.seeds {
      guard let walk = try Self.walk(seed, isCalm: false) else { return }
      (saves, meddlings) = (saves + walk.saveCount, meddlings + walk.meddlingCount)
    }
    print("\(Self.seeds.count) seeds: \(saves) saves, \(meddlings) meddlings")
    // A single walk may save little, and be sound.
    if Self.seeds.count < 3 { return }
    #expect(saves > 10 * Self.seeds.count && meddlings > 50 * Self.seeds.count)
  }
}
