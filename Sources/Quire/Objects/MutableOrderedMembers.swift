import QuireModel

/// The objects of an ordered to-many relationship, to read and to change in place.
///
/// A view, as ``MutableMembers`` is: each object is in it once, and both sides of the relationship
/// are changed.
///
/// Where the relationship was changed since the object was last fetched or saved, its order is in
/// memory, and reading or changing one position costs O(√*n*), at the beginning as at the end: some
/// hundred moves of a pointer among 50,000 members. The first change reads all members. Before it,
/// each call reads the relationship anew, in O(*n*), so a loop that only reads should take
/// ``array`` once; and so it is while the relationship hides a member whose deletion is not saved.
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
  public var count: Int {
    do {
      return try object.memberCount(slot)
    } catch {
      object.keepReadError(error)
      return 0
    }
  }

  /// Whether there is no object, or they cannot be read.
  public var isEmpty: Bool { count == 0 }

  /// Whether the relationship has an object; `false` where it cannot be read.
  public func contains(_ member: ManagedObject) -> Bool { object.shows(member, slot) }

  /// The position of an object; `nil` when it is not there.
  public func index(of member: ManagedObject) -> Int? {
    guard let order = object.shownOrder(slot) else { return array.firstIndex(of: member) }
    object.recordAccess(to: slot)
    return order.position(of: member)
  }

  /// The object at a position, from 0.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position, where
  ///   Core Data's ordered set ends the program; and what reading the store throws.
  public func object(at index: Int) throws -> ManagedObject {
    if let order = object.shownOrder(slot) {
      try check(index, 0..<order.count)
      return order.member(at: index)
    }
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
  ///   such position.
  public func insert(_ member: ManagedObject, at index: Int) throws {
    try insert([member], at: index)
  }

  /// Adds the objects that are not there, in their order, before the one at `index`, or at the end.
  ///
  /// - Throws: as ``insert(_:at:)-(ManagedObject,_)``. Objects before the one that cannot be added
  ///   are in the relationship then.
  public func insert(_ members: some Sequence<some ManagedObject>, at index: Int) throws {
    if let successor = try successor() { return try successor.insert(members, at: index) }
    var count = try object.memberCount(slot)
    try check(index, 0..<count + 1)
    let members = members.map { $0 as ManagedObject }
    if members.count > 1, object.shownOrder(slot) == nil {
      return try insertTogether(members, at: index)
    }
    var position = index
    for member in members {
      try object.addMember(member, slot, at: position)
      let former = count
      count = try object.memberCount(slot)
      // It was there.
      guard count > former else { continue }
      if try self.object(at: position) !== member {
        // It came last, unless a hook of what was read meanwhile has added it, wherever that is.
        guard try self.object(at: count - 1) === member else { continue }
        try object.moveMember(from: count - 1, to: position, in: slot)
      }
      position += 1
    }
  }

  /// Adds all of them at the end, and puts them where they belong once.
  private func insertTogether(_ members: [ManagedObject], at index: Int) throws {
    var order = try object.members(slot)
    var seen = Set(order)
    let new = members.filter { seen.insert($0).inserted }
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
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  public func removeObject(at index: Int) throws { try remove(object(at: index)) }

  /// Removes all objects. The other side of the relationship changes with each of them.
  ///
  /// - Throws: what reading the store throws.
  public func removeAll() throws { try object.setMembers(slot, []) }

  /// Puts another object in the place of one. Nothing happens when it is there already.
  ///
  /// - Throws: as ``insert(_:at:)-(ManagedObject,_)``.
  public func replaceObject(at index: Int, with member: ManagedObject) throws {
    if let successor = try successor() {
      return try successor.replaceObject(at: index, with: member)
    }
    let former = try object(at: index)
    guard try !object.hasMember(member, slot) else { return }
    try insert(member, at: index)
    try remove(former)
  }

  /// Moves the objects at `indexes`, in their present order: `index` is the position of the first
  /// of them afterwards.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  public func moveObjects(at indexes: some Sequence<Int>, to index: Int) throws {
    let positions = Set(indexes)
    if let successor = try successor() {
      return try successor.moveObjects(at: positions, to: index)
    }
    if positions.count == 1, let position = positions.first {
      let count = try object.memberCount(slot)
      for position in [position, index] { try check(position, 0..<count) }
      return try object.moveMember(from: position, to: index, in: slot)
    }
    var order = try object.members(slot)
    for position in positions { try check(position, order.indices) }
    try check(index, 0..<order.count - positions.count + 1)
    let moved = positions.sorted().map { order[$0] }
    order = order.indices.filter { !positions.contains($0) }.map { order[$0] }
    order.insert(contentsOf: moved, at: index)
    try object.putShownOrder(order, in: slot)
  }

  /// Exchanges the positions of two objects.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when there is no such position.
  public func exchangeObject(at first: Int, withObjectAt second: Int) throws {
    if let successor = try successor() {
      return try successor.exchangeObject(at: first, withObjectAt: second)
    }
    let count = try object.memberCount(slot)
    for index in [first, second] { try check(index, 0..<count) }
    let (low, high) = first < second ? (first, second) : (second, first)
    if low == high { return }
    try object.moveMember(from: high, to: low, in: slot)
    try object.moveMember(from: low + 1, to: high, in: slot)
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
    if let successor = try successor() { return try successor.sort(by: areInIncreasingOrder) }
    try object.putShownOrder(try object.members(slot).sorted(by: areInIncreasingOrder), in: slot)
  }

  /// The same relationship of the object that stands for this one; `nil` for all objects but those
  /// that gave way to another in a save.
  private func successor() throws -> MutableOrderedMembers? {
    guard let successor = object.successor else { return nil }
    return MutableOrderedMembers(successor, try object.slot(slot, in: successor))
  }

  private func check(_ index: Int, _ positions: Range<Int>) throws {
    if positions.contains(index) { return }
    let key = object.binding.name(of: slot)
    var error = PersistenceError(
      .unacceptableValue,
      "\(object.entity.name).\(key) has no position \(index) here: positions go from 0 up to but "
        + "without \(positions.upperBound)")
    error.entityName = object.entity.name
    error.key = key
    error.objectID = object.objectID
    throw error
  }
}
