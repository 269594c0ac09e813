#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// How long the calling thread computes while it does something; others may run meanwhile.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
  let start = now()
  try body()
  return now() - start
}

/// Threads of the system, for what must run at the same time for sure: a task group has no more
/// threads than the machine has processors.
package enum Threads {
  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Lets others run, in a loop that waits for them.
  package static func pause() { _ = sched_yield() }

  /// Runs each of the bodies on a thread of its own, and returns when all have ended.
  package static func run(_ bodies: [@Sendable () -> Void]) {
    #if canImport(Darwin)
      var threads: [pthread_t?] = Array(repeating: nil, count: bodies.count)
    #else
      var threads: [pthread_t] = Array(repeating: pthread_t(), count: bodies.count)
    #endif
    var started = 0
    for (index, body) in bodies.enumerated() {
      let job = Unmanaged.passRetained(Job(body))
      let code = pthread_create(
        &threads[index], nil,
        { argument in
          // Optional on some systems and not on others.
          let raw: UnsafeMutableRawPointer? = argument
          if let raw { Unmanaged<Job>.fromOpaque(raw).takeRetainedValue().body() }
          return nil
        }, job.toOpaque())
      precondition(code == 0, "a thread could not be started: error \(code)")
      started += 1
    }
    for index in 0..<started {
      #if canImport(Darwin)
        if let thread = threads[index] { pthread_join(thread, nil) }
      #else
        pthread_join(threads[index], nil)
      #endif
    }
  }
}
