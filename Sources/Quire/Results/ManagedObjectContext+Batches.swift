import QuireModel

extension ManagedObjectContext {
  /// The same objects as those of ``fetch(_:)``, in the same order, but made when they are looked
  /// at: ``FetchRequest/fetchBatchSize`` of them at once.
  ///
  /// ```swift
  /// var request = FetchRequest<Artwork>(entityName: "Artwork")
  /// request.sortDescriptors = [FetchSortDescriptor(key: "title")]
  /// request.fetchBatchSize = 20
  /// let artworks = try context.fetchBatched(request)
  /// print(artworks.count, artworks[5_000].title ?? "")  // makes 20 objects
  /// ```
  ///
  /// For results of which a part is looked at: each row is then looked up by its key. Who wants all
  /// objects has them sooner by ``fetch(_:)``, which reads rows in passing.
  ///
  /// A batch size of 0 leaves it to the context. Without predicate and sort keys no row is read;
  /// otherwise rows are looked at where they are, and nothing is made of them.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  ///   ``PersistenceError/Code/unacceptableValue`` also when objects of an entity that has some
  ///   here would be made of another class than `Result`.
  /// - Complexity: as ``fetch(_:)``.
  public final func fetchBatched<Result: ManagedObject>(
    _ request: FetchRequest<Result>
  ) throws -> BatchFaultingArray<Result> {
    settlePendingChanges()
    try throwKeptErrors()
    guard request.fetchBatchSize >= 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch in batches of \(request.fetchBatchSize) makes no sense")
    }
    let execution = try FetchExecution(request, in: self)
    let places = try execution.places()
    let content = try BatchFaultingContent(self, execution.parts, places, request.fetchBatchSize)
    try check(places, execution.parts, Result.self)
    if request.shouldRefreshRefetchedObjects {
      for (index, reference) in places.references.enumerated() {
        let object = execution.parts[places.store(at: index)].session.registered(reference)
        if let object, !object.isFault { refresh(object, mergeChanges: true) }
      }
    }
    return BatchFaultingArray(content)
  }

  /// Makes sure that each of the objects can be had as what was asked for.
  private func check<Result: ManagedObject>(
    _ places: FetchedPlaces, _ parts: [StoreFetch], _ resultClass: Result.Type
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
    for (index, reference) in places.references.enumerated() {
      let session = parts[places.store(at: index)].session
      if let object = session.registered(reference) {
        guard object is Result else { throw refuse(object.objectID, type(of: object)) }
      }
      guard !reference.isTemporary, !known.contains(reference.entity),
        let binding = session.entities.storage(of: reference)?.binding,
        let id = session.objectID(of: reference)
      else { continue }
      let found = classes.type(for: binding)
      guard found is Result.Type else { throw refuse(id, found) }
      // Entities have other numbers in each store.
      if parts.count == 1 { known.insert(reference.entity) }
    }
  }
}
