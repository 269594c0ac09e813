import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Follows a request in the isolation of its context, for one loop or query.
final class ResultFollower<Result: ManagedObject>: FetchedResultsControllerDelegate {
  private let controller: FetchedResultsController<Result>
  /// Called after each set of changes.
  private let resultDidChange: () -> Void
  /// The IDs of the objects of the result that was taken last; `nil` before the first.
  private var knownIDs: ChunkedList<ManagedObjectID>?
  private var news = News()

  /// What has happened since a result was taken.
  private struct News {
    /// The number of sets of changes.
    var count = 0
    /// The difference that the first of them has made; `nil` for none.
    var steps: CollectionDifference<ManagedObjectID>?
    var updatedIDs: Set<ManagedObjectID> = []
  }

  init(
    _ controller: FetchedResultsController<Result>, resultDidChange: @escaping () -> Void
  ) {
    self.controller = controller
    self.resultDidChange = resultDidChange
  }

  /// Whether there is a result that was not taken.
  var hasNews: Bool { knownIDs == nil || news.count > 0 }

  /// Takes the present result; the first time it is fetched.
  func takeResult() throws -> LiveResult<Result> {
    if knownIDs == nil {
      controller.delegate = self
      try controller.performFetch()
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
    resultDidChange()
  }
}
