import QuireStorage
import Synchronization

/// The progress of a migration while a store is opened, and the means to cancel it.
///
/// It has the role of Foundation's `Progress`: it is passed in
/// ``PersistentStoreOptions/migrationProgress``, and can be used from any thread.
///
/// ```swift
/// let progress = MigrationProgress { print("\($0.phase): \(Int($0.fractionCompleted * 100)) %") }
/// options.migrationProgress = progress
/// ```
///
/// A cancelled migration throws ``PersistenceError/Code/migrationCancelled`` (134120), and the
/// store has its former version; after several steps, the version of the last completed one. After
/// the last commit cancelling has no effect.
public final class MigrationProgress: Sendable {
  /// Called with the progress itself when there is something new to tell, on the thread of the
  /// migration.
  public typealias Handler = @Sendable (MigrationProgress) -> Void

  private struct State {
    var completedUnitCount = 0
    var totalUnitCount = 0
    var phase = ""
    var isCancelled = false
  }

  /// The units of one step, which leads from one version to another.
  static let unitsPerStep = 1_000
  /// The approximate largest number of calls of the handler, apart from those for new phases.
  private static let callLimit = 250

  private let state = Mutex(State())
  private let handler: Handler?

  /// - Parameter handler: called on the thread that opens the store when the progress has changed,
  ///   a few hundred times at most. It may call ``cancel()``.
  public init(handler: Handler? = nil) { self.handler = handler }

  /// The completed thousandths of steps. Never decreases, unless another store is migrated.
  public var completedUnitCount: Int { state.withLock { $0.completedUnitCount } }

  /// A thousand for each step; 0 before a migration has begun.
  public var totalUnitCount: Int { state.withLock { $0.totalUnitCount } }

  /// The progress, from 0 to 1.
  public var fractionCompleted: Double {
    state.withLock {
      $0.totalUnitCount == 0 ? 0 : Double($0.completedUnitCount) / Double($0.totalUnitCount)
    }
  }

  /// A description of the current work, `rewriting Artwork`; with the step if there are several.
  public var phase: String { state.withLock { $0.phase } }

  /// Cancels the migration, and every later one with this progress.
  public func cancel() { state.withLock { $0.isCancelled = true } }

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  // MARK: Reporting

  func begin(stepCount: Int) {
    state.withLock {
      $0.completedUnitCount = 0
      $0.totalUnitCount = stepCount * MigrationProgress.unitsPerStep
      $0.phase = ""
    }
  }

  func update(completedUnitCount count: Int, phase: String) {
    let isNews = state.withLock { state in
      let count = min(max(count, state.completedUnitCount), state.totalUnitCount)
      let stride = max(1, state.totalUnitCount / MigrationProgress.callLimit)
      let isLast = count == state.totalUnitCount && count > state.completedUnitCount
      guard isLast || phase != state.phase || count >= state.completedUnitCount + stride else {
        return false
      }
      state.completedUnitCount = count
      state.phase = phase
      return true
    }
    if isNews { handler?(self) }
  }
}

/// Reports the progress of one step, and tells whether it is cancelled.
struct StepProgress {
  /// Called with the completed part, from 0 to 1, and a description of the current work.
  var report: (_ fraction: Double, _ phase: String) -> Void = { _, _ in }
  /// Returns the error with which the step is to end; `nil` to continue.
  var cancellation: () -> (any Error)? = { nil }

  /// - Throws: ``PersistenceError/Code/migrationCancelled`` if the step is cancelled, or the error
  ///   with which a manager was cancelled.
  func check() throws {
    if let error = cancellation() { throw error }
  }

  /// Reports progress, and checks for cancellation.
  func reach(_ fraction: Double, _ phase: String) throws {
    report(fraction, phase)
    try check()
  }

  /// Whether long tasks of the engine should continue.
  var goesOn: Bool { cancellation() == nil }

  /// The error to throw when the engine has stopped because of a cancellation.
  func error(for error: any Error) -> any Error {
    if case .cancelled? = error as? StorageError, let cancellation = cancellation() {
      return cancellation
    }
    return error
  }
}

extension StepProgress {
  /// - Parameters:
  ///   - index: the number of the step, from 0.
  ///   - version: the version that the store keeps if the step fails.
  init(_ progress: MigrationProgress?, step index: Int, of count: Int, from version: String) {
    guard let progress else { return }
    report = { fraction, phase in
      let units = Double(MigrationProgress.unitsPerStep)
      progress.update(
        completedUnitCount: Int((Double(index) + min(max(fraction, 0), 1)) * units),
        phase: count > 1 ? "step \(index + 1) of \(count): \(phase)" : phase)
    }
    cancellation = {
      guard progress.isCancelled else { return nil }
      return PersistenceError(
        .migrationCancelled, "the migration was cancelled; the store has the version \(version)")
    }
  }
}
