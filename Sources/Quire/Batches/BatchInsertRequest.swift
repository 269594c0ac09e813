import QuireModel

/// Inserts objects where they are stored, without making any.
///
/// ```swift
/// let request = BatchInsertRequest(
///   entityName: "Artwork", objects: [["title": "Great Wave", "price": 900.0]])
/// let count = try context.execute(request).count
/// ```
///
/// All is as if the objects were inserted one after the other, and each saved: properties that are
/// not given have their defaults, values are checked against the model's rules, uniqueness
/// constraints are resolved by the context's merge policy, derived attributes and indexes are
/// right, the history has the insertions. Objects are not asked: neither hooks nor validation of a
/// class. ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)`` says more.
public struct BatchInsertRequest {
  /// The entity of the new objects; looked up in the context's model when the request runs.
  public var entityName: String
  /// What ``BatchResult/result`` is.
  public var resultType = BatchResultType.statusOnly
  /// The stores of which the first that takes the entity gets the objects; `nil` for all.
  public var affectedStores: [PersistentStore]?
  /// Told how many objects are inserted so far.
  public var progress: BatchProgress?
  /// Makes what fills in one object after the other, and answers whether there was none left.
  let makeSource: () -> (BatchRow) throws -> Bool

  /// Inserts an object for each dictionary: attributes and to-one relationships by their names, to
  /// be what ``BatchRow/subscript(_:)`` takes.
  ///
  /// - Parameter objects: gone through once each time the request runs; need not be in memory.
  public init(entityName: String, objects: some Sequence<[String: Any]>) {
    self.entityName = entityName
    makeSource = {
      var rest = objects.makeIterator()
      return { row in
        guard let values = rest.next() else { return true }
        for (name, value) in values { row.put(name, value) }
        return false
      }
    }
  }

  public init(entity: EntityDescription, objects: some Sequence<[String: Any]>) {
    self.init(entityName: entity.name, objects: objects)
  }

  /// Inserts objects until the handler returns `true`; what it has put into the dictionary then is
  /// not inserted.
  ///
  /// - Parameter dictionaryHandler: puts the values of one object into a dictionary, which is
  ///   empty.
  public init(
    entityName: String, dictionaryHandler: @escaping (inout [String: Any]) throws -> Bool
  ) {
    self.entityName = entityName
    makeSource = {
      { row in
        var values: [String: Any] = [:]
        if try dictionaryHandler(&values) { return true }
        for (name, value) in values { row.put(name, value) }
        return false
      }
    }
  }

  /// Inserts objects until the handler returns `true`; what it has set then is not inserted.
  ///
  /// The quickest way, as no dictionary is made: see ``BatchRow``.
  public init(entityName: String, rowHandler: @escaping (BatchRow) throws -> Bool) {
    self.entityName = entityName
    makeSource = { rowHandler }
  }
}

extension ManagedObjectContext {
  /// Inserts objects in a store, in one transaction: all of them or none, also after a crash.
  ///
  /// They go to the first of the stores that is not read-only and whose configuration has the
  /// entity. What happens goes past this context, as ``execute(_:)-(BatchDeleteRequest)`` says of
  /// deletions.
  ///
  /// Where an object would have the values of a uniqueness constraint that another has, of the
  /// store or of the request, ``mergePolicy`` decides as for an object that is inserted and saved:
  ///
  /// - with ``MergePolicy/error`` the request fails;
  /// - with ``MergePolicy/mergeByPropertyStoreTrump`` and ``MergePolicy/rollback`` the object is
  ///   left out;
  /// - with ``MergePolicy/overwrite`` the other is deleted, by its delete rules;
  /// - with ``MergePolicy/mergeByPropertyObjectTrump`` the other gets what was given, also what is
  ///   the default, and keeps the rest.
  ///
  /// Of a policy of one's own nothing is asked but its type. Objects that got something count,
  /// those left out do not.
  ///
  /// A handler of the request may read by this context. It cannot save it, nor run another batch
  /// request: the store has one transaction at a time.
  ///
  /// - Throws: validation errors (1550 to 1700), a hundred at most, which name the place of the
  ///   object in the request, from 0 on, when a value is not allowed or a required one missing;
  ///   ``PersistenceError/Code/undefinedKey``, ``PersistenceError/Code/unacceptableValue``,
  ///   ``PersistenceError/Code/managedObjectReferentialIntegrity``,
  ///   ``PersistenceError/Code/managedObjectConstraintMerge`` (133021),
  ///   ``PersistenceError/Code/managedObjectContextBusy`` and what else
  ///   ``execute(_:)-(BatchUpdateRequest)`` throws; ``PersistenceError/Code/coreData`` for an
  ///   abstract entity; what the handler throws. Nothing is inserted then.
  /// - Complexity: O(*m* log *n*) in the objects and their index keys, O(*m*) for the rows where
  ///   the store has no object of the entity yet. In that case, if the entity has no uniqueness
  ///   constraint and no one-to-one relationship, and no derived attribute reads its objects, rows
  ///   and indexes are built in order and written around the log: in memory that does not grow with
  ///   their pages, and eight bytes an object more for IDs, for a history, and for those who listen
  ///   for saves. Otherwise the pages that change are in memory, which
  ///   ``PageStoreOptions/transactionByteLimit`` limits.
  @discardableResult
  public final func execute(_ request: BatchInsertRequest) throws -> BatchInsertResult {
    let execution = try BatchExecution(self, request.resultType, request.progress)
    let (binding, _) = try entity(
      of: FetchRequest<ManagedObject>(entityName: request.entityName))
    if binding.entity.isAbstract { throw PersistenceError.isAbstract(binding.entity) }
    let session = try execution.target(of: binding, among: request.affectedStores)
    return try execution.run(in: [session]) { writes in
      for write in writes {
        guard let storage = write.entities.byIndex[binding.index] else { continue }
        let insertion = try BatchInsertion(write, storage, mergePolicy.mergeType, execution)
        try insertion.insert(request.makeSource())
      }
    }
  }
}

extension BatchExecution {
  /// The session of the store that gets new objects.
  fileprivate func target(
    of binding: EntityBinding, among stores: [PersistentStore]?
  ) throws -> StoreSession {
    let sessions = try context.sessions(of: stores).filter {
      $0.entities.byIndex[binding.index] != nil
    }
    if let session = sessions.first(where: { !$0.store.isReadOnly }) {
      try checkWritable(session.store)
      return session
    }
    if let session = sessions.first { try checkWritable(session.store) }
    var error = PersistenceError(
      .persistentStoreSave,
      "no store that the batch request is for has a configuration with the entity "
        + binding.entity.name)
    error.entityName = binding.entity.name
    throw error
  }
}
