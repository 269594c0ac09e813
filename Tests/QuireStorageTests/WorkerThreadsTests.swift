import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Threads for what may block.
@Suite struct `Worker threads` {
  /// A door that threads wait at, which the pool knows nothing of.
  private final class Door: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// - Returns: whether it was opened, and not just too long ago that somebody came.
    func wait() -> Bool {
      defer { semaphore.signal() }
      return semaphore.wait(timeout: .now() + 300) == .success
    }

    func open() { semaphore.signal() }
  }

  /// A door of the engine's own: the pool hears who waits.
  private final class KnownDoor: @unchecked Sendable {
    // Unchecked: accessed only while the monitor is locked.
    private var isOpen = false
    private let monitor = Monitor()

    func wait() {
      monitor.lock()
      while !isOpen { monitor.wait() }
      monitor.unlock()
    }

    func open() {
      monitor.lock()
      isOpen = true
      monitor.unlock()
      monitor.wakeAll()
    }
  }

  private static let never = Duration.seconds(100_000)

  @Test func `jobs run in the order in which they came`() {
    let pool = WorkerThreads(width: 1, stallTime: Self.never)
    let numbers = Mutex<[Int]>([])
    let end = Door()
    for number in 0..<2_000 {
      pool.run {
        numbers.withLock { $0.append(number) }
        if number == 1_999 { end.open() }
      }
    }
    #expect(end.wait())
    #expect(numbers.withLock { $0 } == Array(0..<2_000))
  }

  @Test func `no more jobs run at once than the pool is wide`() {
    let pool = WorkerThreads(width: 3, stallTime: Self.never)
    let running = Mutex(0)
    let most = Mutex(0)
    let left = Mutex(300)
    let end = Door()
    for _ in 0..<300 {
      pool.run {
        let count = running.withLock { running in
          running += 1
          return running
        }
        most.withLock { $0 = max($0, count) }
        usleep(100)
        running.withLock { $0 -= 1 }
        left.withLock { left in
          left -= 1
          if left == 0 { end.open() }
        }
      }
    }
    #expect(end.wait())
    #expect(most.withLock { $0 } <= 3)
  }

  /// Without a look at the time: a thread of the pool that waits for a lock of the engine says so.
  @Test func `a job that waits for the engine makes room for the next one`() {
    let pool = WorkerThreads(width: 1, stallTime: Self.never)
    let (door, ends) = (KnownDoor(), (0..<20).map { _ in Door() })
    for end in ends {
      pool.run {
        door.wait()
        end.open()
      }
    }
    pool.run { door.open() }
    for end in ends { #expect(end.wait()) }
  }

  @Test func `a job that waits for something unknown makes room after a while`() {
    let pool = WorkerThreads(width: 2)
    let (door, end) = (Door(), Door())
    for _ in 0..<10 { pool.run { if door.wait() { end.open() } } }
    pool.run { door.open() }
    #expect(end.wait())
  }

  @Test func `there are never more threads than the limit`() {
    let pool = WorkerThreads(width: 2, limit: 4, stallTime: .milliseconds(1))
    let (door, end) = (KnownDoor(), Door())
    let left = Mutex(40)
    let most = Mutex(0)
    for _ in 0..<40 {
      pool.run {
        door.wait()
        most.withLock { $0 = max($0, pool.threadCount) }
        left.withLock { left in
          left -= 1
          if left == 0 { end.open() }
        }
      }
    }
    while pool.threadCount < 4 { usleep(1_000) }
    usleep(20_000)
    #expect(pool.threadCount == 4)
    door.open()
    #expect(end.wait())
    #expect(most.withLock { $0 } == 4)
  }

  @Test func `threads without work end, and others come when there is some`() {
    let pool = WorkerThreads(width: 2, idleTime: .milliseconds(5))
    for _ in 0..<3 {
      let end = Door()
      pool.run { end.open() }
      #expect(end.wait())
      let deadline = Date.now + 300
      while pool.threadCount > 0, Date.now < deadline { usleep(1_000) }
      #expect(pool.threadCount == 0)
    }
  }

  /// Many short jobs from many threads, with threads that end between them: none is forgotten.
  @Test func `no job is forgotten`() {
    let pool = WorkerThreads(
      width: 2, limit: 8, idleTime: .microseconds(50), stallTime: .microseconds(50))
    for _ in 0..<200 {
      let left = Mutex(4 * 25)
      let end = Door()
      runOnThreads(4) { _ in
        for number in 0..<25 {
          pool.run {
            if number % 8 == 0 { usleep(60) }
            left.withLock { left in
              left -= 1
              if left == 0 { end.open() }
            }
          }
        }
      }
      #expect(end.wait())
    }
  }

  /// The parent's threads are not there, and the pool's lock may be one that they had.
  @Test func `in a child, jobs run on the thread that has them run`() async {
    await #expect(processExitsWith: .success) {
      /// Has a pool without threads run a job that has it run another one.
      func runHere(_ pool: WorkerThreads) throws {
        let numbers = Mutex<[Int]>([])
        pool.run {
          pool.run { numbers.withLock { $0.append(2) } }
          numbers.withLock { $0.append(1) }
        }
        guard numbers.withLock({ $0 }) == [1, 2] else { throw Violation("not run") }
      }
      // Once in the parent: a child would wait for ever for a generic type that one of the parent's
      // threads was the first to use at the fork, as Swift has a lock for that.
      try runHere(WorkerThreads(width: 1, limit: 0))
      let began = DispatchSemaphore(value: 0)
      for _ in 0..<100 { WorkerThreads.shared.run { began.signal() } }
      began.wait()
      let child = try ChildProcess { try runHere(.shared) }
      try child.wait()
    }
  }
}
