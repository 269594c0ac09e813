import QuireSimulation
import QuireStorage
import Testing

/// Commits shipped to a folder.
@Suite struct Shipping {
  @Test(arguments: Seeds.upTo(Amount.of(debug: 12, release: 300)))
  func `what is in the folder is what the store was`(seed: UInt64) throws {
    let run = ShippingRun(seed: seed)
    try run.play(80)
    #expect(run.counts.commits > 5)
  }
}
