import QuireModel

// Changes of relationships, each of which changes two to four objects.
//
// Reading a row calls a hook of its object, which may do anything: change the same relationship,
// drop all changes, save. So all objects of a change are made ready before anything is changed, and
// checked again until making ready calls no hook. Then no hook runs from the first side to the
// last, and no save, undo or refresh sees half of a change.
extension ManagedObject {
  /// Points a to-one slot at `object`, and both old and new destination back accordingly.
  final func setOne(_ slot: Int, _ object: ManagedObject?) throws {
    if let successor { return try successor.setOne(self.slot(slot, in: successor), object) }
    let object = object?.successor ?? object
    guard maintainsInverse(slot) else {
      if let object { try checkDestination(object, slot) }
      return try put(object, in: slot)
    }
    let ends = try readyEnds(slot, object)
    // Also where nothing changes: a dangling reference, which reads as nil, is replaced by nil.
    try put(object, in: slot)
    if ends.old === object { return }
    if let old = ends.old, let inverse = ends.oldInverse {
      try old.removeInverse(inverse, to: self)
    }
    guard let object, let inverse = ends.inverse else { return }
    if object.isToMany(inverse) { return try object.addInverse(inverse, to: self) }
    // A row that was read before another save may refer to one that refers elsewhere.
    if let rival = ends.rival { try rival.removeInverse(slotOnRival(rival, slot), to: object) }
    try object.put(self, in: inverse)
  }

  /// Adds `object` to a to-many slot, if it is not there yet.
  ///
  /// - Parameter position: where it is wanted in an order. It comes last where members are hidden,
  ///   or where a hook has removed some meanwhile.
  final func addMember(_ object: ManagedObject, _ slot: Int, at position: Int? = nil) throws {
    if let successor {
      return try successor.addMember(object, self.slot(slot, in: successor), at: position)
    }
    let object = object.successor ?? object
    guard maintainsInverse(slot) else {
      try checkDestination(object, slot)
      if try !hasMember(object, slot) { try pendingAdd(object, slot, at: position) }
      return
    }
    guard let ends = try readyEnds(slot, adding: object) else {
      if try rereads(object, slot, asMember: false) { try addMember(object, slot, at: position) }
      return
    }
    try pendingAdd(object, slot, at: position)
    guard let inverse = ends.inverse else { return }
    if object.isToMany(inverse) {
      // An object that refers to itself by a relationship that is its own inverse is there once.
      if object !== self || inverse != slot { try object.addInverse(inverse, to: self) }
      return
    }
    if let owner = ends.rival { try owner.pendingRemove(object, slotOnRival(owner, slot)) }
    try object.put(self, in: inverse)
  }

  /// Removes `object` from a to-many slot, if it is there.
  final func removeMember(_ object: ManagedObject, _ slot: Int) throws {
    if let successor { return try successor.removeMember(object, self.slot(slot, in: successor)) }
    let object = object.successor ?? object
    let inverse = maintainsInverse(slot) ? inverseSlot(of: slot, on: object) : nil
    try untilReady {
      guard try hasMember(object, slot) else { return true }
      let isReady = try makeReady(slot)
      return try inverse.map { try object.makeReady($0) && isReady } ?? isReady
    }
    guard try hasMember(object, slot) else {
      if try rereads(object, slot, asMember: true) { try removeMember(object, slot) }
      return
    }
    try pendingRemove(object, slot)
    if let inverse, object !== self || inverse != slot {
      try object.removeInverse(inverse, to: self)
    }
  }

  /// Reads a clean object again whose row contradicts the members that a store of another make says
  /// to have now. It has no states, of which both ends could be read.
  ///
  /// - Parameter isMember: whether the store has it among the members, and its row does not say so;
  ///   otherwise the other way round.
  /// - Returns: whether its row is another one now.
  private func rereads(
    _ object: ManagedObject, _ slot: Int, asMember isMember: Bool
  ) throws -> Bool {
    guard binding.traits[slot].isInverseOfToOne, let session, session.store.incremental != nil,
      object.isStored, object.hasRow, !object.hasSlots,
      try isStoredMember(object, slot) == isMember,
      let row = try session.latestView().row(object.reference), row.version != object.version
    else { return false }
    context?.operations.refresh(object, mergeChanges: true)
    return true
  }

