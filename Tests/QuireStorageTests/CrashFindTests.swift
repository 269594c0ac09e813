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

  /// A process died between writing a clean meta page and syncing it. The next opening read the
  /// page from the cache, believed the store closed, and emptied the log for its first commit,
  /// while the meta page that the disk had still needed what was in it. Now that page is made
  /// durable first.
  @Test func `a meta page that was not synced is not relied on by the next process`() {
    expectNoLoss(
      Scenario(commit + [.reopen]),
      .init(imageLimits: [2, Amount.of(debug: 3, release: 8)], nestingStrides: [1]))
  }

  /// Recovery wrote the log once more to where it was, and a disk that spoils the sector it writes
  /// when the power fails took commits that were safe. Now it goes to another file.
  @Test func `recovery spoils no commit that was safe, on a disk that spoils what it writes`() {
    expectNoLoss(
      Scenario(commit + [.die]),
      .init(
        imageLimits: [nil], nestingStrides: [], momentStride: Amount.of(debug: 2, release: 1)))
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

  /// A process died between writing a checkpoint's meta page and syncing it, with commits beside
  /// the checkpoint. The next one read the page from the cache, put together a log of what came
  /// after it, and gave it the old one's name; then the system died, and the meta page that the
  /// disk had needed the rest. Now the newer page is made durable before the log is replaced.
  @Test func `recovery relies on no meta page of a checkpoint that was not synced`() {
    let beside: [Step] = [.put(.records, keys: 0..<3, byteCount: 30, version: 2), .commit]
    expectNoLoss(
      Scenario(commit + [.beginCheckpoint] + beside + [.writeCheckpoint]),
      .init(
        imageLimits: [2, Amount.of(debug: 3, release: 6)],
        nestingStrides: [Amount.of(debug: 2, release: 1)]))
  }

  /// The process died while a checkpoint wrote its images over those of the one before. The next
  /// one took the newer meta page for spare, since the older one led to the same commit; but not to
  /// its pages, whose images were gone. So it wrote the newer one once more, and a disk that spoils
  /// what it writes left neither.
  @Test func `a meta page is not spare when the images of its checkpoint are gone`() {
    let first: [Step] = [
      .put(.otherRecords, keys: 26..<43, byteCount: 31, version: 103), .commit, .hold,
      .drop(.index), .commit, .hold, .remove(.otherIndex, keys: 38..<57),
    ]
    let second: [Step] = [
      .build(.otherRecords, keys: 24..<46, byteCount: 30, version: 105), .hold,
      .remove(.index, keys: 2..<32), .commit,
    ]
    var scenario = Scenario([
      .put(.index, keys: 39..<51, byteCount: 47, version: 2), .overlap(first), .overlap(second),
    ])
    scenario.pageSize = 1024
    scenario.cacheByteLimit = 0
    expectNoLoss(
      scenario,
      .init(
        imageLimits: Amount.of(debug: [8, 3], release: [60, 12]),
        nestingStrides: [Amount.of(debug: 9, release: 1)],
        momentStride: Amount.of(debug: 3, release: 1)))
  }

  /// With ordered durability the first of two commits after a closing was lost and the second was
  /// not. So the newer meta page, which demands the log, was taken for spare, since the older one,
  /// which says that the store is closed, has the same commit; but with it alone the second record
  /// means damage. The newer one was written once more, and a disk that spoils what it writes left
  /// a store that did not open.
  @Test func `a meta page is not spare when a lost commit has left another behind`() {
    // Of some sectors each.
    let second: [Step] = [.put(.records, keys: 0..<3, byteCount: 400, version: 2), .commit]
    let third: [Step] = [.put(.records, keys: 0..<3, byteCount: 400, version: 3), .commit]
    var scenario = Scenario(commit + [.reopen] + second + third)
    scenario.durability = .ordered
    // Recovery is run from one image of each moment: which one, the seed says.
    for seed in 1...Amount.of(debug: 1, release: 12) {
      scenario.seed = UInt64(seed)
      expectNoLoss(
        scenario,
        .init(
          imageLimits: Amount.of(debug: [8, 3], release: [20, 6]),
          nestingStrides: [Amount.of(debug: 3, release: 1)]))
    }
  }

  /// Pages that one transaction freed were known as free in memory, until a checkpoint, even when
  /// another had written a tree to them around the log: it could not be read.
  @Test func `pages that were freed hold what is written to them around the log`() throws {
    let steps: [Step] = [
      .build(.records, keys: 0..<1, byteCount: 280_000, version: 1), .commit, .checkpoint,
      .drop(.records), .commit,
      .build(.records, keys: 0..<1, byteCount: 280_000, version: 2), .commit,
    ]
    try ScenarioRun(Scenario(steps), on: SimulatedDisk()).run()
  }

  /// With ordered durability pages freed by a commit that was not on disk were written to around
  /// the log: when that commit was lost, the one before had lost its pages.
  @Test(arguments: [
    // Behind a checkpoint the log remembers what it had; a new one has nothing to remember.
    [Step.checkpoint], [.reopen], [.reopen, .checkpoint],
  ])
  func `pages freed by a commit that a crash can take back are left alone`(_ durable: [Step]) {
    let build: [Step] = [.build(.records, keys: 0..<1, byteCount: 280_000, version: 1), .commit]
    let replace: [Step] = [
      .drop(.records), .commit, .build(.index, keys: 0..<1, byteCount: 280_000, version: 2),
      .commit,
    ]
    var scenario = Scenario(build + durable + replace)
    scenario.durability = .ordered
    expectNoLoss(
      scenario,
      .init(
        imageLimits: [Amount.of(debug: 3, release: 6)], nestingStrides: [],
        momentStride: Amount.of(debug: 8, release: 1)))
  }

  /// The end of a checkpoint cut off pages that the log's commits had written behind its own, since
  /// the newest had freed them; with ordered durability a crash may lead back to the one before it.
  @Test func `the file is not cut off before pages that a crash can bring back`() {
    // After the checkpoint's sync of the log, which would take both along.
    let beside: [Step] = [
      .put(.records, keys: 0..<6, byteCount: 20, version: 2), .commit, .release,
      .build(.otherRecords, keys: 0..<1, byteCount: 280_000, version: 1), .commit,
      .drop(.otherRecords), .commit,
    ]
    let after: [Step] = [.put(.records, keys: 0..<6, byteCount: 30, version: 3), .commit]
    var scenario = Scenario(commit + [.overlap(beside)] + after)
    scenario.durability = .ordered
    expectNoLoss(
      scenario, .init(imageLimits: [Amount.of(debug: 10, release: 40)], nestingStrides: []))
  }

  /// A killed process's reader said "page 206 is damaged: the file ends before it": a compaction
  /// cut the old file off after the newest version's pages, while an older snapshot was reading it.
  @Test func `a compaction leaves the old file to those who read it`() throws {
    let steps: [Step] = [
      .build(.records, keys: 0..<1, byteCount: 280_000, version: 1), .commit, .hold,
      .drop(.records), .put(.index, keys: 0..<3, byteCount: 20, version: 2), .commit, .compact,
      .release,
    ]
    var scenario = Scenario(steps)
    scenario.cacheByteLimit = 0
    try ScenarioRun(scenario, on: SimulatedDisk()).run()
  }

  /// A process died with images written and on no disk yet. The next one found that the older meta
  /// page leads everywhere, through them, and wrote the newer one once more; then the system died,
  /// with nonsense in both. Now the images are made durable before that.
  @Test func `a meta page is not written once more while the images are on no disk`() throws {
    let scenario = Scenario([
      .put(.index, keys: 31..<38, byteCount: 40, version: 2), .beginCheckpoint,
      .put(.records, keys: 1..<9, byteCount: 42, version: 3), .reopen,
    ])
    let clean = SimulatedDisk()
    try ScenarioRun(scenario, on: clean).run()
    var count = 0
    for operation in 1...clean.operationCount {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let run = ScenarioRun(scenario, on: disk)
      try? run.run()
      run.die()
      disk.revive()
      // The first operation of a recovery.
      disk.crash(after: 1)
      let next = ScenarioRun(scenario, on: disk, from: run.oracle.value)
      try? next.open(processOnly: true)
      next.die()
      let state = disk.state
      guard state.pending.contains(where: { isOfImages($0, in: state) }) else { continue }
      for seed in 0..<Amount.of(debug: 2, release: 10, exhaustive: 100) {
        let images = CrashImages(state, seed: UInt64(seed))
        images.visit(limit: nil) { image in
          count += 1
          var check = ImageCheck(image, run.oracle.value, scenario, seed: UInt64(seed))
          #expect(throws: Never.self, "\(image)") { _ = try check.run() }
          return true
        }
      }
    }
    print("images of images that are on no disk: \(count)")
    #expect(count > Amount.of(debug: 40, release: 100))
  }

  private func isOfImages(_ operation: PendingOperation, in state: DiskState) -> Bool {
    guard case .write(let node, _, _) = operation else { return false }
    return state.path(of: node)?.hasSuffix("-pages") ?? false
  }
}
