#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Lets one writer through at a time; the others sleep until it is their turn.
///
/// Not a mutex: whoever leaves need not be the thread that entered, as a transaction may be dropped
/// anywhere. It remembers the thread that entered, so that a thread that would wait for itself is
/// told.
///
/// `@unchecked Sendable`: `isTaken` and `holder` are touched only while the monitor is locked.
final class Turnstile: @unchecked Sendable {
  private let monitor = Monitor()
  private var isTaken = false
  private var holder: pthread_t?

  /// Waits for the turn.
  ///
  /// - Throws: ``StorageError/writerBusy`` if the calling thread has it already.
  func enter() throws(StorageError) {
    monitor.lock()
    defer { monitor.unlock() }
    while isTaken {
      if let holder, Threads.isCurrent(holder) { throw .writerBusy }
      monitor.wait()
    }
    isTaken = true
    holder = Threads.current()
  }

  /// Takes the turn if nobody has it.
  func enterIfFree() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    if isTaken { return false }
    isTaken = true
    holder = Threads.current()
    return true
  }

  /// Waits for the turn on a thread that surely does not have it.
  func enterAfterOthers() {
    monitor.lock()
    while isTaken { monitor.wait() }
    isTaken = true
    holder = Threads.current()
    monitor.unlock()
  }

  func leave() {
    monitor.lock()
    isTaken = false
    holder = nil
    monitor.unlock()
    monitor.wakeOne()
  }
}
