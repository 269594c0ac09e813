import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps the result of a request up to date, in sections, and reports changes to a delegate.
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
/// ## Contents
///
/// The result has the objects of the request with the context's unsaved changes, as a fetch would
/// return them. The controller observes its context: it updates the result when the context
/// processes changes (``ManagedObjectContext/processPendingChanges()``, called by fetches, saves
/// and `perform`), rolls back, undoes, merges changes of other contexts, or saves. Changes of other
/// contexts show when they are merged or when something else changes; see
/// ``ManagedObjectContext/automaticallyMergesChangesFromParent``.
///
/// The objects that have changed are asked whether the request finds them, and take their positions
/// in the list: O(log *n*) look-ups of rows for each. In some cases the controller fetches again
/// and compares, O(*n* log *n*) in the objects of the result, once for all changes that are
/// processed together: when the request has a limit, or paths to other objects in its predicate or
/// its order, or when the model has derived attributes; when more than one in 200 objects have
/// changed together; when another context has saved and this one has not merged it; when names of
/// sections are transient or made by a function; in child contexts, with several stores, and with
/// incremental stores.
///
/// ## Sections
///
/// The objects of a section must be adjacent: the first sort key must be the key of the section
/// names, or agree with it. A fetch that finds a section in two parts fails.
///
/// ## Tracking
///
/// Without a ``delegate`` the controller observes nothing and costs nothing; the result remains
/// that of the last ``performFetch()``. After ``ManagedObjectContext/reset()`` the objects belong
/// to no context: nothing is reported or observed until the next ``performFetch()``.
///
/// The controller holds all objects of the result; ``FetchRequest/fetchBatchSize`` is ignored. It
/// belongs to the isolation of its context, as the objects do.
///
/// ## Example
///
/// A list that is told what changes in it, by a delegate whose
/// `controller(_:didChange:at:for:newIndexPath:)` notes a line for each change:
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.sortDescriptors = [FetchSortDescriptor(key: "title")]
/// let controller = FetchedResultsController(
///   fetchRequest: request, managedObjectContext: context)
/// let list = List()
/// controller.delegate = list
/// try controller.performFetch()
///
/// Artwork(context: context).title = "Storm"
/// context.processPendingChanges()
/// print(list.lines)
/// ```
///
/// prints
///
/// ```
/// ["insert Storm at 1"]
/// ```
public final class FetchedResultsController<Result: ManagedObject> {
  /// The request. A change takes effect with the next ``performFetch()``.
  public var fetchRequest: FetchRequest<Result>
  /// The context whose objects these are, and whose changes are followed.
  public let managedObjectContext: ManagedObjectContext
  /// The key path of section names; `nil` if there is one section, or if a function makes the
  /// names.
  public let sectionNameKeyPath: String?
  /// The name given to the initialiser; there is no cache.
  public let cacheName: String?
  let naming: SectionNaming<Result>

  /// Receives the changes. The controller does not hold it.
  public weak var delegate: (any FetchedResultsControllerDelegate<Result>)? {
    didSet {
      if list == nil { return }
      // Nothing was observed meanwhile.
      if observation == nil { forgetState() }
      observe()
    }
  }

  /// The request of the last ``performFetch()``.
  private var followed: FetchRequest<Result>?
  /// The present result; `nil` before the first fetch.
  var list: SectionedList<ManagedObject>? {
    didSet { positions = nil }
  }
  /// How often the result was fetched, for tests.
  package private(set) var fetchCount = 0
  /// What the present result was made of.
  private(set) var state: FetchedState?
  /// The numbers of commits after that of which the observed changes have everything.
  var knownCommits: Set<UInt64> = []
  /// The IDs of the objects when the delegate was last called.
  var objectIDs: ChunkedList<ManagedObjectID> = []
  /// The positions of objects; computed on demand.
  private var positions: [ObjectIdentifier: Int]?
  var scope: FetchedResultsScope?
  var observation: ContextObservation?
  /// Changes that were observed while the delegate was called, or a fetch was running.
  var waiting: FetchedResultsNews?
  var isBusy = false

  /// - Parameters:
  ///   - fetchRequest: a request. Without sort keys objects come by the names of their sections,
  ///     and by their IDs.
  ///   - sectionNameKeyPath: a path to a text, a number or a date, which may be transient; `nil`
  ///     for one section. What is no property of the model the class may answer, by
  ///     ``ManagedObject/value(forUndefinedKey:)``.
  ///   - cacheName: accepted for source compatibility. There is no cache: sections are computed
  ///     from the values that the fetch reads for its sort keys.
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

  /// A controller whose section names are made by a function, or are read by a key path of the
  /// class: `sectionName: \.initial`.
  ///
  /// - Parameter sectionName: returns the name of an object's section; `nil` is the empty name. The
  ///   request's first sort key
  ///   must keep the objects of a section together. The function is called again when an object of
  ///   the entity changes. The controller holds it.
  public init(
    fetchRequest: FetchRequest<Result>, managedObjectContext: ManagedObjectContext,
    sectionName: @escaping (Result) throws -> String?
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    sectionNameKeyPath = nil
    cacheName = nil
    naming = .function { try sectionName($0) ?? "" }
  }

