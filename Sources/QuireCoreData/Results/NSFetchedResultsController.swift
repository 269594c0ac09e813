import Foundation
import Quire

/// A section of a controller's result.
public protocol NSFetchedResultsSectionInfo {
  /// The name of the section.
  var name: String { get }
  /// The title in an index beside a list.
  var indexTitle: String? { get }
  /// The number of objects.
  var numberOfObjects: Int { get }
  /// The objects.
  var objects: [Any]? { get }
}

private struct Section: NSFetchedResultsSectionInfo {
  let section: FetchedResultsSectionInfo<ManagedObject>
  var name: String { section.name }
  var indexTitle: String? { section.indexTitle }
  var numberOfObjects: Int { section.numberOfObjects }
  var objects: [Any]? { section.objects }
}

/// A receiver of a controller's changes. All functions have an implementation that does nothing.
///
/// The controller that they get is an `NSFetchedResultsController<NSFetchRequestResult>`, whatever
/// the type of the program's own: it is equal (`==`) to that one, and not identical (`===`).
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called before the changes of the result are reported.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
  /// Called for a section that came or went.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)
  /// Called for an object that came, went, moved or changed.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  /// Called with the difference of the IDs of all objects.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
  /// Called after the changes of the result were reported.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
  /// The title of a section in an index beside a list.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>
  ) {}
  /// The first letter of the name as a capital.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { sectionName.first.map { $0.uppercased() } }
}

/// The result of a request in sections, which follows the changes of a context.
open class NSFetchedResultsController<ResultType>: NSObject {
  /// The request. A change takes effect with the next ``performFetch()``.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// The context whose changes are followed.
  public let managedObjectContext: NSManagedObjectContext
  /// The key path of the names of sections; `nil` for one section.
  public let sectionNameKeyPath: String?
  /// Accepted: there is no cache.
  public let cacheName: String?
  private let content: Content

