import Dispatch
import Quire
import Synchronization

// Short writes and reads by a container, from threads of the system and from Swift's tasks, of
// which a program may have many more than processors.

extension Workload {
  static let objWriteThreads = Workload(
    name: "obj_write_threads", summary: "one object a write from sixteen threads, N in all",
    count: 16_000, shortCount: 160, modes: [.full, .memory],
    contenders: [Contender(engine: .quire, body: TasksAndThreads.writeFromThreads)])

  static let objWriteTasks = Workload(
    name: "obj_write_tasks", summary: "one object a write from sixteen tasks, N in all",
    count: 16_000, shortCount: 160, modes: [.full, .memory],
    goals: [Goal(.timesRow(0.9, "obj_write_threads"), in: .full)],
    contenders: [Contender(engine: .quire, body: TasksAndThreads.writeFromTasks)])

  static let objReadWait = Workload(
    name: "obj_read_wait", summary: "N reads of one number by a thread",
    count: 50_000, shortCount: 500, modes: [.memory],
    contenders: [Contender(engine: .quire, body: TasksAndThreads.readFromThread)])

  static let objReadAwait = Workload(
    name: "obj_read_await", summary: "N reads of one number by a task",
    count: 50_000, shortCount: 500, modes: [.memory],
    contenders: [Contender(engine: .quire, body: TasksAndThreads.readFromTask)])

  static let taskTicker = Workload(
    name: "task_ticker",
    summary: "the latest of N seconds of ticks of 10 ms, while two tasks read without a pause",
    count: 5, shortCount: 1, modes: [.memory], unit: .millisecondsEach, countIsSeconds: true,
    goals: [Goal(.milliseconds(atMost: 20))],
    contenders: [Contender(engine: .quire, body: TasksAndThreads.tick)])
}

enum TasksAndThreads {
  final class Reading: ManagedObject {
    @Managed var number: Int = 0
  }

  static let writerCount = 16

  private static func container(_ run: Run) throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Readings", for: Reading.self)
    try container.loadPersistentStore(at: run.mode == .memory ? nil : run.url("store.quire"))
    return container
  }

  private static func check(_ run: Run, _ container: PersistentContainer) throws {
    let count = try container.readAndWait { try $0.count(Reading.self) }
    try run.expect(count, run.count, "what was written")
    try container.close()
  }

  static func writeFromThreads(_ run: Run) throws {
    let container = try container(run)
    let count = run.count / writerCount
    try run.time {
      try Threads.run(writerCount) { thread in
        for number in 0..<count {
          try container.writeAndWait { Reading(context: $0).number = number }
        }
      }
    }
    try check(run, container)
  }

  static func writeFromTasks(_ run: Run) throws {
    let container = try container(run)
    let count = run.count / writerCount
    try run.time {
      try waiting {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<writerCount {
            group.addTask {
              for number in 0..<count {
                try await container.write { Reading(context: $0).number = number }
              }
            }
          }
          try await group.waitForAll()
        }
      }
    }
    try check(run, container)
  }

  static func readFromThread(_ run: Run) throws {
    let container = try container(run)
    try container.writeAndWait { _ = Reading(context: $0) }
    var sum = 0
    try run.time {
      for _ in 0..<run.count { sum += try container.readAndWait { try $0.count(Reading.self) } }
    }
    try run.expect(sum, run.count, "what was read")
  }

  static func readFromTask(_ run: Run) throws {
    let container = try container(run)
    try container.writeAndWait { _ = Reading(context: $0) }
    let count = run.count
    let sum = try run.time {
      try waiting {
        var sum = 0
        for _ in 0..<count { sum += try await container.read { try $0.count(Reading.self) } }
        return sum
      }
    }
    try run.expect(sum, run.count, "what was read")
  }

  static func tick(_ run: Run) throws {
    let container = try container(run)
    try container.writeAndWait { for _ in 0..<1_000 { _ = Reading(context: $0) } }
    let end = ContinuousClock.now + .seconds(run.count)
    let latest = try run.time {
      try waiting {
        try await withThrowingTaskGroup(of: Duration.self) { group in
          for _ in 0..<2 {
            group.addTask {
              while ContinuousClock.now < end {
                _ = try await container.read { try $0.count(Reading.self) }
              }
              return .zero
            }
          }
          group.addTask {
            var latest = Duration.zero
            while ContinuousClock.now < end {
              let wanted = ContinuousClock.now + .milliseconds(10)
              try await Task.sleep(until: wanted)
              latest = max(latest, ContinuousClock.now - wanted)
            }
            return latest
          }
          return try await group.reduce(.zero, max)
        }
      }
    }
    run.record("task_ticker", 1, in: latest)
  }

  /// Waits for a task of the program, on the thread that has nothing else to do.
  private static func waiting<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
      end.signal()
    }
    end.wait()
    guard let result = outcome.withLock({ $0 }) else { throw BenchmarkError("no result") }
    return try result.get()
  }
}
