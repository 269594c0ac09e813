import QuireStorage
import Synchronization

/// A scenario in one process, and a reader in another that follows it. Both act at any moment: the
/// writer between two reads of the reader, the reader between two operations of the writer.
///
/// One thing is asserted: whatever the reader is shown is a state that the store had, as a whole;
/// and no older one than it had when the reader asked.
///
/// `@unchecked Sendable`: all of it happens on one thread.
package final class FollowedRun: @unchecked Sendable {
  private let run: ScenarioRun
  private let disk: SimulatedDisk
  private let other: OtherProcess
  private var steps: ArraySlice<Step>
  private var generator: SeededGenerator
  private var reader: PageStore?
  /// What snapshots showed that are still held.
  private var held: [(snapshot: Snapshot, digest: ContentDigest)] = []
  /// The states of the store so far.
  private var states: [ContentDigest]
  private var failure: (any Error)?
  private var isActing = false

  /// How often the reader was shown a state, and of these a later one than the time before.
  package private(set) var looks = (count: 0, later: 0, refused: 0)

  package init(_ scenario: Scenario, seed: UInt64) throws {
    disk = SimulatedDisk(try scenario.files)
    other = OtherProcess(disk)
    run = ScenarioRun(scenario, on: disk)
    steps =
      scenario.steps.filter {
        switch $0 {
        case .overlap, .fork: false
        default: true
        }
      }[...]
    generator = SeededGenerator(seed: seed)
    states = [ContentDigest()]
  }

  package func play() throws {
    try run.open(processOnly: true)
    states = [run.oracle.value.newest.digest]
    disk.interpose { [unowned self] in betweenOperations() }
    other.beforeEachRead { [unowned self] in betweenReads() }
    defer {
      disk.interpose(nil)
      other.beforeEachRead(nil)
    }
    while !steps.isEmpty {
      if generator.below(3) > 0 { try perform() } else { try look() }
      if let failure { throw failure }
    }
    // At rest, nothing is refused and nothing is old.
    disk.interpose(nil)
    other.beforeEachRead(nil)
    held = []
    try look()
    if let failure { throw failure }
    try run.verify()
    let report = try reader?.check()
    if let report, !report.isSound { throw Violation("to the reader it is not sound: \(report)") }
  }

  private func perform() throws {
    guard let step = steps.popFirst() else { return }
    try run.perform(step)
    states.append(run.oracle.value.newest.digest)
  }

  /// The writer acts while the reader reads.
  private func betweenReads() {
    guard !isActing, failure == nil, generator.below(6) == 0 else { return }
    isActing = true
    defer { isActing = false }
    do {
      for _ in 0...generator.below(3) { try perform() }
    } catch {
      failure = error
    }
  }

  /// The reader looks while the writer writes.
  private func betweenOperations() {
    guard !isActing, failure == nil, reader != nil, generator.below(4) == 0 else { return }
    isActing = true
    defer { isActing = false }
    do {
      // Opened between steps alone: in one process, no store is opened while another is.
      try look()
    } catch {
      failure = error
    }
  }

  private func look() throws {
    let first = states.count - 1
    do {
      if !isActing, reader == nil || generator.below(12) == 0 { try open() }
      guard let reader else { return }
      let snapshot = try reader.snapshot()
      let digest = try ContentDigest(of: snapshot)
      var possible = states[first...]
      // One that is on its way may be visible already.
      if let begun = run.oracle.value.versions.last { possible.append(begun.digest) }
      guard possible.contains(digest) else {
        let which = states.lastIndex(of: digest).map { "state \($0)" } ?? "no state at all"
        throw Violation(
          "the reader is shown \(which) in commit \(snapshot.commitNumber), \(digest), "
            + "and \(first) to \(states.count - 1) were there: \(possible)")
      }
      looks.count += 1
      if held.last?.digest != digest { looks.later += 1 }
      try lookBack()
      if generator.below(2) == 0 { held.append((snapshot, digest)) }
      if held.count > 3 { held.removeFirst() }
    } catch StorageError.snapshotTooOld {
      looks.refused += 1
    } catch StorageError.notFound {
      // The writer has not come that far.
      guard reader == nil else { throw Violation("the store is not found") }
    }
  }

  /// What snapshots that are held show is what they showed, or too old.
  private func lookBack() throws {
    for (snapshot, digest) in held {
      do {
        let now = try ContentDigest(of: snapshot)
        guard now == digest else {
          throw Violation(
            "a snapshot of commit \(snapshot.commitNumber) shows \(now), and showed \(digest)")
        }
      } catch StorageError.snapshotTooOld {
        looks.refused += 1
      } catch StorageError.snapshotExpired {}
    }
  }

  private func open() throws {
    isActing = true
    defer { isActing = false }
    held = []
    try reader?.close()
    reader = nil
    var options = run.options
    options.isReadOnly = true
    if generator.below(2) == 0 { options.cacheByteLimit = 0 }
    reader = try PageStore.open(Scenario.path, options: options, in: other)
  }
}
