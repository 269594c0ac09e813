import QuireStorage
import Synchronization

/// What a store may hold if its disk died now: one of some versions.
package struct Oracle: Sendable {
  package struct Version: Sendable {
    package var number: Int
    package var model: StoreModel
    package var digest: ContentDigest
  }

  /// Whether creation or a commit returned: from then on the store cannot be missing.
  package var isCreated = false
  /// From the last version that must have survived to the last whose commit was begun.
  package private(set) var versions: [Version]
  /// The place in `versions` of the last commit that returned.
  package private(set) var acknowledged = 0
  /// What the backups that were begun may hold, by their paths, and whether they are complete.
  package private(set) var backups: [String: Backup] = [:]
  /// What the store's own count of commits may not fall below.
  package var leastCommit: CommitNumber?
  private let isEachCommitDurable: Bool

  package struct Backup: Sendable {
    package var digests: [ContentDigest] = []
    /// Whether the backup returned: from then on its file cannot be missing.
    package var isComplete = false
  }

  package init(durability: Durability) {
    isEachCommitDurable = durability == .full
    let empty = StoreModel()
    versions = [Version(number: 0, model: empty, digest: empty.digest)]
  }

  package var newest: Version { versions[acknowledged] }

  package mutating func begin(_ model: StoreModel) {
    let number = versions[versions.count - 1].number + 1
    versions.append(Version(number: number, model: model, digest: model.digest))
  }

  /// The commit that was begun last returned.
  package mutating func acknowledge() {
    acknowledged = versions.count - 1
    if isEachCommitDurable { makeDurable() }
  }

  /// A checkpoint returned: the newest version is on the disk, whatever the durability.
  package mutating func makeDurable() {
    // A commit that changed nothing also returns, and writes nothing.
    isCreated = isCreated || !newest.model.names.isEmpty
    versions.removeFirst(acknowledged)
    acknowledged = 0
  }

  /// A checkpoint of that version returned, while others were committed.
  package mutating func makeDurable(through number: Int) {
    guard let index = versions.firstIndex(where: { $0.number == number }), index <= acknowledged
    else { return }
    isCreated = isCreated || !versions[index].model.names.isEmpty
    versions.removeFirst(index)
    acknowledged -= index
  }

  package mutating func beginBackup(_ path: String) {
    backups[path, default: Backup()].digests.append(newest.digest)
  }

  package mutating func completeBackup(_ path: String) { backups[path]?.isComplete = true }

  /// The commit that was begun last is said to be aborted: it must never be seen.
  package mutating func retract() {
    versions.removeLast(versions.count - 1 - acknowledged)
  }

  /// The store was opened and showed this version: no other can come back.
  package mutating func settle(on version: Version, isDurable: Bool) {
    versions.removeAll { $0.number > version.number }
    acknowledged = versions.count - 1
    if isDurable || isEachCommitDurable { makeDurable() }
  }

  /// The version that a store shows, if it may.
  ///
  /// - Parameter processOnly: whether the process alone died; then nothing that returned is lost.
  package func match(_ digest: ContentDigest, processOnly: Bool) -> Version? {
    versions[(processOnly ? acknowledged : 0)...].last { $0.digest == digest }
  }

  package func mismatch(_ digest: ContentDigest, processOnly: Bool) -> String {
    let allowed = versions[(processOnly ? acknowledged : 0)...]
      .map { "\($0.number) \($0.digest)" }
    return "it shows \(digest), not one of the versions \(allowed.joined(separator: ", "))"
  }
}

/// An oracle that the engine's threads may look at, through an observer of the disk, while the
/// workload's thread changes it.
package final class SharedOracle: Sendable {
  private let oracle: Mutex<Oracle>

  package init(_ oracle: Oracle) { self.oracle = Mutex(oracle) }

  package var value: Oracle { oracle.withLock { $0 } }

  package func change(_ body: (inout Oracle) -> Void) { oracle.withLock { body(&$0) } }
}

/// Something that must never be.
package struct Violation: Error, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }
}
