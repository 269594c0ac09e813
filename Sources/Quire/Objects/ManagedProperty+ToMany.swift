import QuireModel

/// A type of a property that stands for a to-many relationship: a set or an array of objects.
public protocol ToManyManagedValue<Member> {
  /// The class of the objects that the relationship refers to.
  associatedtype Member: ManagedObject
}

/// A type of a property that stands for an ordered relationship: an array of objects.
public protocol OrderedManagedValue<Member>: ToManyManagedValue {}

extension Set: ToManyManagedValue where Element: ManagedObject {
  public typealias Member = Element
}

extension Array: ToManyManagedValue, OrderedManagedValue where Element: ManagedObject {
  public typealias Member = Element
}

// A to-many relationship changed in place. `department.staff.insert(employee)` reads all members
// into a set and writes the set back, as Swift does with every property that has a getter and a
// setter: its cost grows with the relationship. The cost of these functions grows with the change.
extension ManagedProperty where Value: ToManyManagedValue {
  /// How many objects the relationship has. No object is made for that, unless some are deleted and
  /// not saved, or the relationship's delete rules leave others behind.
  ///
  /// What reading throws the context throws from its next fetch or save, as with the property.
  ///
  /// - Complexity: O(*n*): each link that the store has is passed, and each object that was added.
  public var count: Int {
    guard slot >= 0 else { return 0 }
    do {
      return try object.memberCount(object.checkedRelationship(slot, isToMany: true))
    } catch {
      object.keep(error)
      return 0
    }
  }

  /// Whether the relationship has no object, or cannot be read.
  ///
  /// - Complexity: as ``count``.
  public var isEmpty: Bool { count == 0 }

  /// Whether the relationship has an object.
  ///
  /// - Complexity: O(log *n*); O(*n*) where the relationship is ordered, or another store's or
  ///   parent's, and its inverse is not a to-one relationship.
  public func contains(_ member: Value.Member) -> Bool {
    guard slot >= 0 else { return false }
    do {
      return object.shows(member, try object.checkedRelationship(slot, isToMany: true))
    } catch {
      object.keep(error)
      return false
    }
  }

