import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Random operations on a store in memory and one in files, compared with sorted dictionaries.
///
/// `QUIRE_OPERATIONS` sets how many; the default is some ten thousand, or ten million with
/// `QUIRE_EXHAUSTIVE=1`. `QUIRE_SEED` makes every run begin with another seed. A failure prints the
/// seed, the page size, and the shortest list of operations that still fails, to be pasted below.
@Suite struct `Stores against sorted dictionaries` {
  private static let operationCount =
    environmentValue("QUIRE_OPERATIONS").flatMap(Int.init)
    ?? Amount.of(debug: 2_800, release: 30_000, exhaustive: 10_000_000)
  private static let firstSeed = environmentValue("QUIRE_SEED").flatMap(UInt64.init) ?? 1
  private static let pageSizes = [512, 1024, 4096, 16_384]
  /// The operations of one store's life: enough for some depth, few enough to shrink.
  private static let lifeLength = Amount.of(sampled: 1800, exhaustive: 20_000)
  private static let tally = Mutex((operationCount: 0, start: ContinuousClock.Instant?.none))

  @Test(arguments: pageSizes, KeyShape.allCases)
  func `every answer is the model's`(pageSize: Int, shape: KeyShape) throws {
    Self.tally.withLock { $0.start = $0.start ?? .now }
    let share = Self.operationCount / (Self.pageSizes.count * KeyShape.allCases.count) + 1
    let clock = ContinuousClock.now
    var done = 0
    var seed = Self.firstSeed &* 1_000_003 &+ UInt64(pageSize) &* 31
    while done < share {
      let count = min(Self.lifeLength, share - done)
      let configuration = ModelConfiguration(pageSize: pageSize, shape: shape, seed: seed)
      let run = OperationRun(
        configuration,
        OperationGenerator.operations(seed: seed, count: count, configuration))
      // Said before, for a trap leaves no time to say it.
      if done == 0 { print("model run: page size \(pageSize), \(shape) keys, seeds from \(seed)") }
      if let failure = run.failure() {
        report(failure, of: run, seed: seed)
        return
      }
      done += count
      seed &+= 1
    }
    let time = ContinuousClock.now - clock
    Self.tally.withLock { tally in
      tally.operationCount += done
      let total = tally.start.map { $0.duration(to: .now) } ?? .zero
      print(
        "model: page size \(pageSize), \(shape) keys: \(done) operations in \(time); "
          + "all together \(tally.operationCount) in \(total), "
          + "\(Int(Double(tally.operationCount) / (total / .seconds(1)))) a second")
    }
  }

  /// Shrinks the run and records it.
  private func report(_ failure: OperationRun.Failure, of run: OperationRun, seed: UInt64) {
    var shrinker = OperationShrinker([StoreOperation](run.operations.prefix(failure.index + 1))) {
      OperationRun(run.configuration, $0).failure() != nil
    }
    shrinker.shrink()
    let shrunk = OperationRun(run.configuration, shrinker.operations)
    func brief(_ failure: OperationRun.Failure?) -> String {
      guard let failure else { return "nothing, this time" }
      // An inspection may find a hundred things; the first few say what kind.
      return failure.description.split(separator: "\n").prefix(4).joined(separator: "\n")
    }
    Issue.record(
      """
      seed \(seed), page size \(run.configuration.pageSize): operation \(failure.index) of \
      \(run.operations.count) failed: \(brief(failure))
      \(shrinker.operations.count) operations are left after \(shrinker.attemptCount) attempts, \
      which fail with: \(brief(shrunk.failure()))
      \(shrunk.source)
      """)
  }
}

/// Runs that failed once, as the shrinker left them.
@Suite struct `Operations that went wrong once` {
  private func expectAgreement(_ run: OperationRun) {
    let failure = run.failure()
    #expect(failure == nil, "\(failure?.description ?? "")")
  }
}

/// The shrinker itself: what finds bugs must be known to work.
@Suite struct `Shrinking` {
  @Test func `a failure is shrunk to the operations it needs`() {
    let configuration = ModelConfiguration(pageSize: 512, shape: .random, files: .none)
    var operations = OperationGenerator.operations(seed: 5, count: 500, configuration)
    operations.insert(.put(tree: 0, key: 7, byteCount: 900, fill: 3), at: 100)
    operations.insert(.removeRun(tree: 1, key: 7, count: 20), at: 400)
    // It fails when a long value comes before a long run of removals.
    func fails(_ operations: [StoreOperation]) -> Bool {
      var hasLong = false
      for operation in operations {
        switch operation {
        case .put(_, key: 7, let byteCount, _) where byteCount >= 500: hasLong = true
        case .removeRun(_, key: 7, let count) where count > 3 && hasLong: return true
        default: break
        }
      }
      return false
    }
    #expect(fails(operations))
    var shrinker = OperationShrinker(operations, fails: fails)
    shrinker.shrink()
    #expect(
      shrinker.operations == [
        .put(tree: 0, key: 7, byteCount: 500, fill: 0), .removeRun(tree: 1, key: 7, count: 4),
      ])
  }

  @Test func `a wrong answer is noticed`() throws {
    // The oracle is told of an entry that no store was: the machine must object.
    let configuration = ModelConfiguration(pageSize: 512, shape: .tiny)
    let machine = try OperationMachine(configuration)
    try machine.apply(.create(tree: 0, .record))
    try machine.apply(.put(tree: 0, key: 1, byteCount: 3, fill: 9))
    machine.deceive(tree: 0, TreeOracle.Entry(key: 1, byteCount: 3, fill: 10))
    #expect(throws: OperationMachine.Mismatch.self) {
      try machine.apply(.get(.working, tree: 0, key: 1))
    }
    #expect(throws: OperationMachine.Mismatch.self) {
      try machine.apply(.scan(.working, tree: 0, backward: true))
    }
    #expect(throws: OperationMachine.Mismatch.self) {
      try machine.apply(.seekBefore(.working, tree: 0, key: 1, isBetween: true, steps: 0))
    }
  }

  @Test func `a run is printed as source`() {
    let configuration = ModelConfiguration(pageSize: 1024, shape: .edges, seed: 3)
    let run = OperationRun(
      configuration, [.create(tree: 0, .index), .get(.held(2), tree: 0, key: 1), .commit])
    #expect(run.source.contains("ModelConfiguration("))
    #expect(run.source.contains(".create(tree: 0, .index),\n"))
    #expect(run.source.contains(".get(.held(2), tree: 0, key: 1),\n"))
  }
}
