import QuireStorage

/// One step of a workload. Workloads are data, so that they can be drawn by a seed, printed, and
/// made shorter while they still fail.
///
/// Every step makes sense after any other: one that has nothing to do does nothing. So any part of
/// a workload is a workload. A new kind of step needs a case here, what it does to the content in
/// ``StoreModel/apply(_:)`` if it does anything, how it is done in ``perform(in:)`` (inside a
/// transaction) or ``ScenarioRun/perform(_:)`` (between two), and a line in
/// ``Scenario/random(seed:)`` and ``Scenario/scripted``.
package enum Step: Hashable, Sendable {
  // Inside a transaction, which the first of them begins.

  /// Entries with keys in a range; the tree is made if it is missing.
  case put(TreeName, keys: Range<Int>, byteCount: Int, version: Int)
  case remove(TreeName, keys: Range<Int>)
  case drop(TreeName)
  /// To a name that is free; a tree keeps its kind.
  case rename(TreeName, to: TreeName)

  // Between transactions; one that is open is committed first.

  case commit
  case abort
  case checkpoint
  /// A clean close, then opening again.
  case reopen
  /// The process dies and another one opens the store; the system goes on.
  case die
  /// Holds a snapshot, which must show the same to its end; at most one is held.
  case hold
  case release
}

extension Step {
  package enum TreeName: String, Hashable, Sendable, CaseIterable {
    case records, otherRecords, index, otherIndex

    package var isIndex: Bool { self == .index || self == .otherIndex }
    package var other: TreeName {
      switch self {
      case .records: .otherRecords
      case .otherRecords: .records
      case .index: .otherIndex
      case .otherIndex: .index
      }
    }
  }

  /// The bytes of an index key, of a length of its own, so that nodes are not all alike.
  package static func indexKey(_ key: Int) -> [UInt8] {
    [UInt8(key * 37 & 255), UInt8(truncatingIfNeeded: key >> 8), UInt8(truncatingIfNeeded: key)]
      + [UInt8](repeating: 0x61, count: key % 11)
  }

  /// A value that tells which one it is: a wrong one can then not be taken for the right one.
  package static func value(key: Int, byteCount: Int, version: Int) -> [UInt8] {
    var value = [UInt8](
      repeating: UInt8(truncatingIfNeeded: version &* 31 &+ key), count: byteCount)
    if byteCount > 3 {
      value[0] = UInt8(truncatingIfNeeded: version)
      value[1] = UInt8(truncatingIfNeeded: version >> 8)
      value[byteCount - 1] = UInt8(truncatingIfNeeded: key)
    }
    return value
  }
}

/// Steps, and the options of the store they are for: a workload as data.
package struct Scenario: Sendable, CustomStringConvertible {
  package var steps: [Step]
  package var seed: UInt64
  package var pageSize = 512
  package var checkpointByteLimit = 10 << 10
  package var durability = Durability.full

  package init(_ steps: [Step], seed: UInt64 = 0) {
    self.steps = steps
    self.seed = seed
  }

  package var description: String {
    "seed \(seed), pages of \(pageSize) bytes, checkpoints at \(checkpointByteLimit): "
      + "\(steps.count) steps\n  " + steps.map { "\($0)" }.joined(separator: "\n  ")
  }

  /// Everything once: creation, commits, overflow values, checkpoints that the log's limit starts,
  /// an abort, a clean close, a death, a dropped and a renamed tree, pages used again.
  package static let scripted = Scenario([
    .put(.records, keys: 0..<14, byteCount: 20, version: 1),
    .put(.index, keys: 0..<14, byteCount: 3, version: 1), .commit,
    .put(.records, keys: 6..<9, byteCount: 1400, version: 2), .commit, .hold, .checkpoint,
    .put(.records, keys: 8..<20, byteCount: 30, version: 3), .commit,
    .remove(.records, keys: 0..<7), .put(.otherIndex, keys: 0..<6, byteCount: 40, version: 3),
    .commit, .reopen,
    .put(.records, keys: 40..<44, byteCount: 700, version: 4), .commit,
    .drop(.index), .put(.records, keys: 50..<52, byteCount: 9, version: 5), .abort,
    .rename(.otherIndex, to: .index), .remove(.records, keys: 6..<9), .commit, .die,
    .put(.index, keys: 3..<30, byteCount: 12, version: 6), .commit, .release,
    .drop(.records), .commit,
    .put(.records, keys: 0..<10, byteCount: 60, version: 7), .commit,
    .put(.records, keys: 0..<10, byteCount: 60, version: 8), .commit, .reopen,
  ])

  package static func random(seed: UInt64) -> Scenario {
    var generator = SeededGenerator(seed: seed)
    var workload = Scenario([], seed: seed)
    workload.pageSize = [512, 512, 1024, 4096][generator.below(4)]
    workload.checkpointByteLimit = workload.pageSize * (4 + generator.below(20))
    for version in 1...(3 + generator.below(5)) {
      for _ in 0...generator.below(3) {
        workload.steps.append(change(version, workload.pageSize, &generator))
      }
      workload.steps.append(generator.below(8) == 0 ? .abort : .commit)
      switch generator.below(14) {
      case 0, 1: workload.steps.append(.checkpoint)
      case 2: workload.steps.append(.reopen)
      case 3: workload.steps.append(.die)
      case 4: workload.steps.append(.hold)
      case 5: workload.steps.append(.release)
      default: break
      }
    }
    if generator.below(2) == 0 { workload.steps.append(.reopen) }
    return workload
  }

  private static func change(
    _ version: Int, _ pageSize: Int, _ generator: inout SeededGenerator
  ) -> Step {
    let tree = Step.TreeName.allCases[generator.below(4)]
    let first = generator.below(40)
    switch generator.below(12) {
    case 0...5:
      return .put(
        tree, keys: first..<(first + 1 + generator.below(20)), byteCount: generator.below(60),
        version: version)
    case 6, 7:
      return .put(
        tree, keys: first..<(first + 1 + generator.below(3)),
        byteCount: pageSize / 5 + generator.below(3 * pageSize), version: version)
    case 8, 9: return .remove(tree, keys: first..<(first + 1 + generator.below(30)))
    case 10: return .drop(tree)
    default: return .rename(tree, to: tree.other)
    }
  }
}
