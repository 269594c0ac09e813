extension SimulatedDisk {
  /// What happens instead of an operation that changes something: a write, a sync, a name.
  package enum Fault: String, CaseIterable, Sendable {
    case ioError, noSpace, shortWrite, shortWriteNoSpace

    /// Whether half of a write arrives before the error.
    var isShort: Bool { self == .shortWrite || self == .shortWriteNoSpace }
    package var isNoSpace: Bool { self == .noSpace || self == .shortWriteNoSpace }
  }

  /// What happens instead of an operation that only looks: opening, reading, asking for a length, a
  /// name or a lock.
  package enum QueryFault: String, CaseIterable, Sendable {
    case ioError
    /// A read ends half-way, as if the file did.
    case shortRead
  }

  /// What a failed sync does to the writes it was for, after Rebello et al., "Can Applications
  /// Recover from fsync Failures?" (USENIX ATC 2020). What all three share: the pages are marked
  /// clean, so a second sync succeeds and writes nothing.
  package enum SyncFailureModel: String, CaseIterable, Sendable {
    /// The sync says that it failed; the writes go on waiting, as every manual makes one believe.
    case retained
    /// The new content stays in the cache, where reads find it, and never reaches the disk unless
    /// its page is written again (data=ordered).
    case ext4
    /// As ext4; then the file system shuts down: nothing but reading works until it is mounted
    /// again, and what was only in the cache is gone.
    case xfs
    /// The content becomes what it was before.
    case btrfs
  }

  /// Which operation fails, and how.
  package struct FaultPlan: Sendable, CustomStringConvertible {
    package var operation: Int
    package var fault: Fault
    /// Whether everything after it fails too.
    package var isForGood = false
    /// Whether syncs alone fail.
    package var onlySyncs = false

    package init(
      operation: Int, _ fault: Fault, isForGood: Bool = false, onlySyncs: Bool = false
    ) {
      self.operation = operation
      self.fault = fault
      self.isForGood = isForGood
      self.onlySyncs = onlySyncs
    }

    func hits(_ number: Int, isSync: Bool) -> Bool {
      guard !onlySyncs || isSync else { return false }
      return isForGood ? number >= operation : number == operation
    }

    package var description: String {
      "\(fault) at operation \(operation)\(isForGood ? " and from there on" : "")"
        + (onlySyncs ? ", syncs only" : "")
    }
  }
}