  /// Makes `objects` the destinations of a to-many slot, in this order if the relationship has one.
  final func setMembers(_ slot: Int, _ objects: [ManagedObject]) throws {
    if let successor { return try successor.setMembers(self.slot(slot, in: successor), objects) }
    let objects = objects.map { $0.successor ?? $0 }
    for object in objects { try checkDestination(object, slot) }
    let wanted = Set(objects)
    var present: Set<ManagedObject> = []
    for object in try members(slot) {
      if wanted.contains(object) {
        present.insert(object)
      } else {
        try removeMember(object, slot)
      }
    }
    try removeHiddenMembers(slot, but: wanted)
    for object in objects where !present.contains(object) { try addMember(object, slot) }
    guard ofArena({ $0.binding.traits[slot].isOrdered }) else { return }
    try untilReady { try makeReady(slot) }
    // Hooks of objects that were read meanwhile may have added and removed members.
    var seen: Set<ManagedObject> = []
    let order = objects.filter { seen.insert($0).inserted }
    try putOrder(MergedOrder.order(of: rawMembers(slot), as: order), in: slot)
  }

  /// Makes the objects of a set the destinations of a to-many property.
  ///
  /// `department.staff.insert(employee)` passes the whole set. So little is done for each object,
  /// and only differences are changed.
  ///
  /// - Parameter objects: each of them once, in any order.
  /// - Complexity: O(members + objects).
  @usableFromInline final func setMembers(
    ofProperty slot: Int, distinct objects: [ManagedObject]
  ) throws {
    let slot = try checkedRelationship(slot, isToMany: true)
    if let successor { return try successor.setMembers(self.slot(slot, in: successor), objects) }
    let objects = objects.map { $0.successor ?? $0 }
    // A set has no order; that of the keys makes the result repeatable.
    func inOrder(_ objects: [ManagedObject]) -> [ManagedObject] {
      objects.count < 2 ? objects : objects.sorted { $0.reference < $1.reference }
    }
    if ofArena({ $0.binding.traits[slot].isOrdered }) { throw losesOrder(slot) }
    for object in objects { try checkDestination(object, slot) }
    let current = try members(slot)
    let isCurrent = Set(current)
    let new = objects.filter { !isCurrent.contains($0) }
    let hidesDeleted = context.map { !$0.changes.deleted.isEmpty } ?? false
    if hidesDeleted || objects.count - new.count < current.count {
      let isWanted = Set(objects)
      for object in current where !isWanted.contains(object) { try removeMember(object, slot) }
      try removeHiddenMembers(slot, but: isWanted)
    }
    for object in inOrder(new) { try addMember(object, slot) }
  }

  private func losesOrder(_ slot: Int) -> PersistenceError {
    let name = binding.properties[slot].name
    var error = PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(name) is declared as a set and is ordered in the model: setting it would "
        + "lose the order, so declare it as an array")
    error.entityName = entity.name
    error.key = name
    return error
  }

  /// Removes the deleted members that their delete rules have left in the relationship. Otherwise
  /// they would be back in it when they are inserted again, or a deny rule would count this object.
  private func removeHiddenMembers(_ slot: Int, but wanted: Set<ManagedObject>) throws {
    guard let context, !context.changes.deleted.isEmpty else { return }
    for object in try rawMembers(slot)
    where object.context === context && !isShown(object) && !wanted.contains(object) {
      try removeMember(object, slot)
    }
  }

  /// Adds to the members of a to-many slot an object that refers here. A deleted object has kept
  /// those that its delete rule has removed it from.
  private func addInverse(_ slot: Int, to object: ManagedObject) throws {
    if try !isDeleted || !holds(object, slot) { try pendingAdd(object, slot) }
  }

  /// Clears the relationship that leads from here to `object`, whatever its kind.
  final func removeInverse(_ slot: Int, to object: ManagedObject) throws {
    if isToMany(slot) {
      try pendingRemove(object, slot)
    } else if try leadsByOne(slot, to: object) {
      try put(nil as ManagedObject?, in: slot)
    }
  }

  /// Whether a to-one slot refers to an object. No object is made for that.
  private func leadsByOne(_ slot: Int, to object: ManagedObject) throws -> Bool {
    if hasSlots, case .one(let destination) = slots[slot] { return destination === object }
    try fulfil()
    if hasSlots, case .one(let destination) = slots[slot] { return destination === object }
    guard storedReference(slot) == object.reference else { return false }
    return object.session == nil || object.session === session
  }

  /// Whether a change of a relationship changes the other side too. Within ``awakeFromFetch()`` an
  /// object sets transient relationships on its side alone.
  private func maintainsInverse(_ slot: Int) -> Bool {
    !state.contains(.awaking) || !binding.traits[slot].isTransient
  }
}

