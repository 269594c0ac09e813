import Quire
import QuireSimulation
import Testing

@Suite(.serialized) struct `Eight contexts at once` {
  /// `QUIRE_SEED` runs one seed, `QUIRE_SEEDS` the first so many.
  private static var seeds: ClosedRange<UInt64> {
    if let seed = environmentValue("QUIRE_SEED").flatMap(UInt64.init) { return seed...seed }
    if let last = environmentValue("QUIRE_SEEDS").flatMap(UInt64.init) { return 1...last }
    return 1...Amount.of(debug: 1, release: 2, exhaustive: 100)
  }

  @Test(arguments: GotchaHome.allCases)
  func `contexts that insert, fetch, merge, undo and save on eight threads lose nothing`(
    _ home: GotchaHome
  ) throws {
    for seed in Self.seeds {
      let findings = try Crowd.run(home, seed: seed)
      #expect(findings.isEmpty, "seed \(seed): \(findings.joined(separator: "\n"))")
    }
  }
}
