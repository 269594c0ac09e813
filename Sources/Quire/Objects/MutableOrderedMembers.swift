import QuireModel

/// The objects of an ordered to-many relationship, to look at and to change in place.
///
/// A view, as ``MutableMembers`` is: each object is in it once, and both sides of the relationship
/// are changed. Each call looks at the relationship anew, in O(objects); a loop asks once.
///
/// ```swift
/// let rooms = try show.mutableOrderedSetValue(forKey: "rooms")
/// try rooms.insert(room, at: 0)
/// ```
public struct MutableOrderedMembers: Sequence {
  let object: ManagedObject
  let slot: Int

  init(_ object: ManagedObject, _ slot: Int) {
    self.object = object
    self.slot = slot
  }

  /// The objects as an array of their own, which later changes leave alone.
  public var array: [ManagedObject] { object.shownMembers(slot) }
  public var count: Int { array.count }
  public var isEmpty: Bool { array.isEmpty }

  public func contains(_ member: ManagedObject) -> Bool { object.shows(member, slot) }

  /// The place of an object; `nil` when it is not there.
  public func index(of member: ManagedObject) -> Int? { array.firstIndex(of: member) }

  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place.
  public func object(at index: Int) throws -> ManagedObject {
    let members = try object.members(slot)
    try check(index, members.indices)
    return members[index]
  }

  /// Goes through the objects as they are now, in their order.
  public func makeIterator() -> IndexingIterator<[ManagedObject]> { array.makeIterator() }

  // MARK: Changing

  /// Adds an object at the end, unless it is there.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` for another context's
  ///   object, ``PersistenceError/Code/unacceptableValue`` for one of another entity.
  public func add(_ member: ManagedObject) throws { try object.addMember(member, slot) }

  /// Adds an object before the one at `index`, or at the end. One that is there already stays where
  /// it is.
  ///
  /// - Throws: as ``add(_:)``, and ``PersistenceError/Code/unacceptableValue`` when there is no
  ///   such place.
  public func insert(_ member: ManagedObject, at index: Int) throws {
    try insert([member], at: index)
  }

  /// Adds objects, in their order, before the one at `index`.
  public func insert(_ members: some Sequence<some ManagedObject>, at index: Int) throws {
    var order = try object.members(slot)
    try check(index, 0..<order.count + 1)
    var seen = Set(order)
    let new = members.map { $0 as ManagedObject }.filter { seen.insert($0).inserted }
    for member in new { try object.addMember(member, slot) }
    order.insert(contentsOf: new, at: index)
    if !new.isEmpty { try object.putShownOrder(order, in: slot) }
  }

  /// Removes an object, if it is there.
  public func remove(_ member: ManagedObject) throws { try object.removeMember(member, slot) }

  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place.
  public func removeObject(at index: Int) throws { try remove(object(at: index)) }

  public func removeAll() throws { try object.setMembers(slot, []) }

  /// Puts another object in the place of one. Nothing happens when it is there already.
  ///
  /// - Throws: as ``insert(_:at:)``.
  public func replaceObject(at index: Int, with member: ManagedObject) throws {
    let order = try object.members(slot)
    try check(index, order.indices)
    guard !order.contains(member) else { return }
    try insert(member, at: index)
    try remove(order[index])
  }

  /// Moves the objects at `indexes`, in their order, to where the first of them has the place
  /// `index` among the others.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place.
  public func moveObjects(at indexes: some Sequence<Int>, to index: Int) throws {
    var order = try object.members(slot)
    let places = Set(indexes)
    for place in places { try check(place, order.indices) }
    try check(index, 0..<order.count - places.count + 1)
    let moved = places.sorted().map { order[$0] }
    order = order.indices.filter { !places.contains($0) }.map { order[$0] }
    order.insert(contentsOf: moved, at: index)
    try object.putShownOrder(order, in: slot)
  }

  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    var order = try object.members(slot)
    for index in [first, second] { try check(index, order.indices) }
    order.swapAt(first, second)
    try object.putShownOrder(order, in: slot)
  }

  public func sort(
    by areInIncreasingOrder: (ManagedObject, ManagedObject) throws -> Bool
  ) throws {
    try object.putShownOrder(try object.members(slot).sorted(by: areInIncreasingOrder), in: slot)
  }

  private func check(_ index: Int, _ places: Range<Int>) throws {
    if places.contains(index) { return }
    let key = object.binding.name(of: slot)
    var error = PersistenceError(
      .unacceptableValue,
      "\(object.entity.name).\(key) has no place \(index) here: places go from 0 up to but without "
        + "\(places.upperBound)")
    error.entityName = object.entity.name
    error.key = key
    error.objectID = object.objectID
    throw error
  }
}
