import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Each operation of a workload fails, once or from there on, in each way.
@Suite struct `Failing operations` {
  private static func scenarios() -> [Scenario] {
    Amount.of(
      sampled: [.scripted], exhaustive: [.scripted] + (1...20).map { Scenario.random(seed: $0) })
  }

  /// - Parameter prepare: lets something go wrong.
  private func run(
    _ scenario: Scenario, _ what: String, seed: Int, evicts: Bool = false,
    expects: (StorageError) -> Bool, _ prepare: (SimulatedDisk) -> Void
  ) -> ScenarioRun.FaultOutcome {
    let disk = SimulatedDisk()
    prepare(disk)
    let run = ScenarioRun(scenario, on: disk)
    do {
      return try run.runThroughFaults(evicts: evicts, expects: expects) { state, oracle in
        try crash(state, oracle, scenario, seed: seed)
      }
    } catch {
      Issue.record("\(what): \(error)\n\(scenario)")
      return ScenarioRun.FaultOutcome()
    }
  }

  /// Whether an error says what went wrong.
  private static func tells(_ fault: SimulatedDisk.Fault, _ error: StorageError) -> Bool {
    switch error {
    // A sync that has no space is no full disk, and has the number of the C error ENOSPC.
    case .io("sync", _, let code, _): code == 28 && fault.isNoSpace
    case .io(_, _, let code, _): code == 5 && !fault.isNoSpace
    case .noSpaceLeft: fault.isNoSpace
    case .poisoned(let cause), .outcomeUnknown(let cause): tells(fault, cause)
    default: false
    }
  }

  private func crash(
    _ state: DiskState, _ oracle: Oracle, _ scenario: Scenario, seed: Int
  ) throws -> Int {
    guard isExhaustive || seed % 4 == 0 else { return 0 }
    var count = 0
    let images = CrashImages(state, seed: UInt64(seed))
    try images.visit(limit: Amount.of(sampled: 2, exhaustive: 12)) { image in
      count += 1
      var check = ImageCheck(image, oracle, scenario, seed: UInt64(seed))
      do {
        _ = try check.run()
      } catch {
        throw Violation("then a crash, \(image): \(error)")
      }
      return true
    }
    return count
  }

  /// All of them when there is time, else every sixth or so, so that one run takes seconds.
  private func positions(_ count: Int) -> [Int] {
    let step = Amount.of(debug: 9, release: 6, exhaustive: 1)
    return Array(stride(from: 1 + count % step, through: count, by: step))
  }

  /// The operations that are syncs.
  private func syncs(of scenario: Scenario) throws -> [Int] {
    let disk = SimulatedDisk()
    try ScenarioRun(scenario, on: disk).run()
    return disk.syncOperations
  }

  private func counts(of scenario: Scenario) throws -> (operations: Int, queries: Int) {
    let disk = SimulatedDisk()
    try ScenarioRun(scenario, on: disk).run()
    return (disk.operationCount, disk.queryCount)
  }

