import QuireStorage

/// Runs what reads and writes stores for tasks, on threads of the engine's own.
///
/// Swift runs all tasks of a program on as many threads as there are processors. A function that
/// waits there for the disk or for a lock keeps a thread from all other tasks. Here only those wait
/// that use stores; see ``QuireStorage/WorkerThreads``.
final class StoreExecutor: TaskExecutor {
  private static let shared = StoreExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    WorkerThreads.shared.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs `body` on one of the threads, and what it calls that belongs to no actor.
  ///
  /// A closure or a function of an actor runs where its actor runs, and so does what follows on it
  /// there.
  @concurrent
  static func run<Result: Sendable, Failure>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await withTaskExecutorPreference(shared, operation: body)
  }

  /// Runs `body` in a task of its own.
  static func start(_ body: @escaping @Sendable () -> Void) {
    Task.detached(executorPreference: shared) { body() }
  }
}
