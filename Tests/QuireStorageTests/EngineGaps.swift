import QuireSimulation
import QuireStorage

/// What the engine is known to lack. A constant goes, with what it excuses, when the engine has it;
/// until then a test of its own shows the gap.
enum EngineGaps {
  /// A process dies between writing a clean meta page and syncing it, or the sync fails. The next
  /// opening reads the page from the cache, believes the store closed, and empties the log for its
  /// first commit, while the meta page that the disk has still needs what was in it.
  static let trustsUnsyncedMeta = false

  /// Whether a state of the disk is one in which that gap shows.
  static func excuse(_ state: DiskState, _ scenario: Scenario) -> Bool {
    let meta = scenario.pageSize..<(3 * scenario.pageSize)
    return trustsUnsyncedMeta && state.isPending(Scenario.path, meta)
  }

  /// Recovery writes the log once more to where it is. A disk that spoils the sector it writes when
  /// the power fails then takes commits that were safe.
  static let rewritesLogInPlace = false

  /// A page is known by its checksum, its place and its store, not by its time: a write that the
  /// disk lost leaves an old page that looks right.
  static let trustsStalePages = false

  /// A sync that fails for want of space (`ENOSPC`) makes the commit throw `.noSpaceLeft`, which
  /// promises an aborted transaction and a usable store, while the store is poisoned.
  static let callsFailedSyncNoSpace = false

  /// Whether `.ordered` keeps its promise; now it is as good as `.none`.
  static let keepsOrder = true
}

extension CrashEnumeration {
  /// What the engine is known to lack is not looked for.
  static func excusing(
    _ scenario: Scenario, ignoring ignored: Set<SyncReason> = [], budget: Budget = .standard
  ) -> CrashEnumeration {
    var enumeration = CrashEnumeration(scenario, ignoring: ignored, budget: budget)
    enumeration.sparesUnchanged = EngineGaps.rewritesLogInPlace
    enumeration.omitsSurvivor = { EngineGaps.excuse($0, scenario) }
    return enumeration
  }
}
