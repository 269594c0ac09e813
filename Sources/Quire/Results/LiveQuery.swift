#if canImport(Observation)
  import Observation
  import QuireModel

  /// The result of a request as the framework Observation follows it: what SwiftUI and other code
  /// of observed objects read is read anew when it changes.
  ///
  /// ```swift
  /// struct ArtworkList: View {
  ///   let artworks: LiveQuery<Artwork>
  ///
  ///   var body: some View {
  ///     List(artworks.objects, id: \.objectID) { artwork in Text(artwork.title) }
  ///   }
  /// }
  ///
  /// ArtworkList(artworks: LiveQuery(Artwork.sorted(by: \.title), in: container.viewContext))
  /// ```
  ///
  /// ``objects`` counts as changed each time the context has processed changes that show in the
  /// result: its own, and those of other contexts that it merges
  /// (``ManagedObjectContext/automaticallyMergesChangesFromParent``). After a
  /// ``ManagedObjectContext/reset()``, which leaves no object, it is fetched anew. The properties
  /// of the objects are followed as well, one by one: a query sets
  /// ``ManagedObjectContext/tracksPropertyAccess``.
  ///
  /// Nothing is fetched before ``objects`` is read. What a change costs is said of
  /// ``FetchedResultsController``, which does the work. A query belongs to the isolation of its
  /// context, and follows the request until it is released. For a loop instead of an observed
  /// object there is ``ManagedObjectContext/results(of:)``.
  ///
  /// ## Example
  ///
  /// ```swift
  /// let query = LiveQuery(Artwork.sorted(by: \.title), in: context)
  /// withObservationTracking {
  ///   print(query.objects.map(\.title))
  /// } onChange: {
  ///   print("to be read again")
  /// }
  /// Artwork(context: context).title = "Almond Blossom"
  /// context.processPendingChanges()
  /// print(query.objects.map(\.title))
  /// ```
  ///
  /// prints
  ///
  /// ```
  /// ["The Great Wave"]
  /// to be read again
  /// ["Almond Blossom", "The Great Wave"]
  /// ```
  public final class LiveQuery<Result: ManagedObject>: Observable {
    /// The context of the objects.
    public let context: ManagedObjectContext

    /// What is asked; without an order, objects come by their IDs. Setting another request, for
    /// example one with the text of a search field, is a change of ``objects``.
    public var request: FetchRequest<Result> {
      didSet { fetchAgain() }
    }

    private let sectionKeyPath: String?
    private let registrar = ObservationRegistrar()
    private var follower: ResultFollower<Result>?
    private var result: LiveResult<Result>?
    private var fetchError: (any Error)?
    private var observation: ContextObservation?

    /// A query without sections.
    ///
    /// - Parameters:
    ///   - request: what is asked; without an order, objects come by their IDs.
    ///   - context: of the objects.
    public init(_ request: FetchRequest<Result>, in context: ManagedObjectContext) {
      self.request = request
      self.context = context
      sectionKeyPath = nil
      follow(context)
    }

    /// A query in sections, which have the objects with the same value of a property:
    /// `query.objects.sections`.
    ///
    /// - Parameters:
    ///   - request: one whose order begins with the property, or agrees with it.
    ///   - context: of the objects.
    ///   - property: a text, a number or a date.
    public init<Name>(
      _ request: FetchRequest<Result>, in context: ManagedObjectContext,
      sectionedBy property: KeyPath<Result, Name>
    ) {
      self.request = request
      self.context = context
      sectionKeyPath = KeyPathNames.names(of: property).joined(separator: ".")
      follow(context)
    }

    private func follow(_ context: ManagedObjectContext) {
      context.tracksPropertyAccess = true
      observation = context.observe([.didChangeObjects]) { [unowned self] notice in
        if notice.invalidatedAllObjects { fetchAgain() }
      }
    }

    /// The present result, and what has changed since the one before. Empty where it cannot be
    /// fetched: ``error`` has the reason.
    ///
    /// - Complexity: O(1), and that of the fetch the first time.
    public var objects: LiveResult<Result> {
      registrar.access(self, keyPath: \.objects)
      return result ?? fetch()
    }

    /// Why there is no result; `nil` when there is one.
    public var error: (any Error)? {
      registrar.access(self, keyPath: \.error)
      if result == nil { _ = fetch() }
      return fetchError
    }

    /// Fetches again, also what could not be fetched before.
    public func fetchAgain() {
      registrar.withMutation(of: self, keyPath: \.error) {
        registrar.withMutation(of: self, keyPath: \.objects) {
          (follower, result, fetchError) = (nil, nil, nil)
        }
      }
    }

    private func fetch() -> LiveResult<Result> {
      let controller = FetchedResultsController(
        fetchRequest: request.ordered(inSectionsBy: sectionKeyPath), managedObjectContext: context,
        sectionNameKeyPath: sectionKeyPath)
      let follower = ResultFollower(controller) { [unowned self] in takeNews() }
      self.follower = follower
      let fetched: LiveResult<Result>
      do {
        fetched = try follower.fetch()
        fetchError = nil
      } catch {
        fetched = LiveResult(controller, since: [], nil, [])
        fetchError = error
      }
      result = fetched
      return fetched
    }

    private func takeNews() {
      guard let next = follower?.takeNews() else { return }
      registrar.withMutation(of: self, keyPath: \.objects) { result = next }
    }
  }

  @available(*, unavailable)
  extension LiveQuery: Sendable {}
#endif
