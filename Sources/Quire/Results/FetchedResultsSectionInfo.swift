#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A section of a ``FetchedResultsController``, as it was when the controller was asked for it.
public struct FetchedResultsSectionInfo<Result: ManagedObject> {
  /// What the objects have in common; empty when the controller has no sections of its own.
  public let name: String
  /// What stands for the section in an index beside a list.
  public let indexTitle: String?
  /// In the order of the request.
  public let objects: [Result]

  public var numberOfObjects: Int { objects.count }

  /// The section when it is not there any more.
  var emptied: Self { Self(name: name, indexTitle: indexTitle, objects: []) }
}

@available(*, unavailable)
extension FetchedResultsSectionInfo: Sendable {}

/// Which objects a ``FetchedResultsController`` has, in its sections: a value that may be sent
/// anywhere, for those who compare what they show with what there is.
public struct FetchedResultsSnapshot: Hashable, Sendable {
  public struct Section: Hashable, Sendable {
    public let name: String
    public let objectIDs: [ManagedObjectID]
  }

  public let sections: [Section]
  /// Of these, the objects that were there before and have changed, wherever they are now.
  public let updatedObjectIDs: Set<ManagedObjectID>

  public var sectionNames: [String] { sections.map(\.name) }
  public var objectIDs: [ManagedObjectID] { sections.flatMap(\.objectIDs) }
}

#if !canImport(UIKit) && !canImport(AppKit)
  // What UIKit and AppKit add to an index path where they exist.
  extension IndexPath {
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The number of the section in a list.
    public var section: Int { self[0] }
    /// The number of the object in its section.
    public var item: Int { self[1] }
    /// The number of the object in its section.
    public var row: Int { self[1] }
  }
#endif
