public import Foundation
public import QuireCoreData

/// The identifiers of a list by sections, as a value.
public struct ListSnapshot: Sendable, Equatable {
  public struct Section: Sendable, Equatable {
    public var name: String
    public var items: [NSManagedObjectID]

    public init(name: String, items: [NSManagedObjectID]) {
      self.name = name
      self.items = items
    }
  }

  public var sections: [Section] = []
  public var changed: Set<NSManagedObjectID> = []

  public init() {}

  @inlinable
  public var count: Int { sections.reduce(0) { $0 + $1.items.count } }

  @inlinable
  public subscript(indexPath: IndexPath) -> NSManagedObjectID {
    sections[indexPath[0]].items[indexPath[1]]
  }
}

/// Follows a query on the main queue.
@MainActor
public final class LiveList<Object: Managed> {
  private let controller: NSFetchedResultsController<Object>
  private let relay: Relay
  public private(set) var snapshot = ListSnapshot()
  public var onChange: (@MainActor (ListSnapshot) -> Void)?

  public init(
    _ query: Query<Object>, in context: NSManagedObjectContext, sectionedBy keyPath: String? = nil
  ) {
    controller = NSFetchedResultsController(
      fetchRequest: query.request(), managedObjectContext: context, sectionNameKeyPath: keyPath,
      cacheName: nil)
    relay = Relay()
    controller.delegate = relay
    relay.handler = { [weak self] changed in self?.update(changed: changed) }
  }

  public func start() throws {
    try controller.performFetch()
    update(changed: [])
  }

  public func object(at indexPath: IndexPath) -> Object { controller.object(at: indexPath) }

  public var objects: [Object] { controller.fetchedObjects ?? [] }

  private func update(changed: Set<NSManagedObjectID>) {
    var next = ListSnapshot()
    next.sections = (controller.sections ?? []).map { section in
      let objects = section.objects as? [NSManagedObject] ?? []
      return ListSnapshot.Section(name: section.name, items: objects.map(\.objectID))
    }
    next.changed = changed
    snapshot = next
    onChange?(next)
  }
}

/// The delegate, which cannot be the generic class itself.
@MainActor
private final class Relay: NSObject, @preconcurrency NSFetchedResultsControllerDelegate {
  var handler: ((Set<NSManagedObjectID>) -> Void)?
  private var changed: Set<NSManagedObjectID> = []

  func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    changed = []
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? NSManagedObject else { return }
    switch type {
    case .update, .move: changed.insert(object.objectID)
    case .insert, .delete: break
    @unknown default: break
    }
  }

  func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    handler?(changed)
  }
}
