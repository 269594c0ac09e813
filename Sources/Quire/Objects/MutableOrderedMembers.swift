import QuireModel

/// The objects of an ordered to-many relationship, to read and to change in place.
///
/// A view, as ``MutableMembers`` is: each object is in it once, and both sides of the relationship
/// are changed. Each call reads the relationship anew, in O(objects), so a loop should take
/// ``array`` once.
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

  /// A copy of the objects in their order, which later changes of the relationship do not reach;
  /// empty where they cannot be read.
  public var array: [ManagedObject] { object.shownMembers(slot) }

  /// The number of objects; 0 where they cannot be read.
  public var count: Int { array.count }

  /// Whether there is no object, or they cannot be read.
  public var isEmpty: Bool { array.isEmpty }

  /// Whether the relationship has an object; `false` where it cannot be read.
  public func contains(_ member: ManagedObject) -> Bool { object.shows(member, slot) }

  /// The position of an object; `nil` when it is not there.
  public func index(of member: ManagedObject) -> Int? { array.firstIndex(of: member) }

  /// The object at a position, from 0.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place, where Core
  ///   Data's ordered set ends the program; and what reading the store throws.
  public func object(at index: Int) throws -> ManagedObject {
    let members = try object.members(slot)
    try check(index, members.indices)
    return members[index]
  }

  /// An iterator over the objects that are there now, in their order. Later changes do not reach
  /// it.
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

  /// Adds the objects that are not there, in their order, before the one at `index`, or at the end.
  ///
  /// - Throws: as ``insert(_:at:)-(ManagedObject,_)``. Objects before the one that cannot be added
  ///   are then at the end.
  public func insert(_ members: some Sequence<some ManagedObject>, at index: Int) throws {
    var order = try object.members(slot)
    try check(index, 0..<order.count + 1)
    var new = members.map { $0 as ManagedObject }
    if new.count == 1 {
      if order.contains(new[0]) { return }
    } else {
      var seen = Set(order)
      new = new.filter { seen.insert($0).inserted }
    }
    for member in new { try object.addMember(member, slot) }
    order.insert(contentsOf: new, at: index)
    if !new.isEmpty { try object.putShownOrder(order, in: slot) }
  }

  /// Removes an object, if it is there.
  ///
  /// - Throws: what reading the store throws.
  public func remove(_ member: ManagedObject) throws { try object.removeMember(member, slot) }

  /// Removes the object at a position.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place.
  public func removeObject(at index: Int) throws { try remove(object(at: index)) }

  /// Removes all objects. The other side of the relationship changes with each of them.
  ///
  /// - Throws: what reading the store throws.
  public func removeAll() throws { try object.setMembers(slot, []) }

  /// Puts another object in the place of one. Nothing happens when it is there already.
  ///
  /// - Throws: as ``insert(_:at:)-(ManagedObject,_)``.
  public func replaceObject(at index: Int, with member: ManagedObject) throws {
    let order = try object.members(slot)
    try check(index, order.indices)
    guard !order.contains(member) else { return }
    try insert(member, at: index)
    try remove(order[index])
  }

  /// Moves the objects at `indexes`, in their present order: `index` is the position of the first
  /// of them afterwards.
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

  /// Exchanges the positions of two objects.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such place.
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    var order = try object.members(slot)
    for index in [first, second] { try check(index, order.indices) }
    order.swapAt(first, second)
    try object.putShownOrder(order, in: slot)
  }

  /// Sorts the objects.
  ///
  /// - Parameter areInIncreasingOrder: whether the first object comes before the second.
  /// - Throws: what `areInIncreasingOrder` and reading the store throw; the order is then what it
  ///   was.
  /// - Complexity: O(*n* log *n*) comparisons.
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
