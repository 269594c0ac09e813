/// A commit whose record is written. It counts when it is on disk.
///
/// The next writer is let in already.
package struct WrittenCommit {
  /// The number of the commit, or of the one before it when nothing was changed.
  package let number: CommitNumber
  private let core: StoreCore
  private let version: PageSpace
  /// `nil` if there is nothing to wait for.
  private let pending: StoreCore.Pending?

  init(
    _ core: StoreCore, _ number: CommitNumber, _ version: PageSpace, _ pending: StoreCore.Pending?
  ) {
    (self.core, self.number, self.version, self.pending) = (core, number, version, pending)
  }

  /// - Throws: the error of the sync, when it is unknown whether the commit reached the disk.
  package func waitUntilDurable() throws(StorageError) {
    if let pending { try core.waitUntilDurable(number, pending) }
  }

  /// Calls `body` instead of letting a thread wait: on this one before the function returns, or on
  /// another one at any time.
  ///
  /// - Parameter body: gets the error of the sync, if there was one.
  package func whenDurable(_ body: @escaping @Sendable (StorageError?) -> Void) {
    guard let pending else { return body(nil) }
    core.whenDurable(number, pending, body)
  }

  /// The store as the commit left it, when it is durable.
  package func show(file: StaticString = #fileID, line: UInt = #line) -> Snapshot {
    Snapshot(core.sameVersion(as: version, for: SnapshotHolder(file: file, line: line)))
  }
}
