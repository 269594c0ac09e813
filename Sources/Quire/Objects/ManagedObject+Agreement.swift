import QuireModel

// Both ends of a link agree: what one end refers to refers back. A change of a relationship changes
// both at once (`ManagedObject+Inverses.swift`). One end alone changes where an action of undo is
// performed, where a row is replaced by one that others have saved, and where a deletion is taken
// back, as its rule has left the deleted object as it was. Then that end decides what the other one
// says.
extension ManagedObject {
  /// The slots of relationships in the order in which the ends of several are made to agree: before
  /// an order is put on another state, its members have to say again that they refer here.
  final var slotsDecidedElsewhereFirst: [Int] {
    binding.relationshipSlots.filter(isToMany) + binding.relationshipSlots.filter { !isToMany($0) }
  }

  /// Makes the other ends of what a slot refers to say so.
  final func agree(_ slot: Int) throws {
    for other in try rawDestinations(slot) where other.isLive && other.context === context {
      try referBack(from: other, slot)
    }
  }

  /// Makes the other end of a relationship with an object say what this one says: that there is a
  /// link between the two, or that there is none.
  ///
  /// - Parameter other: an object that this end refers to, or that may still refer here.
  final func agree(_ slot: Int, with other: ManagedObject) throws {
    if try refers(to: other, slot) {
      try referBack(from: other, slot)
    } else if let inverse = inverseSlot(of: slot, on: other) {
      try other.cut(inverse, from: self)
    }
  }

  /// Makes an object refer back here.
  ///
  /// - Parameters:
  ///   - slot: refers to the object.
  ///   - prevails: whether that is so even if the other end is to-one, and refers to a third object
  ///     by now. Otherwise that stays, and this end gives way.
  /// - Returns: whether the object refers here now, and did not before.
  @discardableResult
  final func referBack(
    from other: ManagedObject, _ slot: Int, prevails: Bool = false
  ) throws -> Bool {
    guard let inverse = inverseSlot(of: slot, on: other), try !other.refersNow(to: self, inverse)
    else { return false }
    if other.isToMany(inverse) {
      try other.pendingAdd(self, inverse)
    } else if !prevails, let rival = try other.rawOne(inverse), rival.isLive {
      try cut(slot, from: other)
      return false
    } else {
      try other.put(self, in: inverse)
    }
    return true
  }

  /// Whether a slot refers to an object, on this side of the relationship.
  final func refers(to object: ManagedObject, _ slot: Int) throws -> Bool {
    isToMany(slot) ? try holds(object, slot) : try rawOne(slot) === object
  }

  /// The same also in the state that the context reads: an order that was made for another one may
  /// have an object that is not in it any more, and lack one that only the object's own end is for.
  private func refersNow(to object: ManagedObject, _ slot: Int) throws -> Bool {
    guard try refers(to: object, slot) else { return false }
    guard hasSlots, case .many(let pending) = slots[slot], pending.isOrdered, hasMoved(pending)
    else { return true }
    return try presentMembers(slot).contains(object)
  }

  /// Ends a link on this side alone.
  final func cut(_ slot: Int, from object: ManagedObject) throws {
    if isToMany(slot) {
      if try holds(object, slot) { try pendingRemove(object, slot) }
    } else if try rawOne(slot) === object {
      try put(nil as ManagedObject?, in: slot)
    }
  }

  /// Ends the links of all stored relationships, on both sides, also where one side alone refers to
  /// the other.
  final func endLinks() throws {
    for slot in binding.storedRelationshipSlots {
      for other in try rawDestinations(slot) {
        try cut(slot, from: other)
        if let inverse = inverseSlot(of: slot, on: other) { try other.cut(inverse, from: self) }
      }
    }
  }

  /// Removes this object from the other ends of its relationships, so that no object refers here
  /// any more and no rule denies the deletion.
  final func leaveOtherEnds() throws {
    for slot in binding.relationshipSlots {
      for other in try destinations(slot) {
        if let inverse = inverseSlot(of: slot, on: other) { try other.cut(inverse, from: self) }
        if binding.traits[slot].deleteRule.deniesDeletion { try cut(slot, from: other) }
      }
    }
  }

  // MARK: Deletions that are taken back

  /// Makes what an object referred to refer back to it, as its deletion was taken back; in ordered
  /// relationships at its position in the store. Objects that refer to another one by now are
  /// removed, and so are deleted ones, as their own delete rules demand.
  final func restoreOtherEnds(_ links: [KeptLink]) throws {
    for link in links where link.other.context === context {
      let (slot, other) = (link.slot, link.other)
      guard let inverse = inverseSlot(of: slot, on: other) else { continue }
      if !isShown(other) {
        let rule = other.binding.traits[inverse].deleteRule
        if rule.leavesOtherEnds { continue }
        // A rule that denies has left the deleted one as it was, if that still refers here.
        if rule.deniesDeletion, try other.refers(to: self, inverse) { continue }
        try cut(slot, from: other)
        try other.cut(inverse, from: self)
      } else if try referBack(from: other, slot), other.isToMany(inverse),
        let name = binding.relationship(slot).inverse
      {
        try other.restorePosition(of: self, name)
      }
    }
  }
}
