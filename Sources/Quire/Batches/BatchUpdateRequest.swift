import QuireModel

/// A request to change properties of objects in their stores, without making the objects.
///
/// ```swift
/// var request = BatchUpdateRequest(entityName: "Artwork")
/// request.predicate = Key("year") < 1900
/// request.propertiesToUpdate = [
///   "price": try FetchExpression(format: "price * 2"), "isSold": false,
///   "artist": hokusai.objectID,
/// ]
/// let count = try context.execute(request).count
/// ```
///
/// The effect is the same as if the objects were changed and saved: values are validated by the
/// model's rules, both sides of relationships agree, versions increase, and derived attributes,
/// indexes and the history are kept up to date. Hooks and validation methods of classes are not
/// called. See ``ManagedObjectContext/execute(_:)-(BatchUpdateRequest)``.
///
/// ## Example
///
/// Prices below 1,000 are doubled; they were 80, 900 and 1,600:
///
/// ```swift
/// let raise = BatchUpdateRequest(
///   entityName: "Artwork", predicate: Key("price") < 1_000,
///   propertiesToUpdate: ["price": try FetchExpression(format: "price * 2")])
/// print(try context.execute(raise).count)
///
/// var request = FetchRequest<Artwork>()
/// request.sortDescriptors = [FetchSortDescriptor(key: "price")]
/// print(try context.fetch(request).map(\.price))
/// ```
///
/// prints
///
/// ```
/// 2
/// [160.0, 1600.0, 1800.0]
/// ```
public struct BatchUpdateRequest {
  /// The entity whose objects are changed; looked up in the context's model when the request runs.
  public var entityName: String
  /// A condition on the objects to change; `nil` for all of the entity. Unsaved changes do not
  /// count.
  public var predicate: FetchPredicate?
  /// Whether objects of subentities are changed too.
  public var includesSubentities = true
  /// The new values of properties, by name.
  ///
  /// An attribute takes the values of ``ManagedObject/setValue(_:forKey:)``, or a
  /// `FetchExpression` that is evaluated for the object as it was before the request. A to-one
  /// relationship takes a ``ManagedObjectID``, or an expression with an object as its value. `nil`
  /// leaves either without a value.
  public var propertiesToUpdate: [String: Any?]
  /// The form of ``BatchResult/result``.
  public var resultType = BatchResultType.statusOnly
  /// The stores in which objects are changed; `nil` for all.
  public var affectedStores: [PersistentStore]?
  /// Called with the number of objects processed so far.
  public var progress: BatchProgress?

  /// A request that changes the objects of an entity of which a predicate is true.
  ///
  /// - Parameters:
  ///   - predicate: `nil` for all objects of the entity.
  ///   - propertiesToUpdate: what properties become, by their names; see ``propertiesToUpdate``.
  public init(
    entityName: String, predicate: FetchPredicate? = nil, propertiesToUpdate: [String: Any?] = [:]
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.propertiesToUpdate = propertiesToUpdate
  }

  /// A request for all objects of an entity, whose changes are still to be given.
  public init(entity: EntityDescription) { self.init(entityName: entity.name) }

  /// A request for the objects of the entity that a class is registered for.
  public init<Object: ManagedObject>(_ type: Object.Type, where predicate: FetchPredicate? = nil) {
    self.init(entityName: Object.modelEntityName, predicate: predicate)
  }
}