  /// Adds an object unless it is there, at the end if the relationship is ordered. The other side
  /// of the relationship changes with it.
  ///
  /// ```swift
  /// try department.$staff.insert(employee)
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` for another context's
  ///   object, ``PersistenceError/Code/unacceptableValue`` for one of another entity,
  ///   ``PersistenceError/Code/undefinedKey`` when the model has no such property.
  /// - Complexity: as ``contains(_:)``, whatever the number of members.
  public func insert(_ member: Value.Member) throws {
    try object.addMember(member, checkedSlot)
  }

  /// Adds the objects that are not there; ends at the first that cannot be added.
  public func formUnion(_ members: some Sequence<Value.Member>) throws {
    let slot = try checkedSlot
    for member in members { try object.addMember(member, slot) }
  }

  /// Removes an object, if it is there. The other side of the relationship changes with it.
  ///
  /// - Complexity: as ``contains(_:)``; O(√*n*) in an ordered relationship that has changes.
  public func remove(_ member: Value.Member) throws {
    try object.removeMember(member, checkedSlot)
  }

  /// Removes the objects that are there.
  public func subtract(_ members: some Sequence<Value.Member>) throws {
    let slot = try checkedSlot
    for member in members { try object.removeMember(member, slot) }
  }

  /// Removes all objects. The other side of the relationship changes with each of them.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the model has no such property, and what
  ///   reading the store throws.
  /// - Complexity: O(*n*): the members are read, and each becomes a changed object where the
  ///   relationship has an inverse.
  public func removeAll() throws { try object.setMembers(checkedSlot, []) }

  fileprivate var checkedSlot: Int {
    get throws {
      if slot >= 0 { return try object.checkedRelationship(slot, isToMany: true) }
      var error = PersistenceError(
        .undefinedKey,
        "\(type(of: object)) has a property of \(Value.self) that \(object.entity.name) has not: "
          + "give it the name that the model has")
      error.entityName = object.entity.name
      throw error
    }
  }
}

// Positions. An array may also be the property of a relationship without an order: then these throw
// ``PersistenceError/Code/unacceptableValue``.
extension ManagedProperty where Value: OrderedManagedValue {
  /// Adds an object at the end, unless it is there. The same as ``insert(_:)``.
  public func append(_ member: Value.Member) throws { try insert(member) }

  /// Adds the objects that are not there at the end, in their order; ends at the first that cannot
  /// be added. The same as ``formUnion(_:)``.
  ///
  /// - Throws: as ``insert(_:)``.
  public func append(contentsOf members: some Sequence<Value.Member>) throws {
    try formUnion(members)
  }

  /// Adds an object before the one at `index`, or at the end. One that is there already stays where
  /// it is.
  ///
  /// - Throws: as ``insert(_:)``, and ``PersistenceError/Code/unacceptableValue`` when there is no
  ///   such position.
  /// - Complexity: O(√*n*) in a list with unsaved changes; O(*n*) for the first.
  public func insert(_ member: Value.Member, at index: Int) throws {
    try ordered.insert(member, at: index)
  }

  /// Removes the object at `index`.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  /// - Complexity: O(√*n*) in a list with unsaved changes; O(*n*) for the first.
  public func remove(at index: Int) throws { try ordered.removeObject(at: index) }

  /// Moves the object at one index to where it has another.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  /// - Complexity: O(√*n*) in a list with unsaved changes; O(*n*) for the first.
  public func move(from source: Int, to destination: Int) throws {
    try ordered.moveObjects(at: CollectionOfOne(source), to: destination)
  }

  /// The position of an object; `nil` when it is not there.
  ///
  /// - Complexity: O(√*n*) in a list with unsaved changes; O(*n*) for the first.
  public func firstIndex(of member: Value.Member) -> Int? {
    guard slot >= 0 else { return nil }
    do {
      return try ordered.index(of: member)
    } catch {
      object.keep(error)
      return nil
    }
  }

  /// The object at `index`.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position, or an
  ///   object of another class is there.
  /// - Complexity: O(log *n*) in a list with unsaved changes, O(*n*) otherwise; a loop asks the
  ///   property for its array once.
  public func member(at index: Int) throws -> Value.Member {
    let member = try ordered.object(at: index)
    guard let typed = member as? Value.Member else {
      throw object.isNoDestination(member, of: slot)
    }
    return typed
  }

  private var ordered: MutableOrderedMembers {
    get throws {
      let slot = try checkedSlot
      if object.isOrdered(slot) { return MutableOrderedMembers(object, slot) }
      // Throws, with its message.
      return try object.mutableOrderedSetValue(forKey: object.binding.name(of: slot))
    }
  }
}

extension ManagedObject {
  final func isOrdered(_ slot: Int) -> Bool { ofArena { $0.binding.traits[slot].isOrdered } }

  /// How many members a to-many relationship shows.
  final func memberCount(_ slot: Int) throws -> Int {
    recordAccess(to: slot)
    if let order = shownOrder(slot) { return order.count }
    guard let context, context.changes.deleted.isEmpty, context.parent == nil,
      ofArena({ !$0.membersHaveMoved }), !binding.traits[slot].canDangle
    else { return try members(slot).count }
    guard hasSlots, case .many(let pending) = slots[slot] else {
      return try existingMembers(slot).count
    }
    if let order = pending.order { return order.reduce(0) { isShown($1) ? $0 + 1 : $0 } }
    let stored = isPersistent ? try existingMembers(slot) : []
    let kept =
      pending.removed.isEmpty
      ? stored.count : stored.reduce(0) { pending.removed.contains($1) ? $0 : $0 + 1 }
    return pending.added.reduce(kept) { isShown($1) ? $0 + 1 : $0 }
  }
}