// MARK: - Getting ready

/// What changes along with one side of a relationship.
private struct RelationshipEnds {
  /// The former destination of a to-one side.
  var old: ManagedObject?
  var oldInverse: Int?
  /// The slot of the new destination that refers back.
  var inverse: Int?
  /// The former destination of the new destination, where its side is to-one.
  var rival: ManagedObject?
}

/// What a deleted object has kept of a relationship.
struct KeptLink {
  let slot: Int
  let other: ManagedObject
  fileprivate var ends = RelationshipEnds()

  fileprivate init(_ slot: Int, _ other: ManagedObject) { (self.slot, self.other) = (slot, other) }
}

extension ManagedObject {
  /// The number of rounds of making ready, after which hooks are taken to undo it for ever.
  private static var readyLimit: Int { 100 }

  /// Repeats something that may call hooks, until it returns that there was nothing to do.
  private func untilReady(_ isReady: () throws -> Bool) throws {
    for _ in 1...Self.readyLimit where try isReady() { return }
    throw PersistenceError(
      .managedObjectContextLocking,
      "\(objectID) cannot be changed: whenever its row is read, or that of what it refers to, an "
        + "object drops what was read")
  }

  /// Reads what is needed so that a change of the slot reads no row and makes no object.
  ///
  /// - Returns: whether that was so already.
  final func makeReady(_ slot: Int) throws -> Bool {
    let isOrdered = ofArena { $0.binding.traits[slot].isOrdered }
    if hasSlots {
      guard isOrdered else { return true }
      if case .many = slots[slot] { return true }
    }
    try prepareForChange()
    if isOrdered { try beginPendingMembers(slot) }
    return false
  }

  private func readyEnds(_ slot: Int, _ object: ManagedObject?) throws -> RelationshipEnds {
    var ends = RelationshipEnds()
    try untilReady {
      // Keeps the objects of the round before, which may have no other reference: they would be
      // released, and be made again without what was made ready.
      let former = ends
      defer { withExtendedLifetime(former) {} }
      if let object { try checkDestination(object, slot) }
      var isReady = try makeReady(slot)
      ends = RelationshipEnds(old: try one(slot))
      if ends.old === object { return isReady }
      if let old = ends.old, let inverse = inverseSlot(of: slot, on: old) {
        ends.oldInverse = inverse
        if try !old.makeReady(inverse) { isReady = false }
      }
      if let object, try !makeReady(&ends, slot, object) { isReady = false }
      return isReady
    }
    return ends
  }

  /// - Returns: `nil` when the object is among the members.
  private func readyEnds(
    _ slot: Int, adding object: ManagedObject
  ) throws -> RelationshipEnds? {
    var ends: RelationshipEnds?
    try untilReady {
      let former = ends
      defer { withExtendedLifetime(former) {} }
      try checkDestination(object, slot)
      if try hasMember(object, slot) {
        ends = nil
        return true
      }
      var new = RelationshipEnds()
      let isReady = try makeReady(slot)
      let isOtherReady = try makeReady(&new, slot, object)
      ends = new
      return isReady && isOtherReady
    }
    return ends
  }

  /// All that a deleted object has kept of its relationships, to be restored when its deletion is
  /// taken back; what is shown of it is made ready. When it is not deleted any more, its own
  /// members say which of them it has.
  final func keptLinks() throws -> [KeptLink] {
    var links: [KeptLink] = []
    try untilReady {
      let former = links
      defer { withExtendedLifetime(former) {} }
      links = try slotsDecidedElsewhereFirst.flatMap { slot in
        try rawDestinations(slot).lazy.filter { $0.context === self.context }
          .map { KeptLink(slot, $0) }
      }
      var isReady = true
      for index in links.indices where isShown(links[index].other) {
        let link = links[index]
        if try !makeReady(&links[index].ends, link.slot, link.other) { isReady = false }
      }
      return isReady
    }
    return links
  }

  /// Makes the new destination of a relationship ready, and its former destination.
  private func makeReady(
    _ ends: inout RelationshipEnds, _ slot: Int, _ object: ManagedObject
  ) throws -> Bool {
    guard let inverse = inverseSlot(of: slot, on: object) else { return true }
    ends.inverse = inverse
    let isReady = try object.makeReady(inverse)
    if object.isToMany(inverse) { return isReady }
    guard let rival = try object.one(inverse), rival !== self else { return isReady }
    ends.rival = rival
    return try rival.makeReady(slotOnRival(rival, slot)) && isReady
  }
}
