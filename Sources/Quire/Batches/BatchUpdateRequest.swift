import QuireModel

/// Changes properties of objects where they are stored, without making any.
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
/// All is as if the objects were changed and saved: values are checked against the model's rules,
/// both sides of relationships agree, versions rise, derived attributes and indexes are right, the
/// history has the changes. Objects are not asked: neither hooks nor validation of a class.
/// ``ManagedObjectContext/execute(_:)-(BatchUpdateRequest)`` says more.
public struct BatchUpdateRequest {
  /// The entity whose objects are changed; looked up in the context's model when the request runs.
  public var entityName: String
  /// Which objects are changed; all of the entity when `nil`. Unsaved changes do not count.
  public var predicate: FetchPredicate?
  /// Whether objects of subentities are changed too.
  public var includesSubentities = true
  /// What properties become, by their names.
  ///
  /// Attributes become what ``ManagedObject/setValue(_:forKey:)`` takes, or the value of a
  /// ``FetchExpression`` for the object as it was before the request; to-one relationships lead to
  /// the object with a ``ManagedObjectID``, or where an expression leads. `nil` leaves either
  /// without a value.
  public var propertiesToUpdate: [String: Any?]
  /// What ``BatchResult/result`` is.
  public var resultType = BatchResultType.statusOnly
  /// The stores in which objects are changed; `nil` for all.
  public var affectedStores: [PersistentStore]?
  /// Told how many objects were looked at so far.
  public var progress: BatchProgress?

  public init(
    entityName: String, predicate: FetchPredicate? = nil, propertiesToUpdate: [String: Any?] = [:]
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.propertiesToUpdate = propertiesToUpdate
  }

  public init(entity: EntityDescription) { self.init(entityName: entity.name) }

  /// A request for the objects of the entity that a class stands for.
  public init<Object: ManagedObject>(_ type: Object.Type, where predicate: FetchPredicate? = nil) {
    self.init(entityName: Object.entityName, predicate: predicate)
  }
}

extension ManagedObjectContext {
  /// Changes objects in their stores, in one transaction of each store: all of them or none, also
  /// after a crash.
  ///
  /// What happens goes past this context, as ``execute(_:)-(BatchDeleteRequest)`` says of
  /// deletions. Objects that have the values already are left as they are, and do not count. A
  /// uniqueness constraint that would be broken is an error, whatever the ``mergePolicy``: a
  /// request does not say which of two objects is to give way.
  ///
  /// - Throws: validation errors (1550 to 1700), a hundred at most, when a value is not allowed, or
  ///   an object that a relationship led to, or leads to, has too few or too many;
  ///   ``PersistenceError/Code/undefinedKey`` for a name that the entity does not have,
  ///   ``PersistenceError/Code/unacceptableValue`` for a value of another type, and for to-many,
  ///   transient and derived properties;
  ///   ``PersistenceError/Code/managedObjectReferentialIntegrity`` when a destination is not there;
  ///   ``PersistenceError/Code/managedObjectConstraintMerge`` (133021); and what
  ///   ``execute(_:)-(BatchDeleteRequest)`` throws. Nothing is changed then.
  /// - Complexity: that of the fetch, and O(log *n*) for each object, index key and link that
  ///   changes. Without a predicate, and if only values of fixed width change on which no index and
  ///   no derived attribute depends: O(*n*), in one pass. Eight bytes of memory for each object
  ///   that the predicate finds and sixteen for each run of keys that follow each other, besides
  ///   the pages that change, which ``PageStoreOptions/transactionByteLimit`` limits.
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
        // Nothing is to be looked for, and one pass over the rows may do.
        let entities = execution.family(
          of: binding, includingSubentities: fetch.includesSubentities)
        writes = try writes.filter { try !$0.patchAll(of: entities, update, execution) }
        if writes.isEmpty { return }
      }
      for (write, places) in try execution.places(of: fetch, writes) {
        try write.update(places, update, execution)
      }
    }
  }
}

/// What a request changes of each object, checked against the entity that it names.
struct BatchUpdate {
  enum Source {
    case value(AttributeValue?)
    case expression(FetchExpression)
    /// `nil` for nowhere.
    case object(ManagedObjectID?)
    /// The same, of an object that is known to be there.
    case place(Reference?)
  }

  /// By the names of properties, in their order.
  let sources: [(name: String, source: Source)]

  /// - Parameter sources: of properties that can be set, in their order.
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
