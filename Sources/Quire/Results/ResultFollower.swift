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
  /// The IDs of the objects of the result that was taken last.
  private var knownIDs: ChunkedList<ManagedObjectID> = []
  private var news = News()
  /// Whether the context was reset: then the objects of the result belong to no context, and the
  /// controller observes nothing until it fetches again.
  private(set) var isDetached = false
  private var resets: ContextObservation?

  /// What has happened since a result was taken.
  private struct News {
    /// The number of sets of changes.
    var count = 0
    /// The difference that one of them has made; `nil` for none.
    var steps: CollectionDifference<ManagedObjectID>?
    var updatedIDs: Set<ManagedObjectID> = []
  }

  init(
    _ controller: FetchedResultsController<Result>, resultDidChange: @escaping () -> Void
  ) {
    self.controller = controller
    self.resultDidChange = resultDidChange
  }

  /// Whether the result is to be fetched again after a reset: see ``isDetached``.
  func followResets(of context: ManagedObjectContext) {
    resets = context.observe([.didChangeObjects]) { [unowned self] notice in
      guard notice.invalidatedAllObjects else { return }
      isDetached = true
      resultDidChange()
    }
  }

  /// The first result, or the first one after a reset, which is fetched.
  func fetch() throws -> LiveResult<Result> {
    controller.delegate = self
    isDetached = false
    try controller.performFetch()
    // Those that the former result had as well have been made anew.
    let updatedIDs = knownIDs.isEmpty ? [] : Set(knownIDs).intersection(controller.objectIDs)
    return take(updatedIDs: updatedIDs, steps: nil)
  }

  /// The present result, if it is another than the one taken last; the first was fetched before.
  func takeNews() -> LiveResult<Result>? {
    guard news.count > 0 else { return nil }
    let steps = news.count == 1 ? news.steps ?? CollectionDifference([]) : nil
    return take(updatedIDs: news.updatedIDs, steps: steps)
  }

  private func take(
    updatedIDs: Set<ManagedObjectID>, steps: CollectionDifference<ManagedObjectID>?
  ) -> LiveResult<Result> {
    defer { (knownIDs, news) = (controller.objectIDs, News()) }
    return LiveResult(controller, since: knownIDs, steps, updatedIDs)
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
    // Not used if it is that of a later set: then the results themselves are compared.
    news.steps = difference
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

extension FetchRequest {
  /// The request with an order: where it has none, objects come by the names of their sections, and
  /// by their IDs.
  func ordered(inSectionsBy sectionKeyPath: String?) -> FetchRequest {
    guard sortDescriptors.isEmpty else { return self }
    var request = self
    request.sortDescriptors =
      (sectionKeyPath.map { [FetchSortDescriptor(key: $0)] } ?? [])
      + [FetchSortDescriptor(key: FetchExpression.objectIDName)]
    return request
  }
}
