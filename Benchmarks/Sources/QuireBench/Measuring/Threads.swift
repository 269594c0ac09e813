#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Threads of the system, because a thread pool would measure itself.
enum Threads {
  /// How many write at once in the workloads that have several writers.
  static let writerCount = 8

  /// Calls `body` with 0, 1, … on so many threads at once and waits for all of them.
  ///
  /// What `body` captures is used by all of them: that is for the caller to think of.
  ///
  /// - Throws: the error of one that failed.
  static func run(_ count: Int, _ body: (Int) throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
      let tasks = (0..<count).map { number in Task { try body(number) } }
      let threads = try tasks.map { try $0.start() }
      for thread in threads { pthread_join(thread, nil) }
      for task in tasks { if let error = task.error { throw error } }
    }
  }

  /// Lets this thread rest.
  static func sleep(for duration: Duration) {
    usleep(UInt32(duration / .microseconds(1)))
  }

  private final class Task {
    private let body: () throws -> Void
    private(set) var error: (any Error)?

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func start() throws -> pthread_t {
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let code = pthread_create(
        &thread, nil,
        { word in
          let address: UnsafeMutableRawPointer? = word
          if let address { Unmanaged<Task>.fromOpaque(address).takeRetainedValue().run() }
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
      guard code == 0 else {
        // Threads that are already running use what the caller's frame holds.
        fatalError("pthread_create: \(String(cString: strerror(code)))")
      }
      #if canImport(Darwin)
        guard let thread else { throw BenchmarkError("pthread_create made no thread") }
      #endif
      return thread
    }

    private func run() {
      do { try body() } catch { self.error = error }
    }
  }
}
