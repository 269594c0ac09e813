import QuireModel

/// A description of the objects that a context is to find, and of their order.
///
/// ```swift
/// var request = FetchRequest<Artwork>(entityName: "Artwork")
/// request.predicate = Key("artist.name") == "Hokusai" && Key("price") < 1_000
/// request.sortDescriptors = [FetchSortDescriptor(key: "title")]
/// let artworks = try context.fetch(request)
/// ```
///
/// ## Example
///
/// The two dearest works of an artist, the dearest first:
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.predicate = Key("artist.name") == "Katsushika Hokusai"
/// request.sortDescriptors = [FetchSortDescriptor(key: "price", ascending: false)]
/// request.fetchLimit = 2
/// for artwork in try context.fetch(request) {
///   print(artwork.title, artwork.price)
/// }
/// ```
///
/// prints
///
/// ```
/// The Great Wave 1600.0
/// Red Fuji 900.0
/// ```
public struct FetchRequest<Result: ManagedObject> {
  /// The entity whose objects are found; looked up in the context's model when the request runs.
  public var entityName: String
  /// All objects of the entity when `nil`.
  public var predicate: FetchPredicate?
  /// The order of the result. Objects that are equal in all keys, and all objects when there is no
  /// key, come in the order of their stores, entities and keys, objects that were never saved last.
  public var sortDescriptors: [FetchSortDescriptor] = []
  /// The largest number of objects to return; 0 is no limit.
  public var fetchLimit = 0
  /// How many objects to leave out at the beginning of the result.
  public var fetchOffset = 0
  /// The number of objects that ``ManagedObjectContext/fetchBatched(_:)`` makes at a time, when one
  /// of them is accessed; 0 for the context's choice. ``ManagedObjectContext/fetch(_:)`` makes all
  /// at once.
  public var fetchBatchSize = 0
  /// Whether objects of subentities are found too.
  public var includesSubentities = true
  /// Whether unsaved changes of the context count; otherwise only saved rows do.
  public var includesPendingChanges = true

  /// Whether objects that the context has already are refreshed, their unsaved changes on top;
  /// otherwise they keep the values they had.
  public var shouldRefreshRefetchedObjects = false

  /// Whether the objects found are faults, which read their properties on first access; otherwise
  /// all are read during the fetch.
  public var returnsObjectsAsFaults = true

  /// Whether rows are read with the objects. Without rows, objects take less memory and read their
  /// values on first access, which suits a fetch for IDs or relationships.
  public var includesPropertyValues = true

  /// Key paths of relationships whose objects will be needed. An incremental store is asked for all
  /// objects of a step at once; other stores follow links as fast without it.
  public var relationshipKeyPathsForPrefetching: [String] = []

  /// The form of the result of `ManagedObjectContext.execute(_:)`; other methods ignore it.
  public var resultType = FetchRequestResultType.managedObjects

  /// The values that ``ManagedObjectContext/dictionaries(for:)`` returns for each object or group.
  public var propertiesToFetch: [ExpressionDescription] = []

  /// The values by which ``ManagedObjectContext/dictionaries(for:)`` groups objects.
  public var propertiesToGroupBy: [ExpressionDescription] = []

  /// A condition on the groups; its keys are names of ``propertiesToFetch``.
  public var havingPredicate: FetchPredicate?

  /// Whether a dictionary that equals an earlier one is left out.
  public var returnsDistinctResults = false

  /// The stores that are searched, and whose new objects count; `nil` for all of the context.
  public var affectedStores: [PersistentStore]?

  /// A request for all objects of an entity, by its name.
  public init(entityName: String) { self.entityName = entityName }

  /// A request for the objects of the entity that the class is registered for.
  public init() { self.init(entityName: Result.modelEntityName) }
}

extension FetchRequest: Sendable {}

extension FetchRequest {
  /// Whether objects must be read, or others prefetched, after they are found.
  var preparesObjects: Bool {
    !returnsObjectsAsFaults || !relationshipKeyPathsForPrefetching.isEmpty
  }
}

extension PropertyReading {
  /// A request for all objects of the entity that the class is registered for.
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }
}

extension ManagedObject: PredicateConvertible {
  public var predicateValue: PredicateValue? { objectID.predicateValue }
}
