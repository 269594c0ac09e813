import QuireStorage
import Synchronization

/// Threads that do everything to one store at once: commits, aborts, snapshots read at once and
/// late, checkpoints, backups, compactions, inspections, and at the end a close while others read.
///
/// Each round has its own limits, most of them next to nothing, and its own durability; all follow
/// from the seed, but not what the threads make of them. What the store holds follows from the
/// number of its last commit (``NumberedContent``), so that every reader knows what is right.
package final class Stress: Sendable {
  package struct Counts: Sendable, CustomStringConvertible {
    package var rounds = 0
    package var commits = 0
    package var verified = 0
    package var expired = 0
    package var backups = 0
    package var compactions = 0
    package var checks = 0

    package var description: String {
      "\(rounds) rounds, \(commits) commits, \(verified) snapshots verified and \(expired) expired, "
        + "\(backups) backups, \(compactions) compactions, \(checks) inspections"
    }
  }

  private struct State {
    var counts = Counts()
    var failure: String?
    /// The last commit of ours that returned.
    var acknowledged: Int64 = 0
  }

  private let seed: UInt64
  private let fileSystem: any FileSystem
  private let path: String
  private let options: PageStoreOptions
  private let end: ContinuousClock.Instant
  private let state = Mutex(State())
  private let hasFailed = Atomic(false)

  private init(
    seed: UInt64, on fileSystem: any FileSystem, path: String, end: ContinuousClock.Instant
  ) {
    self.seed = seed
    self.path = path
    self.end = end
    var generator = SeededGenerator(seed: seed)
    var options = PageStoreOptions()
    options.pageSize = [512, 1024, 4096][generator.below(3)]
    options.durability = [.full, .full, .ordered, .none][generator.below(4)]
    options.cacheByteLimit = [0, 0, 100_000, 64 << 20][generator.below(4)]
    options.checkpointByteLimit = [0, 50_000, 200_000, 64 << 20][generator.below(4)]
    options.transactionByteLimit = [0, 100_000, 128 << 20][generator.below(3)]
    options.retainedByteLimit = [0, 20_000, 1_000_000, 256 << 20][generator.below(4)]
    options.imageByteLimit = [0, 1 << 20][generator.below(2)]
    options.checkpointsInBackground = generator.below(5) > 0
    self.options = options
    let recordCount = [0, 3, 10][generator.below(3)]
    self.fileSystem =
      recordCount == 0
      ? fileSystem
      : SlowDisk(fileSystem, recordCount: recordCount, patience: .milliseconds(20)) {
        // Threads that commit share a sync; it need not take long.
        $0 != .commit
      }
  }

  /// Rounds of a second, each on a store of its own, until the time is over.
  ///
  /// - Parameter path: the beginning of the stores' paths.
  /// - Throws: ``Violation`` with the seed of the round.
  package static func run(
    seed: UInt64, on fileSystem: any FileSystem, path: String, for duration: Duration
  ) throws -> Counts {
    var counts = Counts()
    let end = ContinuousClock.now + duration
    var round = seed
    while ContinuousClock.now < end {
      let stress = Stress(
        seed: round, on: fileSystem, path: "\(path)-\(round)",
        end: min(end, ContinuousClock.now + .seconds(1)))
      let done = try stress.run()
      counts.rounds += 1
      counts.commits += done.commits
      counts.verified += done.verified
      counts.expired += done.expired
      counts.backups += done.backups
      counts.compactions += done.compactions
      counts.checks += done.checks
      round += 1
    }
    return counts
  }

  private var isOver: Bool { hasFailed.load(ordering: .relaxed) || ContinuousClock.now >= end }

  private func attempt(_ task: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      hasFailed.store(true, ordering: .relaxed)
      state.withLock {
        $0.failure = $0.failure ?? "\(task), seed \(seed), \(options): \(error)"
      }
    }
  }

  private func run() throws -> Counts {
    defer { removeFiles() }
    let store = try PageStore.open(path, options: options, in: fileSystem)
    var bodies: [@Sendable () -> Void] = []
    for number in 0..<4 as Range<UInt64> {
      bodies.append { self.attempt("writing") { try self.write(store, number) } }
    }
    for number in 4..<7 as Range<UInt64> {
      bodies.append { self.attempt("reading") { try self.read(store, number) } }
    }
    bodies.append { self.attempt("housekeeping") { try self.keepHouse(store) } }
    Threads.run(bodies)
    attempt("closing") {
      let late = try store.snapshot()
      Threads.run([
        { self.attempt("closing") { try store.close() } },
        { self.attempt("reading while it closes") { _ = try self.isShown(late) } },
      ])
      try verifyFile(path, notBefore: state.withLock { $0.acknowledged })
    }
    return try state.withLock { state in
      if let failure = state.failure { throw Violation(failure) }
      return state.counts
    }
  }

  private func removeFiles() {
    for file in (try? fileSystem.paths(beginningWith: path)) ?? [] {
      try? fileSystem.remove(file)
    }
  }

  // MARK: Threads

  private func write(_ store: PageStore, _ number: UInt64) throws {
    var generator = SeededGenerator(seed: seed &* 100 &+ number)
    while !isOver {
      let transaction = try store.beginWrite()
      do {
        let last = try NumberedContent.change(transaction)
        if generator.below(12) == 0 {
          transaction.abort()
          continue
        }
        try transaction.commit()
        state.withLock { state in
          state.acknowledged = max(state.acknowledged, last)
          state.counts.commits += 1
        }
      } catch StorageError.transactionTooLarge {
        transaction.abort()
      }
    }
  }

  private func read(_ store: PageStore, _ number: UInt64) throws {
    var generator = SeededGenerator(seed: seed &* 100 &+ number)
    var held: [Snapshot] = []
    while !isOver {
      let snapshot = try store.snapshot()
      _ = try isShown(snapshot)
      if generator.below(3) == 0 { held.append(snapshot) }
      if held.count > 4 { _ = try isShown(held.remove(at: generator.below(held.count))) }
    }
    for snapshot in held { _ = try isShown(snapshot) }
  }

  /// Whether a snapshot can be read still; then it shows what it must.
  private func isShown(_ snapshot: Snapshot) throws -> Bool {
    do {
      try NumberedContent.verify(snapshot)
      state.withLock { $0.counts.verified += 1 }
      return true
    } catch StorageError.closed {
      return false
    } catch StorageError.snapshotExpired where options.retainedByteLimit < 256 << 20 {
      state.withLock { $0.counts.expired += 1 }
      return false
    }
  }

  private func keepHouse(_ store: PageStore) throws {
    var generator = SeededGenerator(seed: ~seed)
    while !isOver {
      switch generator.below(8) {
      case 0, 1: try store.checkpoint()
      case 2: try store.removeLog()
      case 3:
        try store.compact()
        state.withLock { $0.counts.compactions += 1 }
      case 4, 5:
        let backup = path + "-backup"
        let before = state.withLock { $0.acknowledged }
        try store.backUp(to: backup, in: fileSystem)
        try verifyFile(backup, notBefore: before)
        try fileSystem.remove(backup)
        state.withLock { $0.counts.backups += 1 }
      case 6: store.limitCache(to: generator.below(2) == 0 ? 0 : nil)
      default:
        let report = try store.check()
        guard report.isSound else { throw Violation("open: \(report)") }
        state.withLock { $0.counts.checks += 1 }
      }
    }
  }

  /// Opens a closed store, and looks at everything in it.
  private func verifyFile(_ path: String, notBefore acknowledged: Int64) throws {
    var options = options
    options.retainedByteLimit = 256 << 20
    let store = try PageStore.open(path, options: options, in: fileSystem)
    let last = try NumberedContent.verify(try store.snapshot())
    guard last >= acknowledged else {
      throw Violation("\(path): commit \(acknowledged) returned, the last is \(last)")
    }
    let report = try store.check()
    guard report.isSound else { throw Violation("\(path): \(report)") }
    try store.close()
  }
}
