#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What has happened to an object or a section. Raw values are Core Data's.
public enum FetchedResultsChangeType: UInt, Sendable, CaseIterable {
  case insert = 1
  case delete = 2
  /// An object has another place, in its section or in another one; it may have changed as well.
  case move = 3
  /// An object has changed and stays where it was among the others.
  case update = 4
}

/// Who is told of changes in the results of a ``FetchedResultsController``.
///
/// All functions have an implementation that does nothing. They are called in the isolation of the
/// controller's context, for one set of changes in this order: ``controllerWillChangeContent(_:)``
/// while the controller still has the former results; sections that went and came; objects that
/// were deleted, inserted, moved, updated; the difference and the snapshot;
/// ``controllerDidChangeContent(_:)``. In between, the controller has the new results.
///
/// An index path of something that went is one of the former results, one of something that came
/// one of the new results. To bring a list along: take out, by former index paths from the last to
/// the first, what was deleted or moved; delete sections, insert sections; put in, by new index
/// paths from the first to the last, what was inserted or moved.
///
/// What a delegate changes in the context is told by the next set of changes. A class of the main
/// actor conforms there: `extension List: @MainActor FetchedResultsControllerDelegate`.
public protocol FetchedResultsControllerDelegate<Result>: AnyObject {
  associatedtype Result: ManagedObject

  func controllerWillChangeContent(_ controller: FetchedResultsController<Result>)

  /// - Parameters:
  ///   - section: as it is now: one that went has its name and no objects, which are told one by
  ///     one.
  ///   - type: ``FetchedResultsChangeType/insert`` or ``FetchedResultsChangeType/delete``.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType)

  /// - Parameters:
  ///   - indexPath: in the former results; `nil` for an insertion.
  ///   - newIndexPath: in the new results; `nil` for a deletion.
  func controller(
    _ controller: FetchedResultsController<Result>, didChange object: Result,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called when objects came, went or moved, and when a save has given objects other IDs.
  ///
  /// - Parameter difference: of the IDs of all objects, without a look at sections. Moves are
  ///   associated. One whose ID alone is new is removed and inserted.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>)

  /// Called for every set of changes, and when a save has given objects other IDs.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot)

  func controllerDidChangeContent(_ controller: FetchedResultsController<Result>)

  /// What is to stand for a section in an index beside a list; unless implemented, the first
  /// letter of the name as a capital.
  func controller(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {}

  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Result>, didChange object: Result,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) {}

  public func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {}

  public func controller(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName name: String
  ) -> String? {
    controller.sectionIndexTitle(forSectionName: name)
  }
}
