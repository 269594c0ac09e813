import Foundation
import Synchronization

/// A request to end the process, by Ctrl-C or another signal, while a task changes files.
///
/// Once ``watch(tells:)`` was called, the first signal is only recorded. The task sees it at its
/// next step, and undoes or finishes what it has begun. The second ends the process at once.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  private static let isWatching = Atomic<Bool>(false)
  private static let tellsUser = Atomic<Bool>(false)

  /// Lets signals be recorded, from now on.
  ///
  /// - Parameter tells: whether the user, on a terminal, is told that the first was noticed.
  static func watch(tells: Bool) {
    guard !isWatching.exchange(true, ordering: .relaxed) else { return }
    tellsUser.store(tells, ordering: .relaxed)
    // The handler must not be the first to ask for it: that would take a lock.
    _ = received.load(ordering: .relaxed)
    var all = sigset_t()
    sigemptyset(&all)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      sigaddset(&all, number)
      let former = signal(number) { Interruption.receive($0) }
      // Jobs in the background and below `nohup` are not to be ended by these.
      if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
    // A process that another starts from a thread of Dispatch inherits that these are blocked.
    pthread_sigmask(SIG_UNBLOCK, &all, nil)
  }

  /// Runs in a signal handler, where hardly anything is allowed.
  private static func receive(_ number: Int32) {
    if received.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
    guard tellsUser.load(ordering: .relaxed) else { return }
    let message: StaticString = "\r\u{1B}[Kquire: stopping; once more ends at once\n"
    _ = write(2, message.utf8Start, message.utf8CodeUnitCount)
  }

  /// The result of a run that was asked to end; `nil` when it was not.
  static var code: ExitCode? {
    switch received.load(ordering: .relaxed) {
    case 0: nil
    case SIGTERM: .terminated
    case SIGHUP: .hungUp
    default: .interrupted
    }
  }

  /// - Throws: `CancellationError` when the process was asked to end.
  static func check() throws {
    if code != nil { throw CancellationError() }
  }
}
