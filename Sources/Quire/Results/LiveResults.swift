import QuireModel
import Synchronization

extension ManagedObjectContext {
  /// The result of a request as it is now, and again after each change.
  ///
  /// ```swift
  /// for try await artworks in context.results(of: Artwork.sorted(by: \.title)) {
  ///   list.apply(artworks.difference)
  /// }
  /// ```
  ///
  /// The loop begins with the present result. After that it goes on each time the context has
  /// processed changes that show in the result: its own, and those of other contexts that it merges
  /// (``automaticallyMergesChangesFromParent``). A loop that is behind gets the newest result, with
  /// the difference from the one it had; no change is lost, and none is kept waiting in memory.
  /// After a ``reset()``, which leaves no object, the result is fetched anew: its objects are
  /// others, and those that the loop had are among ``LiveResult/updatedIDs``. It ends when its task
  /// is cancelled, and when the last store of the context is closed.
  ///
  /// It runs in the isolation of the context, as the objects belong there. What a change costs is
  /// said of ``FetchedResultsController``, which does the work.
  ///
  /// - Parameter request: what is asked; without an order, objects come by their IDs.
  /// - Throws: in the loop, what ``FetchedResultsController/performFetch()`` throws, at first and
  ///   after a reset.
  public final func results<Result>(of request: FetchRequest<Result>) -> LiveResults<Result> {
    LiveResults(context: self, request: request, sectionKeyPath: nil)
  }

  /// The same in sections, which have the objects with the same value of a property.
  ///
  /// - Parameters:
  ///   - request: one whose order begins with the property, or agrees with it.
  ///   - property: a text, a number or a date.
  public final func results<Result, Name>(
    of request: FetchRequest<Result>, sectionedBy property: KeyPath<Result, Name>
  ) -> LiveResults<Result> {
    LiveResults(
      context: self, request: request,
      sectionKeyPath: KeyPathNames.names(of: property).joined(separator: "."))
  }
}

/// The results of a request, one after the other: see
/// ``ManagedObjectContext/results(of:)``.
public struct LiveResults<Result: ManagedObject>: AsyncSequence {
  /// A result is what a loop gets each time.
  public typealias Element = LiveResult<Result>
  /// What fetching the first result throws, or the first one after a reset.
  public typealias Failure = any Error

  fileprivate let context: ManagedObjectContext
  fileprivate let request: FetchRequest<Result>
  fileprivate let sectionKeyPath: String?

  /// Each loop follows the request by itself.
  public func makeAsyncIterator() -> AsyncIterator {
    let controller = FetchedResultsController(
      fetchRequest: request.ordered(inSectionsBy: sectionKeyPath), managedObjectContext: context,
      sectionNameKeyPath: sectionKeyPath)
    let signal = Signal()
    let follower = ResultFollower(controller) { signal.send() }
    follower.followResets(of: context)
    let stores = context.persistentStoreCoordinator
    let closings = stores?.observeStores { if !$0.removed.isEmpty { signal.send() } }
    return AsyncIterator(
      follower: follower, signal: signal, stores: stores, closings: closings)
  }

  /// Waits for changes of the result.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let follower: ResultFollower<Result>
    fileprivate let signal: Signal
    /// Where the context's stores are, and what tells when one of them is closed.
    private let stores: PersistentStoreCoordinator?
    private let closings: CoordinatorObservation?
    private var hasBegun = false

    fileprivate init(
      follower: ResultFollower<Result>, signal: Signal, stores: PersistentStoreCoordinator?,
      closings: CoordinatorObservation?
    ) {
      (self.follower, self.signal) = (follower, signal)
      (self.stores, self.closings) = (stores, closings)
    }

    /// The next result; `nil` when the task is cancelled, and when no store is open any more.
    ///
    /// - Parameter actor: the isolation of the context.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> LiveResult<Result>? {
      if Task.isCancelled { return nil }
      guard hasBegun else {
        let first = try follower.fetch()
        hasBegun = true
        return first
      }
      while true {
        if stores?.persistentStores.isEmpty ?? false { return nil }
        if follower.isDetached { return try follower.fetch() }
        if let news = follower.takeNews() { return news }
        await signal.wait(actor)
        if Task.isCancelled { return nil }
      }
    }
  }
}

@available(*, unavailable)
extension LiveResults: Sendable {}

/// Lets one task wait until something has happened, or it is cancelled.
private final class Signal: Sendable {
  private enum State {
    case idle
    /// Sent while nobody was waiting.
    case sent
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Mutex(State.idle)

  func send() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if case .waiting(let continuation) = state {
        state = .idle
        return continuation
      }
      state = .sent
      return nil
    }
    continuation?.resume()
  }

  func wait(_ actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isOver = state.withLock { state -> Bool in
          if case .sent = state {
            state = .idle
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      send()
    }
  }
}
