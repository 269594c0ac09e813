import QuireModel

// Objects by their IDs.
extension ManagedObjectContext {
  /// The object with this ID if it is registered with the context; the store is not read.
  ///
  /// - Complexity: O(1).
  public final func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    if objectID.isTemporaryID {
      let reference = objectID.temporaryReference
      if let object = newObject(reference) { return object }
      if let permanent = permanentReference(of: reference) {
        return session(with: permanent.store)?.registered(permanent.reference)
      }
    }
    return reference(for: objectID).flatMap { known(at: $0) }
  }

  /// The object with this ID, of a class.
  ///
  /// - Throws: what `existingObject(with:)` throws, and
  ///   ``PersistenceError/Code/unacceptableValue`` when the object is of another class.
  /// - Complexity: that of `existingObject(with:)`.
  public final func existingObject<Object: ManagedObject>(
    with objectID: ManagedObjectID, as type: Object.Type = Object.self
  ) throws -> Object {
    let object = try existingObject(with: objectID)
    if let typed = object as? Object { return typed }
    var error = PersistenceError(
      .unacceptableValue, "\(objectID) is an object of \(Swift.type(of: object)), not of \(type)")
    error.objectID = objectID
    error.entityName = object.entity.name
    throw error
  }

  /// The object with this ID: a fault if it is not in memory yet. The store is not read, so a row
  /// that does not exist is noticed when the object is first used; `existingObject(with:)` checks
  /// at once.
  ///
  /// - Returns: `nil` when the ID is of a store that the coordinator does not have, or of an object
  ///   that was not saved and is not of this context.
  public final func object(with objectID: ManagedObjectID) -> ManagedObject? {
    do {
      if objectID.isTemporaryID {
        let reference = objectID.temporaryReference
        if let object = try familyObject(reference) { return object }
        if let permanent = permanentReference(of: reference) {
          return try session(with: permanent.store)?.object(at: permanent.reference)
        }
      }
      guard let found = reference(for: objectID) else { return nil }
      if let object = known(at: found) { return object }
      if parent != nil,
        let reference = promisedReference(of: found.reference, in: found.session.identity),
        let object = try familyObject(reference)
      {
        return object
      }
      return try found.session.object(at: found.reference)
    } catch {
      report(error)
      return nil
    }
  }

  /// The object with this ID, whose row is read if the object is a fault.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectReferentialIntegrity`` when there is no such
  ///   object, or it is deleted here and delete rules were applied; and what reading the store
  ///   throws.
  /// - Complexity: O(1) for an object that was read before, O(log *n*) otherwise.
  public final func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    if let object = object(with: objectID) {
      if !object.isStored { return object }
      if !object.hasRow, let session = object.session,
        try inOneState({ try session.latestView().giveRow(to: object) })
      {
        object.callAwakeFromFetch()
      }
      if object.hasRow, !object.state.contains(.propagated) { return object }
    }
    throw PersistenceError(
      .managedObjectReferentialIntegrity, "there is no object \(objectID) in the store")
  }

  /// The arena of new objects of an entity.
  final func arena(ofNew binding: EntityBinding) -> ObjectArena {
    newArenas.arena(binding, where: { $0.binding === binding }) {
      ObjectArena(binding, newIn: self)
    }
  }

  /// The session and reference of the object with a permanent ID, if the coordinator has its store.
  final func reference(
    for objectID: ManagedObjectID
  ) -> (session: StoreSession, reference: Reference)? {
    let objectID = objectID.permanent
    guard let identity = objectID.store, let session = session(with: identity),
      let binding = modelBinding?.entity(named: objectID.entity.name),
      let storage = session.entities.byIndex[binding.index]
    else { return nil }
    return (session, Reference(entity: storage.stored.number, key: objectID.key))
  }

  /// The registered object with a session and reference, or the new one that was promised them.
  private func known(
    at found: (session: StoreSession, reference: Reference)
  ) -> ManagedObject? {
    if let object = found.session.registered(found.reference) { return object }
    if promisedIDs.isEmpty { return nil }
    return promisedIDs.temporary(of: found.reference, in: found.session.identity)
      .flatMap { newObject($0) }
  }
}

extension ManagedObjectID {
  fileprivate var temporaryReference: Reference {
    Reference(entity: Reference.temporaryEntity, key: key)
  }
}
