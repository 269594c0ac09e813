import QuireStorage
import Synchronization

/// How far the migration of a store is that is being opened, and the means to end it.
///
/// What Foundation's `Progress` is elsewhere: handed in with
/// ``PersistentStoreOptions/migrationProgress``, and usable from any thread.
///
/// ```swift
/// let progress = MigrationProgress { print("\($0.phase): \(Int($0.fractionCompleted * 100)) %") }
/// options.migrationProgress = progress
/// ```
///
/// A migration that was cancelled throws ``PersistenceError/Code/migrationCancelled`` (134120), and
/// the store has the version it had; of several steps, the version that the last whole one made.
/// After the last commit there is nothing left to cancel.
public final class MigrationProgress: Sendable {
  public typealias Handler = @Sendable (MigrationProgress) -> Void

  private struct State {
    var completedUnitCount = 0
    var totalUnitCount = 0
    var phase = ""
    var isCancelled = false
  }

  /// Of one step. A step is one version to another.
  static let unitsPerStep = 1_000
  /// The handler is called about as often at most, apart from new phases.
  private static let callLimit = 250

  private let state = Mutex(State())
  private let handler: Handler?

  /// - Parameter handler: called where the store is opened, on its thread, when there is something
  ///   new to tell: a few hundred times at most. It may call ``cancel()``.
  public init(handler: Handler? = nil) { self.handler = handler }

  /// Thousandths of the steps that are done. Never gets smaller, unless another store is migrated.
  public var completedUnitCount: Int { state.withLock { $0.completedUnitCount } }

  /// A thousand for each step; 0 before a migration has begun.
  public var totalUnitCount: Int { state.withLock { $0.totalUnitCount } }

  /// From 0 to 1.
  public var fractionCompleted: Double {
    state.withLock {
      $0.totalUnitCount == 0 ? 0 : Double($0.completedUnitCount) / Double($0.totalUnitCount)
    }
  }

  /// What is being done, for people: `rewriting Artwork`; with the step where there are several.
  public var phase: String { state.withLock { $0.phase } }

  /// Ends the migration soon, and every later one that is given this progress.
  public func cancel() { state.withLock { $0.isCancelled = true } }

  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  // MARK: The migration's side

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

/// One step's way to tell how far it is, and to be told to end.
struct StepProgress {
  /// Told the part that is done, from 0 to 1, and what is being done.
  var report: (_ fraction: Double, _ phase: String) -> Void = { _, _ in }
  /// Why the step is to end, if it is.
  var cancellation: () -> (any Error)? = { nil }

  /// - Throws: ``PersistenceError/Code/migrationCancelled`` when the step is to end, or the error
  ///   that a manager was cancelled with.
  func check() throws {
    if let error = cancellation() { throw error }
  }

  /// Tells how far the step is, and looks whether to go on.
  func reach(_ fraction: Double, _ phase: String) throws {
    report(fraction, phase)
    try check()
  }

  /// What the engine's own long tasks ask: whether to go on.
  var goesOn: Bool { cancellation() == nil }

  /// What to throw when the engine was told not to go on.
  func error(for error: any Error) -> any Error {
    if case .cancelled? = error as? StorageError, let cancellation = cancellation() {
      return cancellation
    }
    return error
  }
}

extension StepProgress {
  /// - Parameters:
  ///   - index: of the step, from 0.
  ///   - version: what the store has if the step does not happen.
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