  @Test(arguments: SimulatedDisk.Fault.allCases, [false, true])
  func `a failed operation is an error, and no acknowledged commit is lost`(
    fault: SimulatedDisk.Fault, isForGood: Bool
  ) throws {
    var total = ScenarioRun.FaultOutcome()
    for scenario in Self.scenarios() {
      for operation in positions(try counts(of: scenario).operations) {
        let plan = SimulatedDisk.FaultPlan(operation: operation, fault, isForGood: isForGood)
        total += run(
          scenario, "\(plan)", seed: operation, expects: { Self.tells(fault, $0) }
        ) { $0.fail(plan) }
      }
    }
    print("\(fault)\(isForGood ? " for good" : ""): \(total)")
    #expect(total.errorCount > 0)
    if isForGood { #expect(total.refusedOpeningCount > 0) }
    if fault == .noSpace { #expect(total.abortedCommitCount > 0) }
    if fault == .ioError { #expect(total.poisonedCount > 0) }
  }

  @Test(arguments: SimulatedDisk.SyncFailureModel.allCases, [false, true])
  func `a failed sync loses no acknowledged commit, whatever the file system then does`(
    model: SimulatedDisk.SyncFailureModel, isForGood: Bool
  ) throws {
    var total = ScenarioRun.FaultOutcome()
    for scenario in Self.scenarios() {
      // In debug each sync by some of the models.
      let place = SimulatedDisk.SyncFailureModel.allCases.firstIndex(of: model) ?? 0
      let (first, step) = Amount.of(
        debug: ((3 * place + (isForGood ? 6 : 0)) % 14, 14), release: (0, 1))
      let syncs = try syncs(of: scenario)
      for operation in stride(from: first, to: syncs.count, by: step).map({ syncs[$0] }) {
        let faults = [SimulatedDisk.Fault.ioError, .noSpace]
        // Each sync fails in one way, or in both.
        for fault in Amount.of(sampled: [faults[operation / 2 % 2]], exhaustive: faults) {
          let plan = SimulatedDisk.FaultPlan(
            operation: operation, fault, isForGood: isForGood, onlySyncs: true)
          // A file system that shut down has a reason of its own.
          total += run(
            scenario, "\(plan), \(model)", seed: operation,
            evicts: model == .ext4 && operation % 2 == 0,
            expects: { Self.tells(fault, $0) || model == .xfs && Self.tells(.ioError, $0) }
          ) { $0.fail(plan, syncs: model) }
        }
      }
    }
    print("failed syncs as with \(model)\(isForGood ? ", for good" : ""): \(total)")
    #expect(total.poisonedCount > 0)
  }

  @Test(arguments: SimulatedDisk.QueryFault.allCases, [false, true])
  func `a failed read is an error, and no data is lost`(
    fault: SimulatedDisk.QueryFault, isForGood: Bool
  ) throws {
    var total = ScenarioRun.FaultOutcome()
    for scenario in Self.scenarios() {
      for query in positions(try counts(of: scenario).queries) {
        total += run(
          scenario, "\(fault) at query \(query)\(isForGood ? " and from there on" : "")",
          seed: query, expects: { fault == .shortRead || Self.tells(.ioError, $0) }
        ) { $0.failQuery(at: query, with: fault, isForGood: isForGood) }
      }
    }
    print("\(fault)\(isForGood ? " for good" : ""): \(total)")
    // A read that ends early looks like a file that does: what is not needed is not missed.
    #expect(total.errorCount > 0 || fault == .shortRead)
  }

  /// A full disk ends the operation that needs the first byte too many: so the sizes that differ
  /// are those at which one ends, those next to them, and any in between.
  @Test(arguments: [false, true])
  func `a disk that is full at any byte leaves a store that reads, and writes again later`(
    reservesRoom: Bool
  ) throws {
    for scenario in Self.scenarios() {
      let disk = SimulatedDisk()
      disk.reservesRoom = reservesRoom
      let reached = ByteCounts()
      disk.observe { state, _ in reached.note(state.byteCount) }
      try ScenarioRun(scenario, on: disk).run()
      var total = ScenarioRun.FaultOutcome()
      var generator = SeededGenerator(seed: scenario.seed)
      let counts = reached.ascending
      let step = Amount.of(
        debug: 1 + counts.count / 6, release: 1 + counts.count / 10, exhaustive: 1)
      for index in stride(from: 0, to: counts.count - 1, by: step) {
        let (low, high) = (counts[index], counts[index + 1])
        let between = low + generator.below(max(1, high - low))
        let capacities = Amount.of(
          sampled: [low, between], exhaustive: [low, low + 1, between, high - 1])
        for capacity in Set(capacities) where capacity <= high {
          total += run(
            scenario, "room for \(capacity) bytes", seed: capacity,
            expects: { Self.tells(.noSpace, $0) }
          ) { disk in
            disk.reservesRoom = reservesRoom
            disk.limit(to: capacity)
          }
        }
      }
      print("full disks\(reservesRoom ? " with a reserve" : ""): \(total)")
      #expect(total.abortedCommitCount > 0 && total.refusedOpeningCount > 0)
    }
  }
}

/// How many bytes a disk held, at one moment or another.
private final class ByteCounts: Sendable {
  private let counts = Mutex<Set<Int>>([0])
  var ascending: [Int] { counts.withLock { $0.sorted() } }
  func note(_ byteCount: Int) { counts.withLock { _ = $0.insert(byteCount) } }
}
