#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kind of a change of an object or a section. The raw values are those of Core Data.
public enum FetchedResultsChangeType: UInt, Sendable, CaseIterable {
  /// An object or a section is new among the results.
  case insert = 1
  /// An object or a section is among the results no longer.
  case delete = 2
  /// An object has moved, within its section or to another one; it may have changed as well.
  case move = 3
  /// An object has changed, and keeps its position among the others.
  case update = 4
}

/// A receiver of changes in the results of a ``FetchedResultsController``.
///
/// All functions have an implementation that does nothing. They are called in the isolation of the
/// controller's context, for one set of changes in this order: ``controllerWillChangeContent(_:)``
/// while the controller still has the former results; sections that went and came; objects that
/// were deleted, inserted, moved, updated; the difference and the snapshot;
/// ``controllerDidChangeContent(_:)``. In between, the controller has the new results.
/// The index path of a removed object or section is that in the former results, of an inserted one
/// that in the new results. To update a list: remove the deleted and moved objects by their former
/// index paths, from the last to the first; delete sections, insert sections; insert the inserted
/// and moved objects by their new index paths, from the first to the last.
///
/// Changes that a delegate makes in the context are reported with the next set of changes. A class
/// of the main actor conforms there: `extension List: @MainActor FetchedResultsControllerDelegate`.
public protocol FetchedResultsControllerDelegate<Result>: AnyObject {
  /// The class of the objects.
  associatedtype Result: ManagedObject

  /// Called before all others of one set of changes; the controller still has the former results.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Result>)

  /// - Parameters:
  ///   - section: the present section. A removed one has its name and no objects, which are
  ///     reported one by one.
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

  /// Called when objects were inserted, removed or moved, and when a save has given objects other
  /// IDs.
  ///
  /// - Parameter difference: the difference of the IDs of all objects, regardless of sections.
  ///   Moves are associated. An object with a new ID is removed and inserted.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>)

  /// Called for every set of changes, and when a save has given objects other IDs.
  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot)

  /// Called after all others of one set of changes.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Result>)

  /// The title of a section in an index beside a list; by default the first letter of the name in
  /// upper case.
  func controller(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Result>, didChange object: Result,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {}

  /// The first letter of the name as a capital; `nil` where there is none.
  public func controller(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName name: String
  ) -> String? {
    controller.sectionIndexTitle(forSectionName: name)
  }
}
