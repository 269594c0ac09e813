import QuireModel

// Changes of relationships by name, which Core Data's generated accessors make for one relationship
// each, and questions about a relationship that need no objects.
extension ManagedObject {
  // MARK: Changing

  /// Adds an object to a to-many relationship, at the end of an ordered one, unless it is there.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when it is no to-many relationship, or refers to
  ///   other entities; ``PersistenceError/Code/managedObjectExternalRelationship`` for an object of
  ///   another context.
  public final func addToRelationship(_ object: ManagedObject, forKey key: String) throws {
    try addMember(object, toManySlot(key, isOrdered: nil))
  }

  /// Adds several objects to a to-many relationship, unless they are there. Those before the first
  /// that cannot be added stay added.
  ///
  /// - Throws: as ``addToRelationship(_:forKey:)-(ManagedObject,_)``.
  public final func addToRelationship(
    _ objects: some Sequence<some ManagedObject>, forKey key: String
  ) throws {
    let slot = try toManySlot(key, isOrdered: nil)
    for object in objects { try addMember(object, slot) }
  }

  /// Removes an object from a to-many relationship, if it is there.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when it is no to-many relationship; and what
  ///   reading the store throws.
  public final func removeFromRelationship(_ object: ManagedObject, forKey key: String) throws {
    try removeMember(object, toManySlot(key, isOrdered: nil))
  }

  /// Removes several objects from a to-many relationship, as far as they are there. Those before
  /// the first error stay removed.
  ///
  /// - Throws: as ``removeFromRelationship(_:forKey:)-(ManagedObject,_)``.
  public final func removeFromRelationship(
    _ objects: some Sequence<some ManagedObject>, forKey key: String
  ) throws {
    let slot = try toManySlot(key, isOrdered: nil)
    for object in objects { try removeMember(object, slot) }
  }

  /// Adds an object to an ordered relationship, before the one at `index`.
  ///
  /// - Throws: as ``addToRelationship(_:forKey:)-(ManagedObject,_)``, and
  ///   ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  public final func insertIntoRelationship(
    _ object: ManagedObject, at index: Int, forKey key: String
  ) throws {
    try mutableOrderedSetValue(forKey: key).insert(object, at: index)
  }

  /// Removes the object at `index` from an ordered relationship.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position, or
  ///   the relationship has no order; ``PersistenceError/Code/undefinedKey`` when there is no such
  ///   property.
  public final func removeFromRelationship(at index: Int, forKey key: String) throws {
    try mutableOrderedSetValue(forKey: key).removeObject(at: index)
  }

  /// Puts another object in the place of the one at `index` of an ordered relationship. Does
  /// nothing when the relationship has it already.
  ///
  /// - Throws: as ``insertIntoRelationship(_:at:forKey:)``.
  public final func replaceInRelationship(
    at index: Int, with object: ManagedObject, forKey key: String
  ) throws {
    try mutableOrderedSetValue(forKey: key).replaceObject(at: index, with: object)
  }

  // MARK: Questions that read no objects

  /// What ``PropertyReading/objectIDs(forRelationshipNamed:)`` returns.
  final func memberIDs(_ key: String) throws -> [ManagedObjectID] {
    let slot = try relationshipSlot(key)
    recordAccess(to: slot)
    if !isToMany(slot) { return try destinationID(slot).map { [$0] } ?? [] }
    guard let session, hasRow || !binding.traits[slot].isTransient,
      ofArena({ !$0.membersHaveMoved })
    else {
      return try members(slot).map(\.objectID)
    }
    var added: [ManagedObject] = []
    var removed: RemovedReferences = []
    if !slots.isEmpty, case .many(let pending) = slots[slot] {
      if let order = pending.order { return order.filter(isShown).map(\.objectID) }
      (added, removed) = (pending.added, pending.removed)
    }
    var identifiers: [ManagedObjectID] = []
    for reference in try existingMembers(slot) where !removed.contains(reference) {
      if let object = session.registered(reference) {
        if isShown(object) { identifiers.append(object.objectID) }
      } else if let identifier = session.objectID(of: reference) {
        identifiers.append(identifier)
      }
    }
    return identifiers + added.filter(isShown).map(\.objectID)
  }

  /// What ``PropertyReading/hasFault(forRelationshipNamed:)`` returns.
  final func isFault(atRelationship key: String) throws -> Bool {
    let slot = try relationshipSlot(key)
    if !slots.isEmpty {
      switch slots[slot] {
      case .one(let destination): return present(destination)?.isFault ?? false
      case .many(let pending): return pending.order == nil && isPersistent
      case .unchanged, .value: break
      }
    }
    if !isPersistent || context == nil { return false }
    if !hasRow || isToMany(slot) { return true }
    guard let reference = storedReference(slot) else { return false }
    return session?.registered(reference)?.isFault ?? true
  }

  /// 0 when the object has its values; 1 when it is a fault; 2 while a hook such as
  /// ``awakeFromFetch()`` runs. An accessor written by hand can find out here that the object is
  /// being set up. Core Data promises only that another number than 0 means that the object's
  /// state is changing.
  public final var faultingState: Int { isFault ? 1 : state.contains(.awaking) ? 2 : 0 }

  private func relationshipSlot(_ key: String) throws -> Int {
    let slot = try slot(for: key)
    if binding.relationshipSlots.contains(slot) { return slot }
    var error = PersistenceError(
      .undefinedKey, "\(entity.name).\(key) is an attribute, not a relationship")
    error.entityName = entity.name
    error.key = key
    throw error
  }
}

extension PropertyReading {
  /// The IDs of the objects that a relationship refers to, in order if it has one. No object is
  /// made or read for that.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such relationship, and
  ///   what reading the store throws.
  public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
    try memberIDs(key)
  }

  /// Whether reading a relationship would go to the store.
  ///
  /// A to-one relationship does so when the object it refers to is a fault. A to-many relationship
  /// does so until it is changed here, also when it was read before: objects remember no members.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such relationship.
  public func hasFault(forRelationshipNamed key: String) throws -> Bool {
    try isFault(atRelationship: key)
  }
}
