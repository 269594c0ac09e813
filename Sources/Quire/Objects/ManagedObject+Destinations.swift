import QuireModel

// One side of a relationship: membership, inverses, and checks of destinations.
extension ManagedObject {
  final func isToMany(_ slot: Int) -> Bool { ofArena { $0.binding.traits[slot].isToMany } }

  /// The slot on `object` of the relationship that refers back from one of this object's.
  final func inverseSlot(of slot: Int, on object: ManagedObject) -> Int? {
    let trait = ofArena { $0.binding.traits[slot] }
    // Objects of one context have bindings of one model.
    if trait.inverseSlot >= 0, isOf(trait.destination, object) { return Int(trait.inverseSlot) }
    return inverseSlot(of: binding.relationship(slot), on: object)
  }

  /// Whether an object of this one's context is of exactly the entity with an index.
  private func isOf(_ entity: Int32, _ object: ManagedObject) -> Bool {
    ofArena { arena in
      object.ofArena {
        arena.hasContext && arena.sharesContext(with: $0) && $0.binding.index == Int(entity)
      }
    }
  }

  /// The slot on `object` of the relationship that refers back.
  final func inverseSlot(of relationship: RelationshipDescription, on object: ManagedObject) -> Int?
  {
    relationship.inverse.flatMap { object.binding.slot(named: $0) }
  }

  final func slotOnRival(_ rival: ManagedObject, _ slot: Int) -> Int {
    rival.binding === binding ? slot : rival.binding.slot(named: binding.name(of: slot)) ?? slot
  }

  final func hasMember(_ object: ManagedObject, _ slot: Int) throws -> Bool {
    if ofArena({ $0.membersHaveMoved }) { return try hasPresentMember(object, slot) }
    if !slots.isEmpty, case .many(let pending) = slots[slot] {
      if pending.isOrdered { return pending.isInOrder(object) }
      if pending.removed.contains(object.reference) { return false }
      if pending.isAdded(object) { return true }
    }
    guard isPersistent, object.isPersistent else { return false }
    // A to-one inverse tells without a search through all members.
    if let inverse = inverseSlot(of: slot, on: object), !object.isToMany(inverse),
      !object.binding.traits[inverse].isTransient
    {
      return try object.one(inverse) === self
    }
    return try isStoredMember(object, slot)
  }

  /// Checks that a relationship can refer to `object`.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` for an object of another
  ///   context or store, ``PersistenceError/Code/unacceptableValue`` for one of another entity.
  final func checkDestination(_ object: ManagedObject, _ slot: Int) throws {
    // In most cases it is of exactly the entity, in the same context and store.
    if isOf(ofArena { $0.binding.traits[slot].destination }, object),
      ofArena({ arena in object.ofArena { arena.canLead(to: $0) } })
    {
      return
    }
    try checkDestination(object, binding.relationship(slot))
  }

  final func checkDestination(
    _ object: ManagedObject, _ relationship: RelationshipDescription
  ) throws {
    guard object.context === context else { throw leadsToOtherContext(relationship, object) }
    if let session, let other = object.session, other !== session {
      throw leadsToOtherStore(relationship, object)
    }
    var ancestor: EntityDescription? = object.entity
    while let level = ancestor, level.name != relationship.destination { ancestor = level.parent }
    if ancestor == nil { throw unacceptable(object, for: relationship.name) }
  }

  private func leadsToOtherContext(
    _ relationship: RelationshipDescription, _ destination: ManagedObject
  ) -> PersistenceError {
    let advice =
      switch (context, destination.context) {
      case (nil, _): "insert \(objectID) into a context first"
      case (_, nil):
        "insert it first, unless it was deleted, or its context was reset or is gone"
      case (_, _?): "look the object up here by its ID"
      }
    var error = PersistenceError(
      .managedObjectExternalRelationship,
      "\(entity.name).\(relationship.name) of \(objectID), of \(context.title), cannot refer to "
        + "\(destination.objectID), of \(destination.context.title): \(advice)")
    error.entityName = entity.name
    error.objectID = objectID
    error.key = relationship.name
    return error
  }

  final func leadsToOtherStore(
    _ relationship: RelationshipDescription, _ destination: ManagedObject
  ) -> PersistenceError {
    var error = PersistenceError(
      .managedObjectExternalRelationship,
      "\(entity.name).\(relationship.name) of \(objectID) cannot refer to \(destination.objectID), "
        + "which is of another store: assign new objects to one store, or keep the other's URI")
    error.entityName = entity.name
    error.objectID = objectID
    error.key = relationship.name
    return error
  }
}

extension ManagedObjectContext? {
  /// The context's name, or a description, for messages of errors.
  fileprivate var title: String {
    guard let context = self else { return "no context" }
    if let name = context.name { return "the context \(name)" }
    return "a context without a name (\(ObjectIdentifier(context)))"
  }
}
