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
/// `@unchecked Sendable`: `isTaken` and `holder` are touched only while `mutex` is held.
final class Turnstile: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isTaken = false
  private var holder: pthread_t?

  init() {
    // On the heap: the C library wants both at one address for life.
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Waits for the turn.
  ///
  /// - Throws: ``StorageError/writerBusy`` if the calling thread has it already.
  func enter() throws(StorageError) {
    let me = pthread_self()
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while isTaken {
      if let holder, pthread_equal(holder, me) != 0 { throw .writerBusy }
      pthread_cond_wait(condition, mutex)
    }
    isTaken = true
    holder = me
  }

  func leave() {
    pthread_mutex_lock(mutex)
    isTaken = false
    holder = nil
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }
}
