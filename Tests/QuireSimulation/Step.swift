import QuireStorage

/// One step of a workload. Workloads are data, so that they can be drawn by a seed, printed, and
/// made shorter while they still fail.
///
/// Every step makes sense after any other: one that has nothing to do does nothing. So any part of
/// a workload is a workload. A new kind of step needs a case here, what it does to the content in
/// ``StoreModel/apply(_:)`` if it does anything, how it is done in ``perform(in:)`` (inside a
/// transaction) or ``ScenarioRun/perform(_:)`` (between two), and a line in
/// ``Scenario/random(seed:)`` and ``Scenario/scripted``.
package indirect enum Step: Hashable, Sendable {
  // Inside a transaction, which the first of them begins.

  /// Entries with keys in a range; the tree is made if it is missing.
  case put(TreeName, keys: Range<Int>, byteCount: Int, version: Int)
  case remove(TreeName, keys: Range<Int>)
  case drop(TreeName)
  /// To a name that is free; a tree keeps its kind.
  case rename(TreeName, to: TreeName)
  /// A tree of entries with keys in a range, built in order, in place of one that is there.
  ///
  /// From 512 pages on they go around the log; a value that long makes one of few entries.
  case build(TreeName, keys: Range<Int>, byteCount: Int, version: Int)
  /// Builds a tree of the same keys and other values beside one, drops that, and takes its name.
  case flip(TreeName, version: Int)

  // Between transactions; one that is open is committed first.

  case commit
  case abort
  case checkpoint
  /// The parts of a checkpoint, for what may happen between them; who must wait for one that is
  /// begun writes it.
  case beginCheckpoint
  case writeCheckpoint
  case completeCheckpoint
  /// A checkpoint, and before each operation of the disk that it is made of, one of these steps: as
  /// on a thread of their own. Only changes of trees, commits, aborts, and snapshots can be.
  case overlap([Step])
  case compact
  /// The log goes, as when nobody writes for a while.
  case removeLog
  /// A backup to a file with that number, if there is none yet.
  case backUp(Int)
  /// A clean close, then opening again.
  case reopen
  /// The process dies and another one opens the store; the system goes on.
  case die
  /// Holds one more snapshot, which must show the same to its end; the oldest of four goes.
  case hold
  /// Lets go of the oldest.
  case release

  // Anywhere.

  /// A child is made by `fork`, and tries all that it must not.
  case fork

  /// Whether the step is one that another thread could do beside a checkpoint.
  var goesBesideCheckpoint: Bool {
    switch self {
    case .put, .remove, .drop, .rename, .build, .flip, .commit, .abort, .hold, .release: true
    case .checkpoint, .beginCheckpoint, .writeCheckpoint, .completeCheckpoint, .overlap, .compact,
      .removeLog, .backUp, .reopen, .die, .fork:
      false
    }
  }
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

  /// What a flip makes of a value.
  package static func flipped(_ old: [UInt8], version: Int) -> [UInt8] {
    let last = old.last ?? 0
    var value = [UInt8](
      repeating: UInt8(truncatingIfNeeded: version &* 29 &+ Int(last)), count: max(2, old.count))
    value[0] = UInt8(truncatingIfNeeded: version)
    value[value.count - 1] = last
    return value
  }
}
