/// Commits that wait for the disk: one of the waiting threads syncs for all who have written.
///
/// While one thread is in the sync, others write their records; when it comes back, the next one
/// syncs for all of them. So the more threads commit, the more commits share a sync.
///
/// `@unchecked Sendable`: everything is touched only while the monitor is locked.
final class CommitQueue: @unchecked Sendable {
  private let monitor = Monitor()
  private var written: CommitNumber
  private var durable: CommitNumber
  private var isSyncing = false
  private var failure: StorageError?

  init(_ commit: CommitNumber) {
    written = commit
    durable = commit
  }

  /// The last commit known to be on disk.
  var durableCommit: CommitNumber {
    monitor.lock()
    defer { monitor.unlock() }
    return durable
  }

  /// A commit's record was written; its sync is wanted.
  func noteWritten(_ commit: CommitNumber) {
    monitor.lock()
    written = max(written, commit)
    monitor.unlock()
  }

  /// Everything up to `commit` is on disk.
  func noteDurable(_ commit: CommitNumber) {
    monitor.lock()
    written = max(written, commit)
    durable = max(durable, commit)
    monitor.unlock()
    monitor.wakeAll()
  }

  /// Returns when the commit is on disk.
  ///
  /// - Parameters:
  ///   - sync: makes durable what was written.
  ///   - publish: shows the commits up to the given one to everybody; called by the thread that
  ///     synced, before anybody's wait ends.
  /// - Throws: the error of the sync, for everybody who waits and for all who come later.
  func waitUntilDurable(
    _ commit: CommitNumber, sync: () throws(StorageError) -> Void,
    publish: (CommitNumber) -> Void
  ) throws(StorageError) {
    monitor.lock()
    while true {
      if durable >= commit {
        monitor.unlock()
        return
      }
      if let failure {
        monitor.unlock()
        throw failure
      }
      if isSyncing {
        monitor.wait()
        continue
      }
      isSyncing = true
      let target = written
      monitor.unlock()
      var error: StorageError?
      do throws(StorageError) {
        try sync()
        publish(target)
      } catch let cause {
        error = cause
      }
      monitor.lock()
      isSyncing = false
      if let error {
        failure = error
      } else {
        durable = max(durable, target)
      }
      monitor.wakeAll()
    }
  }
}
