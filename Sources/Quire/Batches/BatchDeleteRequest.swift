import QuireModel

/// A request to delete objects in their stores, without making them.
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.predicate = Key("year") < 1900
/// let count = try context.execute(BatchDeleteRequest(fetchRequest: request)).count
/// ```
///
/// The effect is the same as if the objects were deleted and saved: delete rules are applied, also
/// to destinations; objects that lose a relationship get a new version; derived attributes,
/// indexes, values outside of rows and the history are kept up to date. Hooks of classes, including
/// ``ManagedObject/validateForDelete()``, are not called. See
/// ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)``.
public struct BatchDeleteRequest {
  /// The objects to delete.
  enum Selection {
    case fetch((ManagedObjectContext) throws -> FetchRequest<ManagedObject>)
    case objects([ManagedObjectID])
  }

  let selection: Selection
  /// The form of ``BatchResult/result``.
  public var resultType = BatchResultType.statusOnly
  /// The stores in which objects are deleted; `nil` for those of the fetch request, or all.
  public var affectedStores: [PersistentStore]?
  /// Called with the number of objects deleted so far.
  public var progress: BatchProgress?

  /// A request to delete the objects that a fetch request finds in the stores, with its limit,
  /// offset and order. Unsaved changes do not count.
  public init<Result: ManagedObject>(fetchRequest: FetchRequest<Result>) {
    selection = .fetch { context in
      var request = FetchRequest<ManagedObject>(
        entityName: try context.entity(of: fetchRequest).0.entity.name)
      request.predicate = fetchRequest.predicate
      request.sortDescriptors = fetchRequest.sortDescriptors
      request.fetchLimit = fetchRequest.fetchLimit
      request.fetchOffset = fetchRequest.fetchOffset
      request.includesSubentities = fetchRequest.includesSubentities
      request.affectedStores = fetchRequest.affectedStores
      return request
    }
  }

  /// A request to delete objects of any entities and stores. Objects that no longer exist are
  /// skipped.
  public init(objectIDs: [ManagedObjectID]) { selection = .objects(objectIDs) }
}

extension ManagedObjectContext {
  /// Deletes objects in their stores, in one transaction of each store: all of them or none, also
  /// after a crash.
  ///
  /// This context takes no part in the change: its unsaved changes stay as they are, and are saved,
  /// or meet conflicts, as if another context had deleted the objects. Contexts that merge
  /// automatically (``automaticallyMergesChangesFromParent``) do so, this one included; others show
  /// the objects until they merge ``BatchResult/objectIDNotification()``. A child context deletes
  /// in the stores as well, so that its parents learn of it as of any other context's change. The
  /// deletion cannot be undone.
  ///
  /// With several stores, all are written before the first commit. If a later commit fails,
  /// ``PersistenceError/Code/persistentStoreIncompleteSave`` names the stores in which the objects
  /// are deleted.
  ///
  /// - Throws: ``PersistenceError/Code/validationRelationshipDeniedDelete`` (1600),
  ///   ``PersistenceError/Code/validationMissingMandatoryProperty`` (1570) or
  ///   ``PersistenceError/Code/validationRelationshipLacksMinimumCount`` (1580) if a delete rule
  ///   denies a deletion, or if another object would lose a required destination;
  ///   ``PersistenceError/Code/validationMultipleErrors`` with several of these, at most a hundred.
  ///   What ``fetch(_:)`` throws; ``PersistenceError/Code/persistentStoreSave`` if a store is
  ///   read-only or cannot be written;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` (134091) for an incremental
  ///   store; `CancellationError`. Nothing is deleted then.
  /// - Complexity: that of the fetch, and O(*d* log *n*) in the deleted objects and their links.
  ///   Eight bytes of memory for each object, more if the store keeps a history, and 140 more if
  ///   ``BatchResultType/objectIDs`` are asked for.
  @discardableResult
  public final func execute(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    let execution = try BatchExecution(self, request.resultType, request.progress)
    switch request.selection {
    case .fetch(let makeRequest):
      let fetch = try makeRequest(self)
      let sessions = try execution.sessions(
        of: request.affectedStores ?? fetch.affectedStores, with: try entity(of: fetch).0,
        includingSubentities: fetch.includesSubentities)
      return try execution.run(in: sessions) { writes in
        for (write, references) in try execution.references(of: fetch, writes) {
          try write.delete(references, execution)
        }
      }
    case .objects(let ids):
      let groups = try execution.references(of: ids, in: request.affectedStores)
      return try execution.run(in: groups.map(\.session)) { writes in
        for (write, found) in zip(writes, groups) {
          let present = try found.references.filter { try write.state.contains($0) }
          try write.delete(present, execution)
        }
      }
    }
  }
}
