/// Threads for work that may block, apart from those that Swift runs tasks on.
///
/// Swift has as many threads for all tasks of a program as there are processors. One that waits for
/// the disk or for a lock is missing to every other task, so such work runs here.
///
/// As many jobs run at once as the pool is wide: as many as there are processors, as more would
/// only take turns. A job that waits does not count:
///
/// - The engine tells the pool when it waits, for a lock (``Monitor``) or for the disk
///   (``whileBlocked(_:)``), and another thread goes on at once.
/// - What the program waits for in its own code is seen by the lack of progress: when jobs are left
///   and none was begun for a while, one more is begun.
///
/// There are never more than ``limit`` threads. A thread that has had nothing to do for a while
/// ends. Threads are detached, and end with the process.
///
/// `@unchecked Sendable`: mutable state is accessed only while the monitor is locked.
package final class WorkerThreads: @unchecked Sendable {
  package typealias Job = @Sendable () -> Void

  /// The pool of this process.
  package static var shared: WorkerThreads { perProcess.value }
  private static let perProcess = PerProcess {
    // Two at least, so that a reader goes on beside a writer.
    WorkerThreads(width: max(2, Threads.processorCount))
  }

  /// The number of threads beyond which jobs wait, whatever the others wait for: that of Dispatch.
  package static let defaultLimit = 64
  private enum Role {
    case works
    /// Looks whether the others make progress.
    case watches
  }

  private let width: Int
  private let limit: Int
  private let idleTime: Duration
  private let stallTime: Duration
  private let forkCount = ForkCount.known
  /// Thread n waits for condition n.
  private let monitor: Monitor
  private var jobs = WaitingLine<Job>()
  /// The number of jobs that were begun.
  private var begunCount = 0
  /// The number of threads that work and do not wait, those included that were called to.
  private var activeCount = 0
  private var isWatched = false
  /// The threads that wait to be called. The last is called first, so that the others may end.
  private var idle: [Int] = []
  /// What a thread was called to do, by its number.
  private var calls: [Role?]
  private var freeNumbers: [Int]
  private var isRunningHere = false

  /// - Parameters:
  ///   - width: the number of jobs that run at once, those that wait apart.
  ///   - idleTime: after which a thread without work ends.
  ///   - stallTime: without progress, after which one more job is begun. Threads that are merely
  ///     busy get a rival by that, which costs them little.
  package init(
    width: Int, limit: Int = WorkerThreads.defaultLimit, idleTime: Duration = .seconds(5),
    stallTime: Duration = .milliseconds(5)
  ) {
    self.width = width
    self.stallTime = stallTime
    self.limit = limit
    self.idleTime = idleTime
    monitor = Monitor(conditionCount: limit)
    calls = Array(repeating: nil, count: limit)
    freeNumbers = Array((0..<limit).reversed())
  }

  /// The number of threads that there are at present.
  package var threadCount: Int {
    monitor.lock()
    defer { monitor.unlock() }
    return limit - freeNumbers.count
  }

  /// Runs a job on one of the threads, after those that came before.
  ///
  /// Where no thread can be had, as in a child made by `fork`, it has run when this returns, or
  /// will by the call that this one is within.
  package func run(_ job: @escaping Job) {
    monitor.lock()
    jobs.append(job)
    let called = callIfNeeded()
    if freeNumbers.count == limit { runHere() }
    monitor.unlock()
    if let called { monitor.wakeOne(called) }
  }

  // MARK: Threads that wait

  /// Whether the calling thread belongs to a pool.
  package static var areRunning: Bool { ofCurrentThread != nil }

  /// The pool whose thread the calling one is.
  static var ofCurrentThread: WorkerThreads? {
    guard let word = Threads.ownWord else { return nil }
    // Sound: the thread's function retains the pool for as long as the word is there.
    let pool = Unmanaged<WorkerThreads>.fromOpaque(word).takeUnretainedValue()
    // In a child, a thread of the parent may have had the pool's lock.
    return pool.forkCount == ForkCount.known ? pool : nil
  }

  /// Runs `body`, which waits for the disk: a thread of a pool lets another one work meanwhile.
  static func whileBlocked<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let pool = ofCurrentThread else { return try body() }
    pool.beginBlocking()
    defer { pool.endBlocking() }
    return try body()
  }

  func beginBlocking() {
    monitor.lock()
    activeCount -= 1
    let called = jobs.isEmpty ? nil : callIfNeeded()
    monitor.unlock()
    if let called { monitor.wakeOne(called) }
  }

  func endBlocking() {
    monitor.lock()
    activeCount += 1
    monitor.unlock()
  }

  // MARK: Calling

  /// Calls a thread to work if fewer do than may, or to watch those that do.
  ///
  /// - Returns: the number of a thread to wake when the monitor is unlocked.
  private func callIfNeeded() -> Int? {
    if activeCount < width {
      activeCount += 1
      let (isCalled, waiting) = call(to: .works)
      if !isCalled { activeCount -= 1 }
      return waiting
    }
    if isWatched { return nil }
    let (isCalled, waiting) = call(to: .watches)
    isWatched = isCalled
    return waiting
  }

  /// Calls a thread that is idle, or makes one.
  private func call(to role: Role) -> (isCalled: Bool, waiting: Int?) {
    if let number = idle.popLast() {
      calls[number] = role
      return (true, number)
    }
    guard let number = freeNumbers.popLast() else { return (false, nil) }
    guard Threads.run({ [self] in live(as: number, role) }) else {
      freeNumbers.append(number)
      return (false, nil)
    }
    return (true, nil)
  }

  /// Runs all jobs on the calling thread, as there is no other. The monitor is locked before and
  /// afterwards.
  private func runHere() {
    guard !isRunningHere else { return }
    isRunningHere = true
    while let job = jobs.popFirst() {
      monitor.unlock()
      job()
      monitor.lock()
    }
    isRunningHere = false
  }

  // MARK: The life of a thread

  // The monitor is locked wherever these functions call each other.

  private func live(as number: Int, _ role: Role) {
    Threads.ownWord = Unmanaged.passUnretained(self).toOpaque()
    monitor.lock()
    var role: Role? = role
    while let current = role {
      switch current {
      case .works: work()
      case .watches: watch(number)
      }
      role = awaitCall(number)
    }
    freeNumbers.append(number)
    monitor.unlock()
    Threads.ownWord = nil
  }

  /// Runs jobs as long as there are any and not too many threads. The thread counts as active.
  private func work() {
    repeat {
      guard let job = jobs.popFirst() else { break }
      begunCount += 1
      monitor.unlock()
      job()
      monitor.lock()
    } while activeCount <= width
    activeCount -= 1
  }

  /// Waits until the others have made no progress for a while, and works then; or until there is
  /// nothing left.
  private func watch(_ number: Int) {
    repeat {
      let begun = begunCount
      monitor.wait(for: number, atMost: stallTime)
      guard begunCount == begun, !jobs.isEmpty else { continue }
      // This job may wait as well.
      let (isCalled, waiting) = jobs.count > 1 ? call(to: .watches) : (false, nil)
      isWatched = isCalled
      if let waiting { monitor.wakeOne(waiting) }
      activeCount += 1
      return work()
    } while !jobs.isEmpty
    isWatched = false
  }

  /// - Returns: what the thread is called to do; `nil` when it has not been for a while.
  private func awaitCall(_ number: Int) -> Role? {
    if !jobs.isEmpty, !isWatched {
      isWatched = true
      return .watches
    }
    calls[number] = nil
    idle.append(number)
    monitor.wait(for: number, atMost: idleTime)
    if calls[number] == nil { idle.removeAll { $0 == number } }
    return calls[number]
  }
}
