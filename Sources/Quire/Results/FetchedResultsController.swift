import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps the result of a request up to date, in sections, and tells what changes in it.
///
/// ```swift
/// var request = FetchRequest<Artwork>(entityName: "Artwork")
/// request.sortDescriptors = [
///   FetchSortDescriptor(key: "genre"), FetchSortDescriptor(key: "title"),
/// ]
/// let controller = FetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "genre")
/// controller.delegate = list
/// try controller.performFetch()
/// ```
///
/// ## What it shows
///
/// The objects of the request with the context's unsaved changes, as a fetch would give them. The
/// controller follows its context: when this processes changes
/// (``ManagedObjectContext/processPendingChanges()``, which fetches, saves and `perform` call),
/// rolls back, undoes, merges what others have saved, or saves. What others save is not seen before
/// it is merged or something else changes; see
/// ``ManagedObjectContext/automaticallyMergesChangesFromParent``.
///
/// It asks the store again where a change can make a difference to which objects there are or where
/// they are, and compares; so limits, and predicates and sort keys that lead to other objects, are
/// followed as well. Such a change costs a fetch, O(*n* log *n*) in the objects of the result, once
/// for all that is processed together. A change of properties that the request does not ask for
/// costs none.
///
/// ## Sections
///
/// Objects of one section must come one after the other: the first sort key is the one that section
/// names are made of, or one that agrees with it. A fetch that finds a section in two parts fails.
///
/// ## Tracking
///
/// Without a ``delegate`` the controller follows nothing and costs nothing; the result stays what
/// the last ``performFetch()`` has found. After ``ManagedObjectContext/reset()`` the objects belong
/// to no context: nothing is told, and nothing followed until the next ``performFetch()``.
///
/// All objects of the result are held by the controller; ``FetchRequest/fetchBatchSize`` is not
/// looked at. It belongs to the isolation of its context, as the objects do.
public final class FetchedResultsController<Result: ManagedObject> {
  /// A change of it counts from the next ``performFetch()``.
  public var fetchRequest: FetchRequest<Result>
  public let managedObjectContext: ManagedObjectContext
  /// The path whose values are the names of sections; `nil` when there is one section, or names
  /// are made by a function.
  public let sectionNameKeyPath: String?
  /// The name that was given; there is no cache.
  public let cacheName: String?
  let naming: SectionNaming<Result>

  /// Told what changes. The controller does not hold it.
  public weak var delegate: (any FetchedResultsControllerDelegate<Result>)? {
    didSet { if list != nil { observe() } }
  }

  /// The request that was made last.
  private var followed: FetchRequest<Result>?
  /// What was found last; `nil` before.
  var list: SectionedList<ManagedObject>? {
    didSet { positions = nil }
  }
  /// The IDs that the objects had when somebody was told last.
  var objectIDs: [ManagedObjectID] = []
  /// By object; worked out when somebody asks.
  private var positions: [ObjectIdentifier: Int]?
  var scope: FetchedResultsScope?
  var observation: ContextObservation?
  /// What has happened while the delegate was told, or a fetch was made.
  var waiting: FetchedResultsNews?
  var isBusy = false

  /// - Parameters:
  ///   - fetchRequest: with one sort key at least.
  ///   - sectionNameKeyPath: a path to a text, a number or a date, may be transient; `nil` for one
  ///     section.
  ///   - cacheName: taken for the sake of code that gives one. There is no cache: sections are read
  ///     with the objects, from what the fetch reads for its sort keys.
  public init(
    fetchRequest: FetchRequest<Result>, managedObjectContext: ManagedObjectContext,
    sectionNameKeyPath: String? = nil, cacheName: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
    naming = sectionNameKeyPath.map { .path(FetchExpression.names(in: $0)) } ?? .none
  }

  /// A controller whose sections have the names that a function makes.
  ///
  /// - Parameter sectionName: of what the object shows; the same for all objects of a section,
  ///   which the request's first sort key must keep together. Asked again when an object of the
  ///   entity changes. The controller holds it.
  public init(
    fetchRequest: FetchRequest<Result>, managedObjectContext: ManagedObjectContext,
    sectionName: @escaping (Result) throws -> String
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    sectionNameKeyPath = nil
    cacheName = nil
    naming = .function(sectionName)
  }