  /// Does nothing, as there are no caches; for source compatibility.
  public static func deleteCache(withName name: String?) {}

  /// Fetches the objects, and observes them from now on if there is a ``delegate``, which is not
  /// called for this fetch.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` if a section comes
  ///   in two parts, or if the values at the path of section names cannot be names; what
  ///   ``ManagedObjectContext/fetch(_:)`` throws. The former result stays then.
  public func performFetch() throws {
    let wasBusy = isBusy
    isBusy = true
    defer { isBusy = wasBusy }
    try managedObjectContext.bringUpToDate()
    let request = try orderedRequest()
    let scope = try FetchedResultsScope(request, naming, in: managedObjectContext)
    let list = try fetch(request, scope)
    followed = request
    // Only for this fetch, as each refresh would be observed as a change.
    followed?.shouldRefreshRefetchedObjects = false
    self.scope = scope
    self.list = list
    objectIDs = ChunkedList(list.elements.map(\.objectID))
    waiting = nil
    observe()
  }

  /// The request, with an order if it has none.
  private func orderedRequest() throws -> FetchRequest<Result> {
    guard fetchRequest.sortDescriptors.isEmpty, let sectionNameKeyPath else {
      return fetchRequest.ordered(inSectionsBy: nil)
    }
    // No fetch can sort by what the objects alone tell: then they must come by their IDs.
    let target = try FetchTarget(fetchRequest, in: managedObjectContext, reading: [])
    let isStored = try naming.storedPath(of: target.entityName, in: managedObjectContext) != nil
    return fetchRequest.ordered(inSectionsBy: isStored ? sectionNameKeyPath : nil)
  }

  /// The present result of the last request.
  func fetchAgain(_ scope: FetchedResultsScope) throws -> SectionedList<ManagedObject> {
    try fetch(followed ?? fetchRequest, scope)
  }

  private func fetch(
    _ request: FetchRequest<Result>, _ scope: FetchedResultsScope
  ) throws -> SectionedList<ManagedObject> {
    fetchCount += 1
    return try managedObjectContext.inOneState {
      let execution = try execution(request, scope)
      let list = try SectionedList(
        execution, intake(refreshesObjects: request.shouldRefreshRefetchedObjects), naming,
        scope.sectionPath)
      record(FetchedState(execution))
      return list
    }
  }

  /// Brings a result up to date by the objects that may have changed; `nil` when only a fetch can
  /// tell.
  func update(
    of former: SectionedList<ManagedObject>, _ changed: [ManagedObject],
    isTouched: (ManagedObject) -> Bool,
    _ scope: FetchedResultsScope
  ) throws -> FetchedListUpdate? {
    guard let fetched = state else { return nil }
    let execution = try execution(followed ?? fetchRequest, scope)
    guard let state = FetchedState(execution), state.follows(fetched, by: knownCommits),
      let update = try FetchedListUpdate(
        of: former, objectIDs, changed, isTouched: isTouched, execution,
        intake(refreshesObjects: false), isSectioned: scope.sectionPath != nil)
    else { return nil }
    record(state)
    return update
  }

  private func execution(
    _ request: FetchRequest<Result>, _ scope: FetchedResultsScope
  ) throws -> FetchExecution {
    try FetchExecution(
      request, in: managedObjectContext, reading: scope.sectionPath.map { [$0] } ?? [])
  }

  private func intake(refreshesObjects: Bool) -> FetchIntake {
    FetchIntake(Result.self, in: managedObjectContext, refreshesObjects: refreshesObjects)
  }

  /// Lets the next changes be followed by a fetch.
  func forgetState() { record(nil) }

  private func record(_ state: FetchedState?) {
    self.state = state
    knownCommits = []
  }
}

@available(*, unavailable)
extension FetchedResultsController: Sendable {}

// MARK: - The result

extension FetchedResultsController {
  /// All objects in the order of the request; `nil` before the first ``performFetch()``.
  ///
  /// - Complexity: O(*n*); so is ``sections``.
  public var fetchedObjects: [Result]? { list.map { [Result](checked: Array($0.elements)) } }

  /// The sections; `nil` before the first ``performFetch()``. Without a path or a function for
  /// names there is one section with an empty name; otherwise an empty result has no sections.
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

  /// The object at an index path.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is none.
  public func object(at indexPath: IndexPath) throws -> Result {
    if let list, indexPath.count == 2, list.sections.indices.contains(indexPath[0]) {
      let range = list.sections[indexPath[0]].range
      if (0..<range.count).contains(indexPath[1]) {
        return list.result(at: range.lowerBound + indexPath[1])
      }
    }
    throw PersistenceError(
      .undefinedKey,
      list == nil
        ? "the controller has no objects before performFetch()"
        : "the controller has no object at \(indexPath)")
  }

  /// The index path of an object; `nil` if it is not in the result.
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
