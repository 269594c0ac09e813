import QuireModel

/// Changes that ``ManagedObject/willChangeValue(forKey:)`` has announced.
struct AnnouncedChanges {
  private var changes: [(object: ObjectIdentifier, slot: Int)] = []

  mutating func begin(_ object: ManagedObject, _ slot: Int) {
    changes.append((ObjectIdentifier(object), slot))
  }

  mutating func end(_ object: ManagedObject, _ slot: Int) {
    if let index = changes.lastIndex(where: { $0 == (ObjectIdentifier(object), slot) }) {
      changes.remove(at: index)
    }
  }

  func contains(_ object: ManagedObject, _ slot: Int) -> Bool {
    !changes.isEmpty && changes.contains { $0 == (ObjectIdentifier(object), slot) }
  }
}

// Primitive accessors: they read and set the value without the rest of what an accessor does. An
// accessor written by hand is made of them:
//
//     var name: String? {
//       get {
//         willAccessValue(forKey: "name")
//         defer { didAccessValue(forKey: "name") }
//         return try? primitiveValue(forKey: "name") as? String
//       }
//       set {
//         willChangeValue(forKey: "name")
//         try? setPrimitiveValue(newValue, forKey: "name")
//         didChangeValue(forKey: "name")
//       }
//     }
extension PropertyReading {
  /// The value of a property, without calling an accessor of a subclass. A fault is read for it.
  ///
  /// - Throws: what `value(forKey:)` throws.
  public func primitiveValue(forKey key: String) throws -> Any? { try keyedValue(key) }

  /// Sets a property and does nothing else: the other side of a relationship stays as it is, the
  /// object is not marked as changed, no notice is posted, nothing can be undone.
  ///
  /// The value is saved with the object's other changes, if there are any; without any it is lost
  /// when the program releases the object. In a one-to-many the to-one side decides what is saved.
  /// Between calls of `willChangeValue(forKey:)` and `didChangeValue(forKey:)` it is a change
  /// like any other, except that the other side stays as it is.
  ///
  /// A relationship whose two sides a store keeps (a one-to-one, a many-to-many, an ordered one) is
  /// changed as by `setValue(_:forKey:)`: one side alone would make a store that contradicts
  /// itself.
  ///
  /// In the objects of a migration, which may be written at any time, it is a change to save.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when the value is of another type, or of another
  ///   entity; ``PersistenceError/Code/managedObjectExternalRelationship`` for an object of another
  ///   context. Limits are looked at when the object is saved.
  public func setPrimitiveValue(_ value: Any?, forKey key: String) throws {
    try setPrimitive(value, key)
  }
}

extension ManagedObject {
  /// What ``PropertyReading/setPrimitiveValue(_:forKey:)`` does.
  final func setPrimitive(_ value: Any?, _ key: String) throws {
    let slot = try slot(for: key)
    let trait = binding.traits[slot]
    if !trait.isOneSided {
      context?.preparation?.primitiveChangeCount += 1
      defer { context?.preparation?.primitiveChangeCount -= 1 }
      return try setKeyedValue(value, key)
    }
    if trait.attributeType != nil {
      try putPrimitive(.value(try attributeValue(value, for: slot)), in: slot)
    } else if trait.isToMany {
      try putPrimitive(.many(try primitiveMembers(value, slot)), in: slot)
    } else {
      let value = flattened(value)
      let destination = value as? ManagedObject
      if destination == nil, let value { throw unacceptable(value, for: key) }
      if let destination { try checkDestination(destination, slot) }
      try putPrimitive(.one(destination), in: slot)
    }
    guard let context else { return }
    // A save that has prepared the object already prepares it again.
    context.preparation?.isOutdated = true
    if context.migration != nil { markUpdated() }
  }

  /// The changes by which the store's to-many relationship becomes one that refers to these
  /// objects.
  private func primitiveMembers(_ value: Any?, _ slot: Int) throws -> PendingMembers {
    let relationship = binding.relationship(slot)
    var seen: Set<ManagedObject> = []
    let members = try objects(in: flattened(value), for: relationship)
      .filter { seen.insert($0).inserted }
    for member in members { try checkDestination(member, relationship) }
    try prepareForChange()
    let former = try storedMembers(slot)
    let stored = Set(former)
    let pending = PendingMembers()
    pending.added = members.filter { !stored.contains($0.reference) }
    pending.removed = RemovedReferences(stored.subtracting(members.lazy.map(\.reference)))
    if relationship.isOrdered {
      (pending.order, pending.formerOrder) = (members, StoredOrder(members: former))
    }
    return pending
  }

  // MARK: Calls around primitive accessors

  /// Reads the object if it is a fault: the first step of an accessor written by hand. What reading
  /// throws, the context throws from its next fetch or save.
  ///
  /// - Parameter key: the property that is about to be read; `nil` for any.
  public final func willAccessValue(forKey key: String?) {
    do {
      if let key { _ = try slot(for: key) }
      try fulfil()
    } catch {
      context?.report(error)
    }
  }

  /// Ends what ``willAccessValue(forKey:)`` began. Does nothing, as values stay for as long as the
  /// object is no fault; an accessor that was written for Core Data calls it.
  public final func didAccessValue(forKey key: String?) {}

  /// Announces that a property is about to be set by ``setPrimitiveValue(_:forKey:)``. That call is
  /// then recorded for undo and reported to observers of the context.
  ///
  /// A key that the entity does not have is an error that the context throws from its next fetch or
  /// save. Each call is ended by one of ``didChangeValue(forKey:)``.
  public final func willChangeValue(forKey key: String) {
    do {
      let slot = try slot(for: key)
      try prepareForChange()
      context?.announcedChanges.begin(self, slot)
    } catch {
      context?.report(error)
    }
  }

  /// Ends what ``willChangeValue(forKey:)`` began, and marks the object as changed. What differs
  /// from the store is saved.
  ///
  /// A key that the entity does not have is an error that the context throws from its next fetch or
  /// save.
  public final func didChangeValue(forKey key: String) {
    do {
      context?.announcedChanges.end(self, try slot(for: key))
      markUpdated()
    } catch {
      context?.report(error)
    }
  }
}
