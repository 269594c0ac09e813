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

// Primitive accessors: the value itself, past all that goes with it. An accessor written by hand is
// made of them:
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
extension ManagedObject {
  /// The value of a property, past any accessor of a subclass. A fault is read for it.
  ///
  /// - Throws: what ``value(forKey:)`` throws.
  public final func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }

  /// Sets a property and does nothing else: the other side of a relationship stays as it is, the
  /// object is not marked as changed, nobody is told, nothing can be undone.
  ///
  /// The value is saved with the object's other changes, if there are any; it is lost with an
  /// object that nobody holds. In a one-to-many the to-one side says what is saved. Where
  /// ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)`` stand around the call, it is a
  /// change like any other, but for the other side.
  ///
  /// A relationship whose two sides a store keeps (a one-to-one, a many-to-many, an ordered one) is
  /// changed as by ``setValue(_:forKey:)``: one side alone would make a store that contradicts
  /// itself.
  ///
  /// In the objects of a migration, which may be written at any time, it is a change to save.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when the value is of another type, or of another
  ///   entity; ``PersistenceError/Code/managedObjectExternalRelationship`` for an object of another
  ///   context. Limits are looked at when the object is saved.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) throws {
    let slot = try slot(for: key)
    let trait = binding.traits[slot]
    if !trait.isOneSided {
      context?.preparation?.primitiveChangeCount += 1
      defer { context?.preparation?.primitiveChangeCount -= 1 }
      return try setValue(value, forKey: key)
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
    // A save that has looked at the object already looks again.
    context.preparation?.isOutdated = true
    if context.deferredLinks != nil { markUpdated() }
  }

  /// What makes a to-many relationship that leads to these objects of the one in the store.
  private func primitiveMembers(_ value: Any?, _ slot: Int) throws -> PendingMembers {
    let relationship = binding.relationship(slot)
    var seen: Set<ManagedObject> = []
    let members = try objects(in: flattened(value), for: relationship)
      .filter { seen.insert($0).inserted }
    for member in members { try checkDestination(member, relationship) }
    try prepareForChange()
    let stored = Set(try storedMembers(slot))
    let pending = PendingMembers()
    pending.added = members.filter { !stored.contains($0.reference) }
    pending.removed = stored.subtracting(members.lazy.map(\.reference))
    if relationship.isOrdered { pending.order = members }
    return pending
  }

  // MARK: Around them

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

  /// Ends what ``willAccessValue(forKey:)`` began. Values stay as long as the object is no fault:
  /// there is nothing to end; an accessor may call it all the same.
  public final func didAccessValue(forKey key: String?) {}

  /// Says that a property is about to be set by ``setPrimitiveValue(_:forKey:)``: that will then be
  /// told to those who want to know of changes, so that it can be undone.
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

  /// Marks the object as changed. What differs from the store is saved.
  public final func didChangeValue(forKey key: String) {
    do {
      context?.announcedChanges.end(self, try slot(for: key))
      markUpdated()
    } catch {
      context?.report(error)
    }
  }
}
