import QuireModel

// Objects by their IDs.
extension ManagedObjectContext {
  /// The object with this ID if the context knows it; never looks at the store.
  public final func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    if objectID.isTemporaryID { return newObject(with: objectID) }
    return place(for: objectID).flatMap { known(at: $0) }
  }

  /// The object with this ID, a fault if need be; whether it exists shows when it is read.
  ///
  /// - Returns: `nil` when the ID is of a store that the coordinator does not have, or temporary
  ///   and not of this context.
  public final func object(with objectID: ManagedObjectID) -> ManagedObject? {
    if objectID.isTemporaryID { return newObject(with: objectID) }
    guard let place = place(for: objectID) else { return nil }
    if let object = known(at: place) { return object }
    do {
      return try place.session.object(at: place.reference)
    } catch {
      report(error)
      return nil
    }
  }

  /// The object with this ID, its row read.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectReferentialIntegrity`` when there is no such
  ///   object.
  public final func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    if let object = object(with: objectID) {
      if !object.isStored { return object }
      if object.row == nil, let row = try object.session?.latestView().row(object.reference) {
        object.fulfil(with: row)
      }
      if object.row != nil, !object.state.contains(.propagated) { return object }
    }
    throw PersistenceError(
      .managedObjectReferentialIntegrity, "there is no object \(objectID) in the store")
  }

  private func newObject(with objectID: ManagedObjectID) -> ManagedObject? {
    newObject(Reference(entity: Reference.temporaryEntity, key: objectID.key))
  }

  /// Where the object with a permanent ID is, if the coordinator has its store.
  final func place(
    for objectID: ManagedObjectID
  ) -> (session: StoreSession, reference: Reference)? {
    guard let identity = objectID.store, let session = session(with: identity),
      let binding = modelBinding?.entity(named: objectID.entity.name),
      let storage = session.entities.byIndex[binding.index]
    else { return nil }
    return (session, Reference(entity: storage.stored.number, key: objectID.key))
  }

  /// The object that is in a place, or was promised it.
  private func known(
    at place: (session: StoreSession, reference: Reference)
  ) -> ManagedObject? {
    if let object = place.session.registered(place.reference) { return object }
    if promisedPlaces.isEmpty { return nil }
    return promisedPlaces.temporary(of: place.reference, in: place.session.identity)
      .flatMap { newObject($0) }
  }
}