extension ManagedObjectContext {
  /// Changes objects in their stores, in one transaction of each store: all of them or none, also
  /// after a crash.
  ///
  /// This context takes no part in the change, see ``execute(_:)-(BatchDeleteRequest)``.
  ///
  /// ``BatchResult/count`` and ``BatchResult/objectIDs`` tell of all objects that the request
  /// finds, as `changes()` of SQLite does. Those that have the values already are not written:
  /// they keep their version, and stand neither in the history nor in
  /// ``BatchResult/objectIDNotification()``.
  ///
  /// Breaking a uniqueness
  /// constraint is an error, whatever the ``mergePolicy``, as a request does not say which of two
  /// objects takes precedence.
  ///
  /// - Throws: validation errors (1550 to 1700), at most a hundred, if a value is not allowed, or
  ///   if an object at the other end of a relationship gets too few or too many destinations;
  ///   ``PersistenceError/Code/undefinedKey`` for a name that the entity does not have,
  ///   ``PersistenceError/Code/unacceptableValue`` for a value of another type, and for to-many,
  ///   transient and derived properties;
  ///   ``PersistenceError/Code/managedObjectReferentialIntegrity`` when a destination does not
  ///   exist;
  ///   ``PersistenceError/Code/managedObjectConstraintMerge`` (133021); and what
  ///   ``execute(_:)-(BatchDeleteRequest)`` throws. Nothing is changed then.
  /// - Complexity: that of the fetch, and O(log *n*) for each object, index key and link that
  ///   changes. O(*n*), in one pass, without a predicate and if only values of fixed width change
  ///   on which no index and no derived attribute depends. Eight bytes of memory for each object
  ///   that the predicate finds, sixteen for each run of adjacent keys, and the changed pages
  ///   up to `PageStoreOptions.transactionByteLimit`.
  @discardableResult
  public final func execute(_ request: BatchUpdateRequest) throws -> BatchUpdateResult {
    let execution = try BatchExecution(self, request.resultType, request.progress)
    var fetch = FetchRequest<ManagedObject>(entityName: request.entityName)
    fetch.predicate = request.predicate
    fetch.includesSubentities = request.includesSubentities
    let (binding, model) = try entity(of: fetch)
    let update = try BatchUpdate(request.propertiesToUpdate, binding, model)
    let sessions = try execution.sessions(
      of: request.affectedStores, with: binding, includingSubentities: fetch.includesSubentities)
    return try execution.run(in: sessions) { writes in
      var writes = writes
      if request.predicate == nil {
        // Without a search, one pass over the rows may be enough.
        let entities = execution.family(
          of: binding, includingSubentities: fetch.includesSubentities)
        writes = try writes.filter { try !$0.patchAll(of: entities, update, execution) }
        if writes.isEmpty { return }
      }
      for (write, references) in try execution.references(of: fetch, writes) {
        try write.update(references, update, execution)
      }
    }
  }
}

/// The changes of a request to each object, checked against its entity.
struct BatchUpdate {
  enum Source {
    case value(AttributeValue?)
    case expression(FetchExpression)
    /// `nil` for no destination.
    case object(ManagedObjectID?)
    /// The same, for an object that is known to exist.
    case reference(Reference?)
  }

  /// Sorted by the names of the properties.
  let sources: [(name: String, source: Source)]

  /// - Parameter sources: new values of properties that can be set, sorted by name.
  init(_ sources: [(name: String, source: Source)]) { self.sources = sources }

  init(_ properties: [String: Any?], _ binding: EntityBinding, _ model: ModelBinding) throws {
    sources = try properties.sorted { $0.key < $1.key }.map { name, value in
      let slot = try binding.batchSlot(named: name)
      let isAttribute = binding.traits[slot].attributeType != nil
      switch flattened(value) {
      case let expression as FetchExpression:
        do {
          try expression.checkDepth()
          _ = try PredicateCheck(of: binding, in: model).type(of: expression)
        } catch let error as FetchPredicateError {
          throw PersistenceError(error)
        } catch let error as PredicateMistake {
          throw PersistenceError(error)
        }
        return (name, .expression(expression))
      case nil: return (name, isAttribute ? .value(nil) : .object(nil))
      case let value? where isAttribute:
        return (name, .value(try binding.attributeValue(value, slot)))
      case let value?: return (name, .object(try binding.destinationID(value, slot)))
      }
    }
  }
}
