#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Admits one writer at a time; the others sleep until it is their turn.
///
/// It is not a mutex: it may be left by another thread than the one that entered, as a transaction
/// may be dropped on any thread. It remembers the thread that entered, so that a thread that would
/// wait for itself gets an error.
///
/// `@unchecked Sendable`: the state is accessed only while the monitor is locked.
final class Turnstile: @unchecked Sendable {
  /// The number of times that a thread yields before it sleeps: most transactions are shorter than
  /// putting a thread to sleep and waking it (Pizlo, *Locking in WebKit*, 2016).
  private static let patience = 40

  private let monitor = Monitor()
  private var isTaken = false
  /// Whether the holder keeps it for as long as it likes.
  private var isTakenForLong = false
  private var holder: pthread_t?

  /// Waits for the turn.
  ///
  /// - Parameter forLong: for a transaction, which ends when its user wants.
  /// - Throws: ``StorageError/writerBusy`` if the calling thread has it already.
  func enter(forLong: Bool = false) throws(StorageError) {
    monitor.lock()
    defer { monitor.unlock() }
    var patience = Turnstile.patience
    while isTaken {
      if let holder, Threads.isCurrent(holder) { throw .writerBusy }
      if patience > 0 {
        patience -= 1
        monitor.unlock()
        Threads.yield()
        monitor.lock()
      } else {
        monitor.wait()
      }
    }
    take(forLong: forLong)
  }

  /// Waits for the turn unless a transaction has it.
  func enterUnlessInTransaction() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while isTaken {
      if isTakenForLong { return false }
      monitor.wait()
    }
    take(forLong: false)
    return true
  }

  /// Waits for the turn on a thread that surely does not have it.
  func enterAfterOthers() {
    monitor.lock()
    while isTaken { monitor.wait() }
    take(forLong: false)
    monitor.unlock()
  }

  private func take(forLong: Bool) {
    isTaken = true
    isTakenForLong = forLong
    holder = Threads.current()
  }

  func leave() {
    monitor.lock()
    isTaken = false
    holder = nil
    monitor.unlock()
    monitor.wakeOne()
  }
}
