import QuireModel

/// A request to insert objects in a store, without making them.
///
/// ```swift
/// let request = BatchInsertRequest(
///   entityName: "Artwork", objects: [["title": "Great Wave", "price": 900.0]])
/// let count = try context.execute(request).count
/// ```
///
/// The effect is the same as if the objects were inserted and saved one after the other: properties
/// that are not given have their defaults, values are validated by the model's rules, uniqueness
/// constraints are resolved by the context's merge policy, and derived attributes, indexes and the
/// history are kept up to date. Hooks and validation methods of classes are not called. See
/// ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)``.
///
/// ## Example
///
/// Ten thousand objects out of a sequence that is never in memory as a whole:
///
/// ```swift
/// let prints = (1...10_000).lazy.map {
///   ["title": "Print \($0)", "price": Double($0)] as [String: Any]
/// }
/// let result = try context.execute(
///   BatchInsertRequest(entityName: "Artwork", objects: prints))
/// print(result.count, try context.count(for: FetchRequest<Artwork>()))
/// ```
///
/// prints
///
/// ```
/// 10000 10000
/// ```
public struct BatchInsertRequest {
  /// The entity of the new objects; looked up in the context's model when the request runs.
  public var entityName: String
  /// The form of ``BatchResult/result``.
  public var resultType = BatchResultType.statusOnly
  /// The stores to choose from: the first that can take the entity gets the objects; `nil` for all.
  public var affectedStores: [PersistentStore]?
  /// Called with the number of objects inserted so far.
  public var progress: BatchProgress?
  /// Makes a function that fills in the next object, and returns `true` if there is none.
  let makeSource: () -> (BatchRow) throws -> Bool

  /// A request to insert an object for each dictionary, which has the values of attributes and
  /// to-one relationships by name, as for ``BatchRow/subscript(_:)``.
  ///
  /// - Parameter objects: iterated each time the request runs; they need not be in memory.
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

  /// Inserts an object of an entity for each dictionary.
  public init(entity: EntityDescription, objects: some Sequence<[String: Any]>) {
    self.init(entityName: entity.name, objects: objects)
  }

  /// A request to insert objects until the handler returns `true`; the values of that last call are
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

  /// A request to insert objects until the handler returns `true`; the values of that last call are
  /// not inserted.
  ///
  /// This is the fastest way, as no dictionaries are made: see ``BatchRow``.
  public init(entityName: String, rowHandler: @escaping (BatchRow) throws -> Bool) {
    self.entityName = entityName
    makeSource = { rowHandler }
  }
}

extension ManagedObjectContext {
  /// Inserts objects in a store, in one transaction: all of them or none, also after a crash.
  ///
  /// The objects go to the first store that is not read-only and whose configuration has the
  /// entity. This context takes no part in the change, see ``execute(_:)-(BatchDeleteRequest)``.
  ///
  /// If an object has the same values of a uniqueness constraint as another, of the store or of the
  /// request, ``mergePolicy`` decides as for an object that is inserted and saved:
  ///
  /// - with ``MergePolicy/error`` the request fails;
  /// - with ``MergePolicy/mergeByPropertyStoreTrump`` and ``MergePolicy/rollback`` the object is
  ///   left out;
  /// - with ``MergePolicy/overwrite`` the other is deleted, with its delete rules;
  /// - with ``MergePolicy/mergeByPropertyObjectTrump`` the other is given the values that were set,
  ///   even if they are defaults, and keeps its other values.
  ///
  /// Of a custom policy only the type counts. Objects that were given values are counted, those
  /// left out are not.
  ///
  /// A handler of the request may read by this context. It must not save the context, nor run
  /// another batch request, as a store has one transaction at a time.
  ///
  /// - Throws: validation errors (1550 to 1700), at most a hundred, if a value is not allowed or a
  ///   required one is missing; they have the position of the object in the request, from 0 on.
  ///   ``PersistenceError/Code/undefinedKey``, ``PersistenceError/Code/unacceptableValue``,
  ///   ``PersistenceError/Code/managedObjectReferentialIntegrity``,
  ///   ``PersistenceError/Code/managedObjectConstraintMerge`` (133021),
  ///   ``PersistenceError/Code/managedObjectContextBusy`` and the other errors of
  ///   ``execute(_:)-(BatchUpdateRequest)``; ``PersistenceError/Code/coreData`` for an abstract
  ///   entity; errors of the handler. Nothing is inserted then.
  /// - Complexity: O(*m* log *n*) in the objects and their index keys; O(*m*) for the rows if the
  ///   store has no object of the entity yet. In that case, if the entity has no uniqueness
  ///   constraint and no one-to-one relationship, and no derived attribute reads its objects, rows
  ///   and indexes are built in order and written around the log: the memory used does not grow
  ///   with their pages, and eight bytes for each object are needed for IDs, for a history, and for
  ///   listeners. Otherwise the changed pages are in memory up to
  ///   `PageStoreOptions.transactionByteLimit`.
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
  /// The session of the store for new objects.
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
