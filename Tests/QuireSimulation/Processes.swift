#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A real child of this process, made by `fork`. For exit tests alone: in a process with many
/// threads a child might wait for a lock of the runtime that one of them held.
package struct ChildProcess {
  package let id: Int32

  package struct NotMade: Error {}

  /// Runs `body` in a child, which then ends; an error is told on its standard error output.
  package init(_ body: () throws -> Void) throws {
    if let child = try ChildProcess.split() {
      self = child
      return
    }
    id = 0
    do {
      try body()
      _exit(0)
    } catch {
      var text = Array("\(error)\n".utf8)
      _ = write(2, &text, text.count)
      _exit(1)
    }
  }

  private init(id: Int32) { self.id = id }

  /// Goes on twice.
  ///
  /// - Returns: the child; in the child `nil`.
  package static func split() throws -> ChildProcess? {
    let id = try fork()
    // One that waits for ever, for a child that failed or in a child, is a failure, too. The
    // threads of the runtime's pool block the signal, and a child has just that thread: it would
    // live on, and the tests would wait for the end of its output.
    if id == 0 { letAlarmThrough() }
    alarm(id == 0 ? 60 : 120)
    return id == 0 ? nil : ChildProcess(id: id)
  }

  private static func letAlarmThrough() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  // Swift does not let `fork` be called by its name, as what a child may do is little.
  private static func fork() throws -> Int32 {
    typealias Function = @convention(c) () -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw NotMade() }
    let id = unsafeBitCast(symbol, to: Function.self)()
    guard id >= 0 else { throw NotMade() }
    return id
  }

  /// Waits for the child's end.
  ///
  /// - Throws: a ``Violation`` unless all went well there.
  package func wait() throws {
    let status = end()
    guard status == 0 else { throw Violation("the child ended with status \(status)") }
  }

  package func kill() {
    #if canImport(Darwin)
      _ = Darwin.kill(id, SIGKILL)
    #elseif canImport(Glibc)
      _ = Glibc.kill(id, SIGKILL)
    #elseif canImport(Musl)
      _ = Musl.kill(id, SIGKILL)
    #elseif canImport(Android)
      _ = Android.kill(id, SIGKILL)
    #endif
    _ = end()
  }

  private func end() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status
  }
}

/// Lets one process wait for another: numbers that go through a pipe.
package struct Signal {
  private let ends: [Int32]

  package init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw ChildProcess.NotMade() }
    self.ends = ends
  }

  package func send(_ number: Int32 = 0) {
    var number = number
    _ = write(ends[1], &number, 4)
  }

  /// The next number; waits until there is one.
  package func receive() -> Int32 {
    var number: Int32 = -1
    while read(ends[0], &number, 4) < 0, errno == EINTR {}
    return number
  }
}

/// Ends the process as a crash would: nothing is closed.
package func dieAtOnce() -> Never { _exit(0) }
