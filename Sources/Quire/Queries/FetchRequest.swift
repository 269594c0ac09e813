import QuireModel

/// Says which objects a context shall find, and in which order.
///
/// ```swift
/// var request = FetchRequest<Artwork>(entityName: "Artwork")
/// request.predicate = Key("artist.name") == "Hokusai" && Key("price") < 1_000
/// request.sortDescriptors = [FetchSortDescriptor(key: "title")]
/// let artworks = try context.fetch(request)
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
  /// How many objects ``ManagedObjectContext/fetchBatched(_:)`` makes at once, when one of them is
  /// looked at; 0 leaves it to the context. A ``ManagedObjectContext/fetch(_:)`` makes all.
  public var fetchBatchSize = 0
  /// Whether objects of subentities are found too.
  public var includesSubentities = true
  /// Whether unsaved changes of the context count, or only what the store has.
  public var includesPendingChanges = true

  /// Whether objects that the context has already are refreshed, their unsaved changes on top;
  /// otherwise they keep the values they had.
  public var shouldRefreshRefetchedObjects = false

  /// Whether the objects found are faults, which read their properties when these are asked for;
  /// otherwise all are read at once, as the fetch finds them.
  public var returnsObjectsAsFaults = true

  /// Whether the rows of objects come with them. Without, objects take less memory, and are read as
  /// they are when they are looked at; that is what a fetch for IDs or relationships needs.
  public var includesPropertyValues = true

  /// Paths over relationships whose objects are going to be looked at: a store of another make is
  /// asked for all of a step at once. Other stores follow links as fast without.
  public var relationshipKeyPathsForPrefetching: [String] = []

  /// What ``ManagedObjectContext/execute(_:)`` returns. Its other methods say it themselves.
  public var resultType = FetchRequestResultType.managedObjects

  /// What ``ManagedObjectContext/dictionaries(for:)`` returns of each object or group.
  public var propertiesToFetch: [ExpressionDescription] = []

  /// What the objects of a group have in common, in ``ManagedObjectContext/dictionaries(for:)``.
  public var propertiesToGroupBy: [ExpressionDescription] = []

  /// Which groups are wanted there; its keys are names of what is fetched.
  public var havingPredicate: FetchPredicate?

  /// Whether a dictionary that is like an earlier one is left out.
  public var returnsDistinctResults = false

  /// The stores that are asked, and whose new objects count; `nil` for all that the context has.
  public var affectedStores: [PersistentStore]?

  public init(entityName: String) { self.entityName = entityName }

  /// A request for the objects of the entity that the class is registered for.
  public init() { self.init(entityName: Result.entityName) }
}

extension FetchRequest: Sendable {}

extension FetchRequest {
  /// Whether more is wanted of the objects than to be found.
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

extension ManagedObjectID: PredicateConvertible {
  public var predicateValue: PredicateValue? { .object(OpaqueIdentity(self)) }
}
