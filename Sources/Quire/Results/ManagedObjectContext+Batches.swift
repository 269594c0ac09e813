import QuireModel

extension ManagedObjectContext {
  /// The objects of ``fetch(_:)`` in the same order, but made on access,
  /// ``FetchRequest/fetchBatchSize`` at a time.
  ///
  /// ```swift
  /// var request = FetchRequest<Artwork>(entityName: "Artwork")
  /// request.sortDescriptors = [FetchSortDescriptor(key: "title")]
  /// request.fetchBatchSize = 20
  /// let artworks = try context.fetchBatched(request)
  /// print(artworks.count, artworks[5_000].title ?? "")  // makes 20 objects
  /// ```
  ///
  /// This suits results of which a part is used, as each row is looked up by its key. To use all
  /// objects, ``fetch(_:)`` is faster, as it reads rows in sequence.
  ///
  /// With a batch size of 0 the context chooses one. Without predicate and sort keys no row is
  /// read; otherwise rows are evaluated in place, without making objects.
  ///
  /// - Throws: what ``fetch(_:)`` throws; ``PersistenceError/Code/unacceptableValue`` also if the
  ///   class of an entity with objects in the result is not `Result` or a subclass.
  /// - Complexity: as ``fetch(_:)``.
  public final func fetchBatched<Result: ManagedObject>(
    _ request: FetchRequest<Result>
  ) throws -> BatchFaultingArray<Result> {
    try bringUpToDate()
    guard request.fetchBatchSize >= 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch in batches of \(request.fetchBatchSize) makes no sense")
    }
    let (execution, fetched) = try inOneState {
      let execution = try FetchExecution(request, in: self)
      return (execution, try execution.references())
    }
    let content = try BatchFaultingContent(self, execution.parts, fetched, request.fetchBatchSize)
    try check(fetched, execution.parts, Result.self)
    if request.shouldRefreshRefetchedObjects {
      for (index, reference) in fetched.references.enumerated() {
        let object = execution.parts[fetched.store(at: index)].session.registered(reference)
        if let object, !object.isUnread { refresh(object, mergeChanges: true) }
      }
    }
    return BatchFaultingArray(content)
  }

  /// Checks that the class of each object conforms to the request.
  private func check<Result: ManagedObject>(
    _ fetched: FetchedReferences, _ parts: [StoreFetch], _ resultClass: Result.Type
  ) throws {
    guard let classes = persistentStoreCoordinator?.classes, resultClass != ManagedObject.self
    else { return }
    func refuse(_ id: ManagedObjectID, _ found: ManagedObject.Type) -> PersistenceError {
      PersistenceError(
        .unacceptableValue,
        "\(id) is a \(found), not a \(resultClass): register the class for its entity with the "
          + "coordinator")
    }
    var known: Set<UInt16> = []
    for (index, reference) in fetched.references.enumerated() {
      let session = parts[fetched.store(at: index)].session
      if let object = session.registered(reference) {
        guard object is Result else { throw refuse(object.objectID, type(of: object)) }
      }
      guard !reference.isTemporary, !known.contains(reference.entity),
        let binding = session.entities.storage(of: reference)?.binding,
        let id = session.objectID(of: reference)
      else { continue }
      let found = classes.type(for: binding)
      guard found is Result.Type else { throw refuse(id, found) }
      // The entity's number in another store may be another.
      if parts.count == 1 { known.insert(reference.entity) }
    }
  }
}