  /// Does nothing, as there are no caches; for code that deletes them.
  public static func deleteCache(withName name: String?) {}

  /// Finds the objects, and follows them from now on if there is a ``delegate``, who is not told of
  /// this.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` when the request has
  ///   no sort keys, a section comes in two parts, or the path of section names does not lead to
  ///   something that can be one; what ``ManagedObjectContext/fetch(_:)`` throws. The former result
  ///   stays then.
  public func performFetch() throws {
    guard !fetchRequest.sortDescriptors.isEmpty else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetched results controller needs a request with sort descriptors: without them its "
          + "objects have no order to keep")
    }
    let wasBusy = isBusy
    isBusy = true
    defer { isBusy = wasBusy }
    managedObjectContext.settlePendingChanges()
    try managedObjectContext.throwKeptErrors()
    let scope = try FetchedResultsScope(fetchRequest, naming, in: managedObjectContext)
    let list = try fetch(fetchRequest, scope)
    followed = fetchRequest
    // Once: a refresh is news in itself.
    followed?.shouldRefreshRefetchedObjects = false
    self.scope = scope
    self.list = list
    objectIDs = list.elements.map(\.objectID)
    waiting = nil
    observe()
  }

  /// What the request that was made last would find now.
  func fetchAgain(_ scope: FetchedResultsScope) throws -> SectionedList<ManagedObject> {
    try fetch(followed ?? fetchRequest, scope)
  }

  private func fetch(
    _ request: FetchRequest<Result>, _ scope: FetchedResultsScope
  ) throws -> SectionedList<ManagedObject> {
    try SectionedList(request, naming, scope.sectionPath, in: managedObjectContext)
  }
}

@available(*, unavailable)
extension FetchedResultsController: Sendable {}

// MARK: - The result

extension FetchedResultsController {
  /// All objects in the order of the request; `nil` before the first ``performFetch()``.
  ///
  /// - Complexity: O(*n*); so is ``sections``.
  public var fetchedObjects: [Result]? { list.map { [Result](checked: $0.elements) } }

  /// `nil` before the first ``performFetch()``. Without a path or a function for names there is one
  /// section, whose name is empty; with one of them an empty result has none.
  public var sections: [FetchedResultsSectionInfo<Result>]? {
    list.map { list in list.sections.indices.map { section($0, of: list) } }
  }

  func section(
    _ index: Int, of list: SectionedList<ManagedObject>
  ) -> FetchedResultsSectionInfo<Result> {
    let section = list.sections[index]
    return FetchedResultsSectionInfo(
      name: section.name, indexTitle: indexTitle(of: section.name),
      objects: [Result](checked: Array(list.elements[section.range])))
  }

  /// The object in a place.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is none.
  public func object(at indexPath: IndexPath) throws -> Result {
    if let list, indexPath.count == 2, list.sections.indices.contains(indexPath[0]) {
      let range = list.sections[indexPath[0]].range
      if (0..<range.count).contains(indexPath[1]),
        let object = list.elements[range.lowerBound + indexPath[1]] as? Result
      {
        return object
      }
    }
    throw PersistenceError(
      .undefinedKey,
      list == nil
        ? "the controller has no objects before performFetch()"
        : "the controller has no object at \(indexPath)")
  }

  /// Where an object is; `nil` when it is not in the result.
  ///
  /// - Complexity: O(1), and O(*n*) the first time after a change.
  public func indexPath(forObject object: Result) -> IndexPath? {
    guard let list else { return nil }
    let positions =
      positions
      ?? Dictionary(
        uniqueKeysWithValues: list.elements.enumerated().map { (ObjectIdentifier($1), $0) })
    self.positions = positions
    return positions[ObjectIdentifier(object)].map(list.indexPath)
  }
}

extension SectionedList {
  func indexPath(of index: Int) -> IndexPath {
    let section = section(of: index)
    return IndexPath(indexes: [section, index - sections[section].range.lowerBound])
  }
}