  /// The controller of Quire's, and the delegate that it calls.
  fileprivate final class Content: FetchedResultsControllerDelegate {
    let base: FetchedResultsController<ManagedObject>
    weak var delegate: (any NSFetchedResultsControllerDelegate)?
    /// The controller for the delegate.
    var erased: () -> NSFetchedResultsController<NSFetchRequestResult>

    init(
      _ base: FetchedResultsController<ManagedObject>,
      _ erased: @escaping () -> NSFetchedResultsController<NSFetchRequestResult>
    ) {
      self.base = base
      self.erased = erased
    }

    /// The content of a controller that is being made.
    convenience init(of base: FetchedResultsController<ManagedObject>) {
      self.init(base) {
        fatalError("a controller was asked for its delegate's form before it was made")
      }
    }

    func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      delegate?.controllerWillChangeContent(erased())
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>,
      didChange section: FetchedResultsSectionInfo<ManagedObject>,
      atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
    ) {
      delegate?.controller(
        erased(), didChange: Section(section: section), atSectionIndex: sectionIndex, for: type)
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
      at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      delegate?.controller(
        erased(), didChange: object, at: indexPath, for: type, newIndexPath: newIndexPath)
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>,
      didChangeContentWith difference: CollectionDifference<ManagedObjectID>
    ) {
      delegate?.controller(erased(), didChangeContentWith: difference)
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      delegate?.controllerDidChangeContent(erased())
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>,
      sectionIndexTitleForSectionName name: String
    ) -> String? {
      guard let delegate else { return controller.sectionIndexTitle(forSectionName: name) }
      return delegate.controller(erased(), sectionIndexTitleForSectionName: name)
    }
  }

  /// A controller of a request, which has sort descriptors, if only an empty array.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    self.sectionNameKeyPath = sectionNameKeyPath
    cacheName = name
    let base = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>(entityName: ""),
      managedObjectContext: context.quireContext, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: name)
    content = Content(of: base)
    super.init()
    shareContent()
  }

  /// A controller whose section names are what a function or a key path of the class makes of an
  /// object: `sectionName: \.initial`.
  ///
  /// Core Data calls a getter by its name, which needs the Objective-C runtime. The request's first
  /// sort descriptor must keep the objects of a section together.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionName: @escaping (ResultType) throws -> String?, cacheName name: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    sectionNameKeyPath = nil
    cacheName = name
    let base = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>(entityName: ""),
      managedObjectContext: context.quireContext,
      sectionName: { object in
        // The objects of the request, in the type that it names.
        try (object as? ResultType).flatMap(sectionName)
      })
    content = Content(of: base)
    super.init()
    shareContent()
  }

  /// Lets the delegate get a controller of the type that it knows.
  private func shareContent() {
    let (request, context) = (fetchRequest, managedObjectContext)
    let (path, name) = (sectionNameKeyPath, cacheName)
    content.erased = { [unowned content] in
      NSFetchedResultsController<NSFetchRequestResult>(
        request.converted(), context, path, name, sharing: content)
    }
  }

  /// A controller of another type with the same content.
  fileprivate init<Other>(
    _ fetchRequest: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext,
    _ sectionNameKeyPath: String?, _ name: String?,
    sharing content: NSFetchedResultsController<Other>.Content
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    self.sectionNameKeyPath = sectionNameKeyPath
    cacheName = name
    self.content = Content(
      content.base, { fatalError("a delegate's controller has no other form") })
  }

  /// Receives the changes. The controller does not retain it.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { content.delegate }
    set {
      content.delegate = newValue
      content.base.delegate = newValue == nil ? nil : content
    }
  }

  /// Does nothing, as there are no caches.
  open class func deleteCache(withName name: String?) {}

  /// Fetches, and follows the context's changes from now on if there is a delegate.
  ///
  /// - Throws: error 134091 for a request whose ``NSFetchRequest/sortDescriptors`` are `nil`; with
  ///   an empty array objects come by their IDs.
  open func performFetch() throws {
    try translatingErrors {
      guard fetchRequest.sortDescriptors != nil else {
        throw PersistenceError(
          .persistentStoreUnsupportedRequestType,
          "a fetched results controller needs a request with sort descriptors: set them, or an "
            + "empty array if the order does not matter")
      }
      content.base.fetchRequest = try fetchRequest.quireRequest(in: managedObjectContext)
      try content.base.performFetch()
    }
  }

  /// All objects in order; `nil` before the first fetch.
  open var fetchedObjects: [ResultType]? { content.base.fetchedObjects?.map { $0 as! ResultType } }

  /// The sections; `nil` before the first fetch.
  open var sections: [NSFetchedResultsSectionInfo]? {
    content.base.sections?.map { Section(section: $0) }
  }

  /// The titles of sections in an index beside a list.
  open var sectionIndexTitles: [String] { content.base.sectionIndexTitles }

  /// The section of a title.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    raising("section(forSectionIndexTitle: \"\(title)\", at: \(sectionIndex))") {
      try content.base.section(forSectionIndexTitle: title, at: sectionIndex)
    }
  }

  /// The title of a section of a name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    content.base.sectionIndexTitle(forSectionName: sectionName)
  }

  /// The object at an index path. One that is out of range stops the program.
  open func object(at indexPath: IndexPath) -> ResultType {
    // Programs override this, so that it does not know where it was called.
    raising("object(at: \(indexPath))") { try content.base.object(at: indexPath) } as! ResultType
  }

  /// The index path of an object; `nil` if it is not in the result.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as? ManagedObject).flatMap { content.base.indexPath(forObject: $0) }
  }

  /// Whether the other controller has the same content.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? any FetchedContent)?.base === content.base
  }

  /// Equal controllers have equal hashes.
  open override var hash: Int { ObjectIdentifier(content.base).hashValue }
}

/// A controller of any type.
private protocol FetchedContent {
  var base: FetchedResultsController<ManagedObject> { get }
}

extension NSFetchedResultsController: FetchedContent {
  fileprivate var base: FetchedResultsController<ManagedObject> { content.base }
}
