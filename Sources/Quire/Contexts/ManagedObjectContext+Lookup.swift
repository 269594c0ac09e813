import QuireModel

// Objects by their IDs.
extension ManagedObjectContext {
  /// The object with this ID if the context knows it; never looks at the store.
  public final func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    reference(for: objectID).flatMap { registered($0) }
  }

  /// The object with this ID, a fault if need be; whether it exists shows when it is read.
  ///
  /// - Returns: `nil` when the ID is of another store, or temporary and not of this context.
  public final func object(with objectID: ManagedObjectID) -> ManagedObject? {
    guard let reference = reference(for: objectID) else { return nil }
    if let object = registered(reference) { return object }
    if objectID.isTemporaryID { return nil }
    do {
      return try object(at: reference)
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
      if object.row == nil, let row = try latestView().row(object.reference) {
        object.fulfil(with: row)
      }
      if object.row != nil, !object.state.contains(.propagated) { return object }
    }
    throw PersistenceError(
      .managedObjectReferentialIntegrity, "there is no object \(objectID) in the store")
  }

  final func reference(for objectID: ManagedObjectID) -> Reference? {
    if objectID.isTemporaryID {
      return Reference(entity: Reference.temporaryEntity, key: objectID.key)
    }
    guard let store, store.identity == objectID.store,
      let binding = modelBinding?.entity(named: objectID.entity.name),
      let storage = store.entities.byIndex[binding.index]
    else { return nil }
    let place = Reference(entity: storage.stored.number, key: objectID.key)
    if let temporary = promisedPlaces.temporary(of: place, in: store.identity),
      registered(temporary) != nil
    {
      return temporary
    }
    return place
  }
}
