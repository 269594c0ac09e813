/// A commit whose record is written. It counts when it is on disk.
///
/// The next writer is let in already.
package struct WrittenCommit {
  /// The number of the commit, or of the one before it when nothing was changed.
  package let number: CommitNumber
  private let core: StoreCore
  private let version: PageSpace
  /// The log to sync; `nil` if there is nothing to wait for.
  private let syncing: LogWriter?

  init(_ core: StoreCore, _ number: CommitNumber, _ version: PageSpace, _ syncing: LogWriter?) {
    (self.core, self.number, self.version, self.syncing) = (core, number, version, syncing)
  }

  /// - Throws: the error of the sync, when it is unknown whether the commit reached the disk.
  package func waitUntilDurable() throws(StorageError) {
    if let syncing { try core.waitUntilDurable(number, in: syncing) }
  }

  /// Calls `body` instead of letting a thread wait: on this one before the function returns, or on
  /// another one at any time.
  ///
  /// - Parameter body: gets the error of the sync, if there was one.
  package func whenDurable(_ body: @escaping @Sendable (StorageError?) -> Void) {
    guard let syncing else { return body(nil) }
    core.whenDurable(number, in: syncing, body)
  }

  /// The store as the commit left it, when it is durable.
  package func show(file: StaticString = #fileID, line: UInt = #line) -> Snapshot {
    Snapshot(core.sameVersion(as: version, for: SnapshotHolder(file: file, line: line)))
  }
}
