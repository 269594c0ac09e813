#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A section of a ``FetchedResultsController`` at the time of the call.
public struct FetchedResultsSectionInfo<Result: ManagedObject> {
  /// The name that the objects share; empty if the controller has no section names.
  public let name: String
  /// The title of the section in an index beside a list.
  public let indexTitle: String?
  /// In the order of the request.
  public let objects: [Result]

  /// How many objects the section has.
  public var numberOfObjects: Int { objects.count }

  /// The section without objects, for reporting its removal.
  var emptied: Self { Self(name: name, indexTitle: indexTitle, objects: []) }
}

@available(*, unavailable)
extension FetchedResultsSectionInfo: Sendable {}

/// The IDs of a ``FetchedResultsController``'s objects, in sections: a sendable value, for
/// comparing a displayed state with the present one.
public struct FetchedResultsSnapshot: Hashable, Sendable {
  /// Shared with the controller, so that a snapshot costs little where it is not asked.
  let list: SectionedList<ManagedObjectID>
  /// One section: its name, and its objects by their IDs.
  public struct Section: Hashable, Sendable {
    /// What the objects have in common; empty when the controller has no sections of its own.
    public let name: String
    /// The objects in their order.
    public let objectIDs: [ManagedObjectID]
  }

  /// The sections in their order.
  ///
  /// - Complexity: O(*n*), each time it is asked for; so is ``objectIDs``.
  public var sections: [Section] {
    list.sections.map { section in
      Section(name: section.name, objectIDs: Array(list.elements[section.range]))
    }
  }

  /// Those of the IDs whose objects were in the former result and have changed, wherever they are
  /// now.
  public let updatedObjectIDs: Set<ManagedObjectID>

  /// The names of the sections, in their order.
  public var sectionNames: [String] { list.sections.map(\.name) }
  /// The objects of all sections, in their order.
  public var objectIDs: [ManagedObjectID] { Array(list.elements) }
}

#if !canImport(UIKit) && !canImport(AppKit)
  // The members that UIKit and AppKit add to index paths on their platforms.
  extension IndexPath {
    /// The index of an item in a section, both counted from 0.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    /// The index of a row in a section, both counted from 0.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The number of the section in a list.
    public var section: Int { self[0] }
    /// The number of the object in its section.
    public var item: Int { self[1] }
    /// The number of the object in its section.
    public var row: Int { self[1] }
  }
#endif
