import QuireStorage
import Synchronization

// The workload runs once. Before each of its operations the disk shows what it holds, and what the
// store has promised by then; from each of these moments come the images of a crash, and each is
// opened, compared and inspected. Then recovery itself, and some commits after it, are run from
// such an image, or from the disk of a system that outlived the process, and crash in turn.

/// Looks for a crash that loses something.
package struct CrashEnumeration {
  /// How much is looked at, for each depth: the crash itself, one in the recovery from it, …
  package struct Budget: Sendable {
    /// The images of a moment; `nil` for all of them.
    package var imageLimits: [Int?]
    /// From every how many moments recovery is run, and crashes in turn.
    package var nestingStrides: [Int]
    /// From every how many moments of the workload there are images, besides those from which
    /// recovery is run.
    package var momentStride = 1

    package init(imageLimits: [Int?], nestingStrides: [Int], momentStride: Int = 1) {
      self.imageLimits = imageLimits
      self.nestingStrides = nestingStrides
      self.momentStride = momentStride
    }

    package static let whole = Budget(imageLimits: [nil, 12, 3], nestingStrides: [1, 10])
    package static let standard = Amount.of(
      debug: Budget(imageLimits: [4, 1, 1], nestingStrides: [48, 60], momentStride: 5),
      release: Budget(imageLimits: [5, 1, 1], nestingStrides: [12, 30]),
      exhaustive: whole)
  }

  package struct Outcome: Sendable {
    /// The images that were opened, by depth.
    package var imageCounts: [Int] = []
    package var pointCount = 0
    package var reasons: Set<SyncReason> = []
    package var failure: Failure?

    package var imageCount: Int { imageCounts.reduce(0, +) }
  }

  package struct Failure: Error, CustomStringConvertible {
    package var scenario: Scenario
    /// Where the crash was; one more for each crash in a recovery.
    package var path: [String]
    package var problem: String

    /// Without the steps.
    package var summary: String { (path + [problem]).joined(separator: ": ") }
    package var description: String { "\(summary)\n\(scenario)" }
  }

  /// A moment at which the disk could die.
  private struct Point: Sendable {
    var state: DiskState
    var oracle: Oracle
    var operation: Int
  }

  private struct Key: Hashable {
    var image: Int
    var oracle: Int
    var isComplete: Bool
  }

  private let scenario: Scenario
  private let ignored: Set<SyncReason>
  private let budget: Budget
  private var outcome = Outcome()
  private var seen: Set<Key> = []
  private var generator: SeededGenerator

  package init(
    _ scenario: Scenario, ignoring ignored: Set<SyncReason> = [], budget: Budget = .standard
  ) {
    self.scenario = scenario
    self.ignored = ignored
    self.budget = budget
    generator = SeededGenerator(seed: scenario.seed)
    outcome.imageCounts = [Int](repeating: 0, count: budget.imageLimits.count)
  }

  /// Goes through all of it, or to the first failure.
  package mutating func run() -> Outcome {
    do {
      try explore(
        scenario, SimulatedDisk(try scenario.files, ignoring: ignored), nil, depth: 0, path: [])
    } catch {
      outcome.failure =
        error as? Failure ?? Failure(scenario: scenario, path: [], problem: "\(error)")
    }
    return outcome
  }

  /// Runs steps on a disk, and crashes before each of the operations.
  private mutating func explore(
    _ steps: Scenario, _ disk: SimulatedDisk, _ oracle: Oracle?, depth: Int, path: [String]
  ) throws {
    let points = try run(steps, on: disk, oracle, path: path)
    if depth == 0 { outcome.pointCount = points.count }
    // Not always the same ones of a recovery, which is short.
    let offset = depth == 0 ? 0 : generator.below(1000)
    for (number, point) in points.enumerated() {
      let place =
        (depth == 0 ? "crash" : "in recovery, crash")
        + " after operation \(point.operation) of \(points.count - 1)"
      let nests =
        depth < budget.nestingStrides.count && number > 0
        && (number + offset) % budget.nestingStrides[depth] == 0
      if depth == 0, !nests, number % budget.momentStride != 0 { continue }
      try visit(point, depth: depth, path: path, place: place, nests: nests)
    }
  }

  private mutating func run(
    _ steps: Scenario, on disk: SimulatedDisk, _ oracle: Oracle?, path: [String]
  ) throws -> [Point] {
    disk.reservesRoom = scenario.reservesRoom
    let run = ScenarioRun(steps, on: disk, from: oracle)
    let recorder = Recorder()
    let shared = run.oracle
    disk.observe { state, operation in
      recorder.add(Point(state: state, oracle: shared.value, operation: operation))
    }
    do {
      try run.run()
    } catch {
      throw Failure(scenario: scenario, path: path + ["without another crash"], problem: "\(error)")
    }
    recorder.add(Point(state: disk.state, oracle: shared.value, operation: disk.operationCount))
    disk.observe(nil)
    run.die()
    outcome.reasons.formUnion(disk.reasons)
    return recorder.points.withLock { $0 }
  }

  private final class Recorder: Sendable {
    let points = Mutex<[Point]>([])
    func add(_ point: Point) { points.withLock { $0.append(point) } }
  }

  private mutating func visit(
    _ point: Point, depth: Int, path: [String], place: String, nests: Bool
  ) throws {
    let fingerprint = point.oracle.fingerprint
    let images = CrashImages(point.state, seed: generator.next())
    // Recovery runs from one image that is drawn, and then from the disk that lived on.
    let drawn = budget.imageLimits[depth].map { generator.below(max(1, min($0, images.count))) }
    var number = 0
    try images.visit(limit: budget.imageLimits[depth]) { image in
      defer { number += 1 }
      let isNew = seen.insert(
        Key(image: image.digest, oracle: fingerprint, isComplete: image.isComplete)
      ).inserted
      guard isNew else { return true }
      outcome.imageCounts[depth] += 1
      let path = path + ["\(place), \(image)"]
      let version: Oracle.Version
      do {
        var check = ImageCheck(
          image, point.oracle, scenario, log: point.state.files[Scenario.path + "-log"],
          seed: generator.next())
        version = try check.run()
      } catch {
        throw Failure(scenario: scenario, path: path, problem: "\(error)")
      }
      if nests, drawn.map({ $0 == number }) ?? (generator.below(100) == 0) {
        var oracle = point.oracle
        // All that there is, is durable; so no crash from here on can take it away.
        oracle.settle(on: version, isDurable: true)
        try explore(
          aftermath(depth), SimulatedDisk(image, ignoring: ignored), oracle, depth: depth + 1,
          path: path)
      }
      return true
    }
    if nests {
      try explore(
        aftermath(depth), SimulatedDisk(point.state, ignoring: ignored), point.oracle,
        depth: depth + 1, path: path + ["\(place), the process alone"])
    }
  }

  /// What is done after a recovery: what the log held before must not come back with it.
  private mutating func aftermath(_ depth: Int) -> Scenario {
    var aftermath = scenario
    let version = 900 + 10 * depth
    let first = generator.below(12)
    aftermath.steps = [
      .put(.records, keys: first..<(first + 3), byteCount: 33, version: version), .commit,
      .put(.index, keys: first..<(first + 5), byteCount: 8, version: version + 1), .commit,
    ]
    if generator.below(3) == 0 { aftermath.steps.append(.reopen) }
    return aftermath
  }
}

