import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// the difference from the one it had; no change is lost, and none is kept waiting in memory. It
  /// ends when its task is cancelled.
  ///
  /// It runs in the isolation of the context, as the objects belong there. What a change costs is
  /// said of ``FetchedResultsController``, which does the work.
  ///
  /// - Parameter request: one with an order.
  /// - Throws: in the loop, what ``FetchedResultsController/performFetch()`` throws.
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
  /// What fetching the first result throws.
  public typealias Failure = any Error

  fileprivate let context: ManagedObjectContext
  fileprivate let request: FetchRequest<Result>
  fileprivate let sectionKeyPath: String?

  /// Each loop follows the request by itself.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      follower: Follower(
        FetchedResultsController(
          fetchRequest: request, managedObjectContext: context,
          sectionNameKeyPath: sectionKeyPath)))
  }

  /// Waits for changes of the result.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let follower: Follower<Result>

    /// The next result; `nil` when the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the context.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> LiveResult<Result>? { try await follower.next(actor) }
  }
}

@available(*, unavailable)
extension LiveResults: Sendable {}

/// One state of the result of a request, and what has changed since the one before.
///
/// Results share what is equal in them: to keep one costs little.
public struct LiveResult<Result: ManagedObject>: RandomAccessCollection {
  private let list: SectionedList<ManagedObject>
  private let objectIDs: ChunkedList<ManagedObjectID>
  private let formerIDs: ChunkedList<ManagedObjectID>
  /// The difference, if it is known.
  private let steps: CollectionDifference<ManagedObjectID>?
  /// Of the objects that were there before, those that show other values.
  public let updatedIDs: Set<ManagedObjectID>

  fileprivate init(
    _ controller: FetchedResultsController<Result>, since formerIDs: ChunkedList<ManagedObjectID>,
    _ steps: CollectionDifference<ManagedObjectID>?, _ updatedIDs: Set<ManagedObjectID>
  ) {
    list = controller.list ?? SectionedList()
    objectIDs = controller.objectIDs
    self.formerIDs = formerIDs
    self.steps = steps
    self.updatedIDs = updatedIDs
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { list.elements.count }
  /// The object at a place, in the order of the request.
  ///
  /// - Complexity: O(log *n*); a loop over all objects is O(*n*).
  public subscript(index: Int) -> Result { list.result(at: index) }

  /// One after the other, without looking each up.
  public func makeIterator() -> Iterator { Iterator(elements: list.elements.makeIterator()) }

  /// Gives the objects in order.
  public struct Iterator: IteratorProtocol {
    fileprivate var elements: ChunkedList<ManagedObject>.Iterator

    /// The next object; `nil` behind the last one.
    public mutating func next() -> Result? {
      // Sound: what a fetch finds is checked to be of its class.
      elements.next().map { unsafeDowncast($0, to: Result.self) }
    }
  }

  /// The sections, in order; one with an empty name for a result that is not in sections.
  ///
  /// - Complexity: O(*n*), each time it is asked for.
  public var sections: [FetchedResultsSectionInfo<Result>] {
    list.sections.map { section in
      FetchedResultsSectionInfo(
        name: section.name,
        indexTitle: FetchedResultsController<Result>.usualIndexTitle(of: section.name),
        objects: [Result](checked: Array(list.elements[section.range])))
    }
  }

  /// How the result differs from the one before, in the IDs of its objects; moves are associated.
  ///
  /// - Complexity: O(1) where the result follows from the one before by one set of changes; else
  ///   O(*n* + *n* × *changes*), when it is asked for.
  public var difference: CollectionDifference<ManagedObjectID> {
    steps ?? objectIDs.difference(from: formerIDs).inferringMoves()
  }
}

@available(*, unavailable)
extension LiveResult: Sendable {}

@available(*, unavailable)
extension LiveResult.Iterator: Sendable {}

/// Follows a request for one loop, in the isolation of the context.
private final class Follower<Result: ManagedObject>: FetchedResultsControllerDelegate {
  private let controller: FetchedResultsController<Result>
  private let signal = Signal()
  /// The IDs of the objects that the loop has got.
  private var knownIDs: ChunkedList<ManagedObjectID>?
  private var news = News()

  /// What has happened since the loop got a result.
  private struct News {
    /// The number of sets of changes.
    var count = 0
    /// The difference that the first of them has made; `nil` for none.
    var steps: CollectionDifference<ManagedObjectID>?
    var updatedIDs: Set<ManagedObjectID> = []
  }

  init(_ controller: FetchedResultsController<Result>) { self.controller = controller }

  func next(_ actor: isolated (any Actor)?) async throws -> LiveResult<Result>? {
    if Task.isCancelled { return nil }
    if knownIDs == nil {
      controller.delegate = self
      try controller.performFetch()
    } else {
      while news.count == 0 {
        await signal.wait(actor)
        if Task.isCancelled { return nil }
      }
    }
    let steps = news.count == 1 ? news.steps ?? CollectionDifference([]) : nil
    let result = LiveResult(controller, since: knownIDs ?? [], steps, news.updatedIDs)
    knownIDs = controller.objectIDs
    news = News()
    return result
  }

  func controller(
    _ controller: FetchedResultsController<Result>, didChange object: Result,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    if type == .update || type == .move { news.updatedIDs.insert(object.objectID) }
  }

  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) {
    if news.count == 0 { news.steps = difference }
  }

  // Called for every set of changes.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) {
    news.count += 1
    signal.send()
  }
}

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
