import Synchronization

/// Commits that wait for the disk: one of the waiting threads syncs for all who have written.
///
/// While one thread is in the sync, others write their records; when it comes back, the next one
/// syncs for all of them. So the more threads commit, the more commits share a sync.
///
/// Waking a thread takes time in which the disk stands still. So those whom a sync serves and those
/// who need the next one wait apart, and of the latter the first stays awake for a while, to begin
/// at once.
///
/// `@unchecked Sendable`: what is not atomic is touched only while the monitor is locked.
package final class CommitQueue: @unchecked Sendable {
  /// How often the thread that will sync next lets others run before it sleeps.
  private static let patience = 200

  // Who waits for round n waits for condition n % 2: those of the round under way, and of the next.
  private let monitor = Monitor(conditionCount: 2)
  private var round = 0
  private var written: CommitNumber
  private var durable: CommitNumber
  /// The last commit of the round under way, or of the last one.
  private var target: CommitNumber
  private let isSyncing = Atomic(false)
  /// The round that somebody stays awake to begin. Others may begin it first: then it says nothing
  /// about the one after it.
  private var watchedRound = 0
  private var failure: StorageError?

  package init(_ commit: CommitNumber) {
    written = commit
    durable = commit
    target = commit
  }

  /// The last commit known to be on disk.
  package var durableCommit: CommitNumber {
    monitor.lock()
    defer { monitor.unlock() }
    return durable
  }

  /// A commit's record was written; its sync is wanted.
  package func noteWritten(_ commit: CommitNumber) {
    monitor.lock()
    written = max(written, commit)
    monitor.unlock()
  }

  /// Everything up to `commit` is on disk, and nobody has written more.
  ///
  /// Who waits is woken for good: somebody who stays awake to sync next would do nothing now, and
  /// whoever slept behind it would sleep on.
  func noteDurable(_ commit: CommitNumber) {
    monitor.lock()
    written = max(written, commit)
    durable = max(durable, commit)
    monitor.unlock()
    monitor.wakeAll(0)
    monitor.wakeAll(1)
  }

  /// Returns when the commit is on disk.
  ///
  /// - Parameters:
  ///   - sync: makes durable what was written.
  ///   - publish: shows the commits up to the given one to everybody; called by the thread that
  ///     synced, before anybody's wait ends. Returns what goes when the others have been woken.
  /// - Throws: the error of the sync, for everybody who waits and for all who come later.
  package func waitUntilDurable(
    _ commit: CommitNumber, sync: () throws(StorageError) -> Void,
    publish: (CommitNumber) -> [AnyObject]
  ) throws(StorageError) {
    var mayStayAwake = true
    monitor.lock()
    while durable < commit {
      if let failure {
        monitor.unlock()
        throw failure
      }
      if !isSyncing.load(ordering: .relaxed) {
        lead(sync: sync, publish: publish)
      } else if commit <= target {
        monitor.wait(for: round & 1)
      } else if mayStayAwake, watchedRound != round + 1 {
        mayStayAwake = false
        stayAwake()
      } else {
        monitor.wait(for: (round + 1) & 1)
      }
    }
    monitor.unlock()
  }

  /// Syncs for all who have written. The monitor is locked before and afterwards.
  private func lead(
    sync: () throws(StorageError) -> Void, publish: (CommitNumber) -> [AnyObject]
  ) {
    isSyncing.store(true, ordering: .relaxed)
    round += 1
    target = written
    let end = target
    monitor.unlock()
    var error: StorageError?
    var leftovers: [AnyObject] = []
    do throws(StorageError) {
      try sync()
      leftovers = publish(end)
    } catch let cause {
      error = cause
    }
    monitor.lock()
    if let error {
      failure = error
    } else {
      durable = max(durable, end)
    }
    isSyncing.store(false, ordering: .releasing)
    monitor.wakeAll(round & 1)
    if error != nil {
      monitor.wakeAll((round + 1) & 1)
    } else if watchedRound != round + 1 {
      monitor.wakeOne((round + 1) & 1)
    }
    guard !leftovers.isEmpty else { return }
    monitor.unlock()
    leftovers = []
    monitor.lock()
  }

  /// Waits without sleeping until the sync under way ends, or patience does. The monitor is locked
  /// before and afterwards.
  private func stayAwake() {
    let next = round + 1
    watchedRound = next
    monitor.unlock()
    var patience = CommitQueue.patience
    while patience > 0, isSyncing.load(ordering: .acquiring) {
      patience -= 1
      Threads.yield()
    }
    monitor.lock()
    if watchedRound == next { watchedRound = 0 }
  }
}
