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
/// Asynchronous functions wait in a line of their own, without threads (``WriterTurn``). The first
/// of the line is called when the turnstile is left, one at a time. It takes the turn when it runs,
/// and competes for it with threads until then, as a thread does that was woken: so the turn never
/// belongs to a function that has no thread yet, and cannot be lost with it. One that finds the
/// turn taken is the first of the line again. Those that come later do not overtake the line.
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
  private var line = WaitingLine<WriterTurn>()
  /// The first of the line, when it was called and has neither taken the turn nor come back.
  private var called: WriterTurn?

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

  /// Takes the turn if nobody has it.
  func enterUnlessTaken() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    if isTaken { return false }
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
    let next = callNext()
    monitor.unlock()
    monitor.wakeOne()
    next?()
  }

  // MARK: Without a thread

  /// Takes the turn for a transaction if nobody has it, nor waits for it in the line.
  ///
  /// - Throws: ``StorageError/writerBusy`` if the calling thread has it already.
  func enterIfFree(_ turn: WriterTurn) throws(StorageError) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    guard turn === called || called == nil && line.isEmpty else { return false }
    var patience = Turnstile.patience
    while isTaken {
      if let holder, Threads.isCurrent(holder) { throw .writerBusy }
      guard patience > 0 else { return false }
      patience -= 1
      monitor.unlock()
      Threads.yield()
      monitor.lock()
    }
    guard turn === called || called == nil && line.isEmpty else { return false }
    if turn === called { called = nil }
    take(forLong: true)
    return true
  }

  /// Calls `body`, on any thread, when it may be one's turn, or when the turn is given up.
  func wait(for turn: WriterTurn, _ body: @escaping @Sendable () -> Void) {
    monitor.lock()
    let isFirst = turn === called || called == nil && line.isEmpty
    if turn.isGivenUp || isFirst && !isTaken {
      monitor.unlock()
      return body()
    }
    turn.body = body
    if turn === called {
      called = nil
      line.prepend(turn)
    } else {
      line.append(turn)
    }
    monitor.unlock()
  }

  /// Ends the waiting: what waits is called, and the next in the line gets its chance.
  func giveUp(_ turn: WriterTurn) {
    monitor.lock()
    turn.isGivenUp = true
    _ = line.remove { $0 === turn }
    let body = turn.takeBody()
    var next: (@Sendable () -> Void)?
    if turn === called {
      called = nil
      if !isTaken { next = callNext() }
    }
    monitor.unlock()
    body?()
    next?()
  }

  /// Calls the first of the line, if none is called. The monitor is locked, and the result is to be
  /// called when it is not.
  private func callNext() -> (@Sendable () -> Void)? {
    guard called == nil, let next = line.popFirst() else { return nil }
    called = next
    return next.takeBody()
  }
}

/// The turn that an asynchronous function waits for, to write.
///
/// `@unchecked Sendable`: the state is accessed only while the turnstile's monitor is locked.
package final class WriterTurn: @unchecked Sendable {
  fileprivate var isGivenUp = false
  fileprivate var body: (@Sendable () -> Void)?

  package init() {}

  fileprivate func takeBody() -> (@Sendable () -> Void)? {
    defer { body = nil }
    return body
  }
}
