import QuireModel

/// Deletes objects where they are stored, without making any.
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.predicate = Key("year") < 1900
/// let count = try context.execute(BatchDeleteRequest(fetchRequest: request)).count
/// ```
///
/// All is as if the objects were deleted and saved: delete rules are applied, of destinations too;
/// what leads to a deleted object no more has a new version; derived attributes and indexes are
/// right, values outside of rows are freed, the history has the deletions and what they preserve.
/// Objects are not asked: neither hooks nor ``ManagedObject/validateForDelete()`` of a class.
/// ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)`` says more.
public struct BatchDeleteRequest {
  /// What is to be deleted.
  enum Selection {
    case fetch((ManagedObjectContext) throws -> FetchRequest<ManagedObject>)
    case objects([ManagedObjectID])
  }

  let selection: Selection
  /// What ``BatchResult/result`` is.
  public var resultType = BatchResultType.statusOnly
  /// The stores that objects are deleted in; `nil` for those that the fetch request names, or all.
  public var affectedStores: [PersistentStore]?
  /// Told how many objects are deleted so far.
  public var progress: BatchProgress?

  /// Deletes what a request finds in the stores, with its limit, offset and order. Unsaved changes
  /// do not count.
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

  /// Deletes objects of any entities and stores. Those that are not there any more are passed over.
  public init(objectIDs: [ManagedObjectID]) { selection = .objects(objectIDs) }
}

extension ManagedObjectContext {
  /// Deletes objects in their stores, in one transaction of each store: all of them or none, also
  /// after a crash.
  ///
  /// What happens goes past this context: its unsaved changes stay as they are, and are saved or
  /// meet conflicts as if another context had deleted the objects. Contexts that merge by
  /// themselves (``automaticallyMergesChangesFromParent``) do so, this one too; others show the
  /// objects until they merge ``BatchResult/objectIDNotification()``. A child context deletes in
  /// the stores as well, and its parents are other contexts then. There is nothing to undo.
  ///
  /// With several stores, each is written before the first commit; should a later commit fail,
  /// ``PersistenceError/Code/persistentStoreIncompleteSave`` says where the objects are gone.
  ///
  /// - Throws: ``PersistenceError/Code/validationRelationshipDeniedDelete`` (1600),
  ///   ``PersistenceError/Code/validationMissingMandatoryProperty`` (1570) or
  ///   ``PersistenceError/Code/validationRelationshipLacksMinimumCount`` (1580) where a delete rule
  ///   denies a deletion, or an object that stays would be left without a required destination;
  ///   ``PersistenceError/Code/validationMultipleErrors`` with several, a hundred at most. What
  ///   ``fetch(_:)`` throws; ``PersistenceError/Code/persistentStoreSave`` when a store is
  ///   read-only or cannot write; ``PersistenceError/Code/persistentStoreUnsupportedRequestType``
  ///   (134091) for a store of another make; `CancellationError`. Nothing is deleted then.
  /// - Complexity: that of the fetch, and O(*d* log *n*) in the objects that are deleted and the
  ///   links that they have. Eight bytes of memory an object, and some more where entities have
  ///   relationships.
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
        for (write, places) in try execution.places(of: fetch, writes) {
          try write.delete(places, execution)
        }
      }
    case .objects(let ids):
      let places = try execution.places(of: ids, in: request.affectedStores)
      return try execution.run(in: places.map(\.session)) { writes in
        for (write, found) in zip(writes, places) {
          let present = try found.references.filter { try write.state.contains($0) }
          try write.delete(present, execution)
        }
      }
    }
  }
}
