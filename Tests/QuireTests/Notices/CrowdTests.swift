import Quire
import QuireSimulation
import Testing

@Suite(.serialized) struct `Eight contexts at once` {
  private static let seeds = Seeds.upTo(Amount.of(debug: 1, release: 2, exhaustive: 100))

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
