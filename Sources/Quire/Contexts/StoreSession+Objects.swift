// The objects of a session: registering, lookup and making.
extension StoreSession {
  var objects: [ManagedObject] { identityMap.objects }

  /// Separates the objects from the context, which is about to end.
  ///
  /// - Returns: objects that may retain others; see ``IdentityMap/abandon(mayHaveChanges:)``.
  func abandonObjects() -> [ManagedObject] {
    arenas.leave()
    return identityMap.abandon(mayHaveChanges: arenas.haveHadSlots)
  }

  /// The arena of the objects of an entity.
  func arena(of storage: EntityStorage) -> ObjectArena {
    arenas.arena(storage.binding, where: { $0.storage === storage }) {
      ObjectArena(storage, in: self, of: classes?.type(for: storage.binding) ?? ManagedObject.self)
    }
  }

  func registered(_ reference: Reference) -> ManagedObject? {
    if let object = identityMap[reference] { return object.takeUnretainedValue() }
    return reference.isTemporary ? context.newObject(reference) : nil
  }

  /// Whether an object of which there is none in memory may be gone, though there is a link to it.
  ///
  /// - Parameter canDangle: whether the relationship may refer to what is gone.
  func mayBeGone(_ reference: Reference, _ canDangle: Bool) throws -> Bool {
    try read { view in try (canDangle || !view.isPlain) && !view.contains(reference) }
  }

  /// The one object for a row: a fault, unless it is registered already.
  func object(at reference: Reference) throws -> ManagedObject {
    if let object = registered(reference) { return object }
    if reference.isTemporary, let object = try context.familyObject(reference) { return object }
    return try makeObject(at: reference)
  }

  /// - Parameter reference: under which no object is registered.
  func makeObject(at reference: Reference) throws -> ManagedObject {
    if let recent, recent.number == reference.entity {
      return recent.arena._withUnsafeGuaranteedRef { makeObject(at: reference, $0) }
    }
    guard let storage = entities.storage(of: reference) else {
      throw PersistenceError(
        .managedObjectReferentialIntegrity,
        reference.isTemporary
          ? "a new object of the parent context was deleted there by a hook that a fetch in its "
            + "child has called"
          : "a reference is to entity number \(reference.entity), which the store does not have")
    }
    let arena = arena(of: storage)
    recent = (reference.entity, .passUnretained(arena))
    return makeObject(at: reference, arena)
  }

  /// - Parameter arena: of the objects of the reference's entity.
  func makeObject(at reference: Reference, _ arena: ObjectArena) -> ManagedObject {
    arena.hookWillRun()
    // Sound: the session keeps its arenas.
    let object = arena.type.init(.init(.passUnretained(arena), known: reference))
    arena.hookDidRun()
    object.state.remove(.awaking)
    return object
  }

  /// Registers an object. One that is new in the context's parent is registered with the context
  /// instead, as its store is not certain before it is saved.
  func enter(_ object: ManagedObject) {
    if object.reference.isTemporary { return context.enterNew(object) }
    identityMap.set(object.reference, to: Unmanaged.passUnretained(object))
    if context.retained != nil { context.retained?.insert(object) }
  }

  func unregister(_ object: ManagedObject) {
    if object.reference.isTemporary { return context.unregisterNew(object) }
    identityMap.removeEntry(of: object)
  }

  /// The ID of the object with a reference; `nil` when the store has no such entity.
  func objectID(of reference: Reference) -> ManagedObjectID? {
    if reference.isTemporary { return try? context.familyObject(reference)?.objectID }
    return permanentID(of: reference)
  }

  func permanentID(of reference: Reference) -> ManagedObjectID? {
    guard let storage = entities.storage(of: reference) else { return nil }
    return ManagedObjectID(
      entity: storage.binding.entity, store: storage.identity, key: reference.key)
  }
}