extension Oracle {
  /// Equal in one run of a program for oracles that allow the same.
  var fingerprint: Int {
    var hasher = Hasher()
    hasher.combine(isCreated)
    hasher.combine(acknowledged)
    for version in versions { hasher.combine(version.digest.hash) }
    for (path, backup) in backups.sorted(by: { $0.key < $1.key }) {
      hasher.combine(path)
      hasher.combine(backup.isComplete)
    }
    return hasher.finalize()
  }
}

extension CrashEnumeration {
  /// Leaves out steps for as long as the rest still fails: halves first, then single ones.
  ///
  /// - Parameter fails: what is wrong with a scenario, or `nil`.
  package static func shrink(
    _ failure: Failure, attempts: Int = 120, _ fails: (Scenario) -> Failure?
  ) -> Failure {
    var smallest = failure
    var attempts = attempts
    var length = max(1, failure.scenario.steps.count / 2)
    while true {
      var start = 0
      var isSmaller = false
      while start < smallest.scenario.steps.count, attempts > 0 {
        var candidate = smallest.scenario
        let end = min(start + length, candidate.steps.count)
        candidate.steps.removeSubrange(start..<end)
        attempts -= 1
        if let failure = fails(candidate) {
          smallest = failure
          isSmaller = true
        } else {
          start = end
        }
      }
      if attempts == 0 || (length == 1 && !isSmaller) { return smallest }
      if !isSmaller || length > 1 { length = max(1, length / 2) }
    }
  }
}
