import QuireSimulation
import QuireStorage
import Testing

/// One test for each of ``EngineGaps``: red inside `withKnownIssue` until the engine closes it,
/// which then says that nothing is wrong any more.
@Suite struct `Known gaps` {
  private func expectNoLoss(
    _ steps: [Step], _ budget: CrashEnumeration.Budget,
    _ prepare: (inout CrashEnumeration) -> Void
  ) {
    var enumeration = CrashEnumeration.excusing(Scenario(steps), budget: budget)
    prepare(&enumeration)
    let failure = enumeration.run().failure
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
  }

  private let commit: [Step] = [.put(.records, keys: 0..<3, byteCount: 20, version: 1), .commit]

  @Test func `a meta page that was not synced is not relied on by the next process`() {
    withKnownIssue {
      expectNoLoss(
        commit + [.reopen], .init(imageLimits: [2, 8], nestingStrides: [1])
      ) { $0.omitsSurvivor = { _ in false } }
    } when: {
      EngineGaps.trustsUnsyncedMeta
    }
  }

  @Test func `recovery spoils no commit that was safe, on a disk that spoils what it writes`() {
    withKnownIssue {
      expectNoLoss(
        commit + [.die], .init(imageLimits: [nil], nestingStrides: [])
      ) { $0.sparesUnchanged = false }
    } when: {
      EngineGaps.rewritesLogInPlace
    }
  }

  /// ``StorageError/noSpaceLeft(path:)`` says that the transaction was aborted and the store is
  /// usable.
  @Test func `a commit that has no space is aborted, and the store takes the next one`() throws {
    let clean = SimulatedDisk()
    try ScenarioRun(Scenario(commit), on: clean).run()
    withKnownIssue {
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
    } when: {
      EngineGaps.callsFailedSyncNoSpace
    }
  }
}
