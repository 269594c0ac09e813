import QuireModel

/// The objects of an unordered to-many relationship, to read and to change in place.
///
/// A view: each call reads what the relationship has at that moment, and changes go to the object
/// itself, the other side of the relationship included. What cannot be read shows as empty, and the
/// object's context throws the error from its next fetch or save. Core Data has it as a mutable set
/// whose methods do not throw.
///
/// ```swift
/// let artworks = try artist.mutableSetValue(forKey: "artworks")
/// try artworks.add(artwork)
/// ```
public struct MutableMembers: Sequence {
  let object: ManagedObject
  let slot: Int

  init(_ object: ManagedObject, _ slot: Int) {
    self.object = object
    self.slot = slot
  }

  /// A copy of the objects, which later changes of the relationship do not reach.
  ///
  /// - Complexity: O(objects).
  public var set: Set<ManagedObject> { Set(members) }

  /// The number of objects; 0 where they cannot be read.
  ///
  /// - Complexity: O(objects).
  public var count: Int { members.count }

  /// Whether there is no object, or they cannot be read.
  ///
  /// - Complexity: O(objects).
  public var isEmpty: Bool { members.isEmpty }

  /// Whether the relationship has an object; `false` where it cannot be read.
  ///
  /// - Complexity: O(log *n*); O(objects) in a context with a parent and in an incremental store,
  ///   where the inverse is not a to-one relationship.
  public func contains(_ member: ManagedObject) -> Bool { object.shows(member, slot) }

  /// An iterator over the objects that are there now, in no order. Later changes do not reach it.
  public func makeIterator() -> IndexingIterator<[ManagedObject]> { members.makeIterator() }

  /// Adds an object unless it is there.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` for another context's
  ///   object, ``PersistenceError/Code/unacceptableValue`` for one of another entity.
  public func add(_ member: ManagedObject) throws { try object.addMember(member, slot) }

  /// Adds the objects that are not there; ends at the first that cannot be added.
  ///
  /// - Throws: as ``add(_:)``.
  public func formUnion(_ others: some Sequence<some ManagedObject>) throws {
    for member in others { try add(member) }
  }

  /// Removes an object, if it is there.
  ///
  /// - Throws: what reading the store throws.
  public func remove(_ member: ManagedObject) throws { try object.removeMember(member, slot) }

  /// Removes the objects that are there; ends at the first error.
  ///
  /// - Throws: as ``remove(_:)``.
  public func subtract(_ others: some Sequence<some ManagedObject>) throws {
    for member in others { try remove(member) }
  }

  /// Removes all objects but these; ends at the first error.
  ///
  /// - Throws: what reading the store throws.
  /// - Complexity: O(objects).
  public func formIntersection(_ others: some Sequence<some ManagedObject>) throws {
    let kept = Set(others.lazy.map { $0 as ManagedObject })
    for member in try object.members(slot) where !kept.contains(member) { try remove(member) }
  }

  /// Removes all objects. The other side of the relationship changes with each of them.
  ///
  /// - Throws: what reading the store throws.
  /// - Complexity: O(objects).
  public func removeAll() throws { try object.setMembers(slot, []) }

  private var members: [ManagedObject] { object.shownMembers(slot) }
}

extension PropertyReading {
  /// The unordered to-many relationship of this name, to be changed in place.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when it is no unordered to-many relationship.
  public func mutableSetValue(forKey key: String) throws -> MutableMembers {
    MutableMembers(self, try toManySlot(key, isOrdered: false))
  }

  /// The ordered relationship of this name, to be changed in place.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when it is no ordered relationship.
  public func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedMembers {
    MutableOrderedMembers(self, try toManySlot(key, isOrdered: true))
  }
}

extension ManagedObject {
  /// - Parameter isOrdered: `nil` where both will do.
  final func toManySlot(_ key: String, isOrdered: Bool?) throws -> Int {
    let slot = try slot(for: key)
    let trait = binding.traits[slot]
    if trait.isToMany, isOrdered.map({ $0 == trait.isOrdered }) ?? true { return slot }
    let wanted = isOrdered.map { $0 ? "an ordered" : "an unordered" } ?? "a"
    var error = PersistenceError(
      .unacceptableValue, "\(entity.name).\(key) is not \(wanted) to-many relationship")
    error.entityName = entity.name
    error.key = key
    throw error
  }

  /// The members of a to-many relationship; none where they cannot be read.
  final func shownMembers(_ slot: Int) -> [ManagedObject] {
    recordAccess(to: slot)
    do {
      let members = try members(slot)
      if members.isEmpty { try checkRow() }
      return members
    } catch {
      keepReadError(error)
      return []
    }
  }

  final func shows(_ member: ManagedObject, _ slot: Int) -> Bool {
    recordAccess(to: slot)
    do {
      return try isShown(member) && hasMember(member, slot)
    } catch {
      keepReadError(error)
      return false
    }
  }
}
