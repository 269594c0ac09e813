import Synchronization

/// Commits that wait for the disk: one of the waiting threads syncs for all that have written.
///
/// While one thread syncs, others write their records; after that, the next one syncs for all of
/// them. So the more threads commit, the more commits share a sync.
///
/// Waking a thread takes time in which the disk is idle. So the threads that are served by a sync
/// and those that need the next one wait separately, and the first of the latter stays awake for a
/// while, to begin at once.
///
/// Commits of asynchronous functions wait without a thread: a function is called when they are on
/// disk. The first of them syncs by itself, on the thread that it has. For those that come while a
/// sync is under way a thread of the pool syncs, one time after the other, until none is left: it
/// needs not be woken in between.
///
/// `@unchecked Sendable`: mutable state that is not atomic is accessed only with the monitor
/// locked.
package final class CommitQueue: @unchecked Sendable {
  /// The number of times that the thread which syncs next yields before it sleeps.
  private static let patience = 200

  // Waiters for round n use condition n % 2: those of the current round, and of the next.
  private let monitor = Monitor(conditionCount: 2)
  private var round = 0
  private var written: CommitNumber
  private var durable: CommitNumber
  /// The last commit of the round under way, or of the last one.
  private var target: CommitNumber
  private let isSyncing = Atomic(false)
  /// The round for which a thread stays awake. Another thread may begin it first: then nothing is
  /// known of the next one.
  private var watchedRound = 0
  private var failure: StorageError?
  /// Commits that wait without a thread.
  private var waiters: [Waiter] = []
  /// Whether a thread of the pool syncs for them, or will.
  private var isServed = false

  /// A commit that waits without a thread.
  private struct Waiter {
    let commit: CommitNumber
    let sync: @Sendable () throws(StorageError) -> Void
    let publish: @Sendable (CommitNumber) -> [AnyObject]
    let finish: @Sendable (StorageError?) -> Void
  }

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

  /// Records that everything up to `commit` is on disk, and that nothing was written after it.
  ///
  /// All waiters are woken: a thread that stays awake to sync next has nothing to do now, and those
  /// that sleep until it syncs would not be woken.
  package func noteDurable(_ commit: CommitNumber) {
    monitor.lock()
    written = max(written, commit)
    durable = max(durable, commit)
    let finished = takeFinished()
    monitor.unlock()
    monitor.wakeAll(0)
    monitor.wakeAll(1)
    for (waiter, error) in finished { waiter.finish(error) }
  }

  /// Waits until the commit is on disk.
  ///
  /// - Parameters:
  ///   - sync: makes durable what was written.
  ///   - publish: makes the commits up to the given one visible; called by the thread that has
  ///     synced, before any waiter continues. Returns objects to release after the others were
  ///     woken.
  /// - Throws: the error of the sync, for all that wait and for all later calls.
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

  /// Calls `finish` when the commit is on disk, or with the error of the sync: on this thread
  /// before it returns, or on another one at any time.
  ///
  /// - Parameters:
  ///   - sync: as in ``waitUntilDurable(_:sync:publish:)``, as is `publish`. Another thread may
  ///     call them, for this commit and others.
  package func whenDurable(
    _ commit: CommitNumber, sync: @escaping @Sendable () throws(StorageError) -> Void,
    publish: @escaping @Sendable (CommitNumber) -> [AnyObject],
    finish: @escaping @Sendable (StorageError?) -> Void
  ) {
    monitor.lock()
    if durable < commit, failure == nil {
      guard !isSyncing.load(ordering: .relaxed) else {
        // When the sync under way ends, a thread of the pool is called.
        waiters.append(Waiter(commit: commit, sync: sync, publish: publish, finish: finish))
        return monitor.unlock()
      }
      lead(sync: sync, publish: publish)
    }
    let error = durable < commit ? failure : nil
    monitor.unlock()
    finish(error)
  }

  /// Syncs as long as there are commits that wait without a thread.
  private func serve() {
    monitor.lock()
    // Each time by one that still waits: the log of an earlier one may have been replaced.
    while let waiter = waiters.first {
      if isSyncing.load(ordering: .relaxed) {
        monitor.wait(for: round & 1)
      } else {
        lead(sync: waiter.sync, publish: waiter.publish)
      }
    }
    isServed = false
    monitor.unlock()
  }

  /// Takes the waiters that need not wait any more. The monitor is locked.
  private func takeFinished() -> [(waiter: Waiter, error: StorageError?)] {
    var finished: [(Waiter, StorageError?)] = []
    waiters.removeAll { waiter in
      let isDurable = waiter.commit <= durable
      guard isDurable || failure != nil else { return false }
      finished.append((waiter, isDurable ? nil : failure))
      return true
    }
    return finished
  }

  /// Syncs for all threads that have written. The monitor is locked before and afterwards.
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
    let finished = waiters.isEmpty ? [] : takeFinished()
    let needsServer = !waiters.isEmpty && !isServed
    if needsServer { isServed = true }
    guard !leftovers.isEmpty || !finished.isEmpty || needsServer else { return }
    monitor.unlock()
    if needsServer { WorkerThreads.shared.run { [self] in serve() } }
    for (waiter, error) in finished { waiter.finish(error) }
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
