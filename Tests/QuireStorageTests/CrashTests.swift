import QuireSimulation
import QuireStorage
import Testing

/// A simulated disk dies before every single operation of a workload, and leaves whatever it might.
@Suite struct `Crashes` {
  /// `QUIRE_SEED` runs one seed.
  private static let seeds: [UInt64] =
    environmentValue("QUIRE_SEED").flatMap(UInt64.init).map { [$0] }
    ?? Array(1...Amount.of(debug: 2, release: 4, exhaustive: 200))

  @Test func `a crash at any operation leaves the last acknowledged commit or a later one`() {
    for pageSize in Amount.of(sampled: [512], exhaustive: [512, 1024, 4096]) {
      var scenario = Scenario.scripted
      scenario.pageSize = pageSize
      scenario.checkpointByteLimit = 20 * pageSize
      let outcome = expectNoLoss(scenario)
      #expect(outcome.imageCount > Amount.of(debug: 50, release: 200))
    }
  }

  /// The room that a store keeps on the disk for its removals and its checkpoints is given up and
  /// taken again; the other workloads' disks have none, or are drawn.
  @Test func `a crash loses nothing where the disk keeps room for the store`() {
    var scenario = Scenario.scripted
    scenario.reservesRoom = true
    #expect(expectNoLoss(scenario).imageCount > Amount.of(debug: 50, release: 200))
  }

  @Test(arguments: Scenario.special)
  func `a crash loses nothing where the engine is most at risk`(scenario: Scenario) {
    // They are large.
    expectNoLoss(
      scenario,
      Amount.of(
        debug: .init(imageLimits: [2, 1], nestingStrides: [200], momentStride: 20),
        release: .init(imageLimits: [2, 1], nestingStrides: [70]),
        exhaustive: .whole))
  }

  /// The first page is written over, and has no twin: all that a crash can leave of it.
  @Test func `a crash while a store of format 1 becomes one of format 2 loses nothing`() {
    let budget = CrashEnumeration.Budget(imageLimits: [40, 8], nestingStrides: [5])
    #expect(expectNoLoss(.upgrading, budget).imageCount > 300)
  }

  @Test(arguments: seeds)
  func `a crash in a random workload loses nothing`(seed: UInt64) {
    expectNoLoss(.random(seed: seed))
  }

  /// The log goes while the store is open; a crash then finds the file, and a crash after the next
  /// commit the log that this has begun.
  @Test(arguments: [Durability.full, .ordered])
  func `a log that goes when nobody writes takes no commit along`(durability: Durability) {
    var scenario = Scenario.idling
    scenario.durability = durability
    #expect(expectNoLoss(scenario).imageCount > Amount.of(debug: 50, release: 200))
  }

  /// Without a sync for each commit a crash may cost commits, the newest first, but none from
  /// before the last checkpoint; and the death of the process alone costs nothing.
  @Test(arguments: seeds)
  func `a crash under ordered durability leaves some commit since the last checkpoint`(
    seed: UInt64
  ) {
    var scenario = Scenario.random(seed: seed)
    scenario.durability = .ordered
    expectNoLoss(scenario)
  }

  /// Nothing is synced, and yet nothing is lost while the system lives.
  @Test(arguments: [Durability.ordered, .none])
  func `the death of the process costs no commit, whatever the durability`(
    durability: Durability
  ) throws {
    for seed in Self.seeds {
      var scenario = Scenario.random(seed: seed)
      scenario.durability = durability
      let disk = SimulatedDisk()
      var run = ScenarioRun(scenario, on: disk)
      try run.run()
      let total = disk.operationCount
      for operation in stride(from: 0, through: total, by: Amount.of(sampled: 12, exhaustive: 1)) {
        let disk = SimulatedDisk()
        disk.crash(after: operation)
        run = ScenarioRun(scenario, on: disk)
        try? run.run()
        run.die()
        disk.revive()
        run = ScenarioRun(scenario, on: disk, from: run.oracle.value)
        try run.open(processOnly: true)
        try run.verify()
      }
    }
  }

  @discardableResult
  private func expectNoLoss(
    _ scenario: Scenario, _ budget: CrashEnumeration.Budget = .standard
  ) -> CrashEnumeration.Outcome {
    var enumeration = CrashEnumeration(scenario, budget: budget)
    let outcome = enumeration.run()
    print(
      "crashes, \(scenario.name), seed \(scenario.seed): \(outcome.pointCount) moments, images by depth "
        + "\(outcome.imageCounts)")
    if let failure = outcome.failure {
      let smallest = CrashEnumeration.shrink(failure) { scenario in
        var enumeration = CrashEnumeration(scenario, budget: budget)
        return enumeration.run().failure
      }
      Issue.record("\(smallest)")
    }
    return outcome
  }
}

/// What the enumeration finds when it must find something.
@Suite struct `Crashes without a sync` {
  /// First without crashes in a recovery, which are harder to read, then with many.
  private static let budgets = [
    CrashEnumeration.Budget(
      imageLimits: [Amount.of(debug: 8, release: 12)], nestingStrides: []),
    CrashEnumeration.Budget(imageLimits: [4, 4], nestingStrides: [3]),
  ]

  @Test func `no sync is superfluous`() throws {
    // What syncs one by one needs none before a checkpoint.
    var ordered = Scenario.scripted
    ordered.durability = .ordered
    let scenarios =
      [.scripted, ordered, .aroundLog] + (1...8).map { Scenario.random(seed: $0) }
    // Those which the first workload does not need begin with the one that needs them.
    let first: [SyncReason: Scenario] = [
      .settledMeta: ordered, .checkpointLog: ordered, .directPages: .aroundLog,
      .identityCopy: .upgrading,
    ]
    var table: [String] = []
    for reason in Amount.some(of: SyncReason.allCases, oneIn: 5, at: 0) {
      var killer: CrashEnumeration.Failure?
      for budget in Self.budgets {
        for scenario in [first[reason] ?? .scripted] + scenarios where killer == nil {
          var enumeration = CrashEnumeration(
            scenario, ignoring: [reason], budget: budget)
          killer = enumeration.run().failure
        }
      }
      #expect(killer != nil, "leaving out the sync for \(reason) does no harm")
      if let killer {
        let scenario = killer.scenario
        table.append(
          "\(reason) | \(scenario.name) \(scenario.seed), \(scenario.durability): \(killer.summary)"
        )
      }
    }
    print("syncs left out | the image that shows it\n" + table.joined(separator: "\n"))
  }

  @Test func `a failure is shrunk to the steps that matter`() throws {
    func failure(_ scenario: Scenario) -> CrashEnumeration.Failure? {
      var enumeration = CrashEnumeration(
        scenario, ignoring: [.commit],
        budget: CrashEnumeration.Budget(imageLimits: [4], nestingStrides: []))
      return enumeration.run().failure
    }
    let first = try #require(failure(.scripted))
    let smallest = CrashEnumeration.shrink(first, failure)
    // Two changes and their commits, of which the first is synced with its log; closing, opening
    // and a checkpoint commit too.
    #expect(smallest.scenario.steps.count == 4, "\(smallest)")
  }
}
