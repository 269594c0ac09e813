import QuireSimulation
import QuireStorage
import Testing

/// What the simulated disk once found in the engine.
@Suite struct `Crashes that once lost something` {
  private func expectNoLoss(_ scenario: Scenario, _ budget: CrashEnumeration.Budget) {
    var enumeration = CrashEnumeration(scenario, budget: budget)
    let failure = enumeration.run().failure
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
  }

  private let commit: [Step] = [.put(.records, keys: 0..<3, byteCount: 20, version: 1), .commit]

  /// A process died between writing a clean meta page and syncing it. The next opening read the page
  /// from the cache, believed the store closed, and emptied the log for its first commit, while the
  /// meta page that the disk had still needed what was in it. Now that page is made durable first.
  @Test func `a meta page that was not synced is not relied on by the next process`() {
    expectNoLoss(
      Scenario(commit + [.reopen]), .init(imageLimits: [2, 8], nestingStrides: [1]))
  }

  /// Recovery wrote the log once more to where it was, and a disk that spoils the sector it writes
  /// when the power fails took commits that were safe. Now it goes to another file.
  @Test func `recovery spoils no commit that was safe, on a disk that spoils what it writes`() {
    expectNoLoss(Scenario(commit + [.die]), .init(imageLimits: [nil], nestingStrides: []))
  }

  /// A sync that failed for want of space made the commit throw `.noSpaceLeft`, which promises an
  /// aborted transaction and a usable store, while the store was poisoned.
  @Test func `a commit that has no space is aborted, and the store takes the next one`() throws {
    let clean = SimulatedDisk()
    try ScenarioRun(Scenario(commit), on: clean).run()
    for operation in 1...clean.operationCount {
      let disk = SimulatedDisk()
      disk.fail(at: operation, with: .noSpace)
      let run = ScenarioRun(Scenario([]), on: disk)
      guard (try? run.open(processOnly: true)) != nil, let store = run.store else { continue }
      do throws(StorageError) {
        let transaction = try store.beginWrite()
        try commit[0].perform(in: transaction)
        try transaction.commit()
      } catch .noSpaceLeft {
        #expect(throws: Never.self, "operation \(operation)") {
          try store.beginWrite().abort()
        }
      } catch {
        // Another error promises nothing.
      }
    }
  }
}
