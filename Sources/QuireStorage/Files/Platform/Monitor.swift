#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A mutex with conditions to wait for: what the standard library's `Mutex` lacks.
///
/// `@unchecked Sendable`: the C objects are made for being shared.
package final class Monitor: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let conditions: UnsafeMutableBufferPointer<pthread_cond_t>
  private let forkCount = ForkCount.known

  package init(conditionCount: Int = 1) {
    // On the heap: the C library wants them at one address for life.
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    conditions = .allocate(capacity: conditionCount)
    conditions.initialize(repeating: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      for condition in 0..<conditionCount { pthread_cond_init(at(condition), nil) }
    #else
      // Waits that end by themselves must not depend on what the time of day is set to.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      for condition in 0..<conditionCount { pthread_cond_init(at(condition), &attributes) }
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    // In a child, destroying a condition would wait for the parent's threads that wait for it.
    guard forkCount == ForkCount.known else { return }
    for condition in conditions.indices { pthread_cond_destroy(at(condition)) }
    pthread_mutex_destroy(mutex)
    conditions.deallocate()
    mutex.deallocate()
  }

  private func at(_ condition: Int) -> UnsafeMutablePointer<pthread_cond_t> {
    conditions.baseAddress.unsafelyUnwrapped + condition
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }
  /// Releases the lock until the condition is signalled; must be called with the lock held.
  ///
  /// A thread of a pool tells its pool, which lets another one work meanwhile.
  package func wait(for condition: Int = 0) {
    let pool = WorkerThreads.ofCurrentThread
    pool?.beginBlocking()
    pthread_cond_wait(at(condition), mutex)
    pool?.endBlocking()
  }
  /// The same, for at most `duration`, and without telling a pool.
  package func wait(for condition: Int = 0, atMost duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    #if canImport(Darwin)
      pthread_cond_timedwait_relative_np(at(condition), mutex, &time)
    #else
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      time.tv_sec += now.tv_sec
      time.tv_nsec += now.tv_nsec
      if time.tv_nsec >= 1_000_000_000 {
        time.tv_sec += 1
        time.tv_nsec -= 1_000_000_000
      }
      pthread_cond_timedwait(at(condition), mutex, &time)
    #endif
  }
  package func wakeOne(_ condition: Int = 0) { pthread_cond_signal(at(condition)) }
  package func wakeAll(_ condition: Int = 0) { pthread_cond_broadcast(at(condition)) }
}

/// Threads of the engine, independent of any pool that could be busy.
package enum Threads {
  /// Runs `body` on a new thread.
  ///
  /// Not in a child made by `fork`: the standard library's `Mutex` takes the thread that forked for
  /// the parent's, and a second thread that waits for it ends the process (Linux).
  ///
  /// - Returns: `false` if there is none to be had; nothing is run then.
  package static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard ForkCount.current == 0 else { return false }
    let job = Unmanaged.passRetained(Job(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    #if canImport(Darwin)
      var thread: pthread_t?
      let result = pthread_create(&thread, &attributes, { Threads.start($0) }, job.toOpaque())
    #else
      var thread = pthread_t()
      let result = pthread_create(
        &thread, &attributes,
        { argument in argument.flatMap { Threads.start($0) } }, job.toOpaque())
    #endif
    if result != 0 { job.release() }
    return result == 0
  }

  private static func start(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
    return nil
  }

  private final class Job {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Stops the thread that calls for a while.
  static func sleep(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var wanted = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    var left = timespec()
    // Ends early when a signal comes.
    while nanosleep(&wanted, &left) != 0, errno == EINTR { wanted = left }
  }

  /// The number of processors that are online.
  static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// A word that each thread has for itself; `nil` to begin with.
  static var ownWord: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    set { pthread_setspecific(key, newValue) }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Lets other threads run for a moment.
  static func yield() { sched_yield() }

  /// The calling thread.
  static func current() -> pthread_t { pthread_self() }
  static func isCurrent(_ thread: pthread_t) -> Bool { pthread_equal(thread, pthread_self()) != 0 }
}
