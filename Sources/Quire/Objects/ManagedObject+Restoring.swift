import QuireModel

// Dropping the unsaved changes of one object. Its relationships are set to the store's values by
// the same functions as any other change, so that both sides agree.
extension ManagedObject {
  /// Sets the changed relationships to the store's values, on both sides.
  final func restoreRelationships() throws {
    for slot in binding.relationshipSlots {
      switch slots[slot] {
      case .unchanged, .value: continue
      case .one: try restoreOne(slot)
      case .many(let pending):
        forgetGone(pending)
        try pending.order == nil ? restoreSet(slot, pending) : restoreList(slot, pending)
      }
    }
  }

  /// Removes members that were deleted for good: they are hidden already, and undo does not bring
  /// them back, so removing them is no change to record.
  private func forgetGone(_ pending: PendingMembers) {
    let recording = context?.undoRecording
    func isGone(_ member: ManagedObject) -> Bool {
      member.context == nil && recording?.keeps(member) != true
    }
    if pending.added.contains(where: isGone) { pending.added.removeAll(where: isGone) }
    if pending.order?.contains(where: isGone) == true { pending.order?.removeAll(where: isGone) }
  }

  /// Drops all changes, except relationships that cannot be restored as a destination is deleted.
  ///
  /// - Returns: whether no change is left.
  final func restoreSlots() -> Bool {
    var isRestored = true
    for slot in slots.indices {
      if case .unchanged = slots[slot] { continue }
      if binding.traits[slot].attributeType == nil, isChanged(slot) {
        isRestored = false
      } else {
        context?.undoRecording?.willDiscard(slot, of: self)
        discard(slot)
      }
    }
    return isRestored
  }

  private func restoreOne(_ slot: Int) throws {
    let former = try one(slot)
    let stored = try storedReference(slot).flatMap { try living($0, slot) }
    if former === stored { return }
    try setOne(slot, stored)
    guard let inverse = binding.relationship(slot).inverse else { return }
    try stored?.restorePosition(of: self, inverse)
    if let former { try former.returnToStoredDestination(inverse) }
  }

  /// Restores a set by its differences, as it may have many members.
  private func restoreSet(_ slot: Int, _ pending: PendingMembers) throws {
    let inverse = binding.relationship(slot).inverse
    let stored = pending.removed.isEmpty ? [] : Set(try storedMembers(slot))
    for member in pending.added where member.context === context {
      try removeMember(member, slot)
      if let inverse { try member.returnToStoredDestination(inverse) }
    }
    for reference in pending.removed.filter(stored.contains).sorted() {
      guard let member = try living(reference, slot) else { continue }
      try addMember(member, slot)
      if let inverse { try member.restorePosition(of: self, inverse) }
    }
  }

  private func restoreList(_ slot: Int, _ pending: PendingMembers) throws {
    let former = try members(slot)
    let stored = try storedMembers(slot).compactMap { try living($0, slot) }
    // Setting an order is recorded for undo, even if it changes nothing.
    if try rawMembers(slot) == stored { return }
    for member in pending.added where member.context === context && !isShown(member) {
      try removeMember(member, slot)
    }
    try setMembers(slot, stored)
    guard let inverse = binding.relationship(slot).inverse else { return }
    let isFormer = Set(former)
    for member in stored where !isFormer.contains(member) {
      try member.restorePosition(of: self, inverse)
    }
    let isStored = Set(stored)
    for member in former where !isStored.contains(member) {
      try member.returnToStoredDestination(inverse)
    }
  }

  /// The object with a reference, unless it is deleted or gone.
  private func living(_ reference: Reference, _ slot: Int) throws -> ManagedObject? {
    guard let session else { return nil }
    if let object = session.registered(reference) { return object.isDeleted ? nil : object }
    return try session.currentView().contains(reference) ? session.object(at: reference) : nil
  }

  /// Restores the stored to-one destination of an object that was removed from its new one, unless
  /// another object has taken that destination.
  private func returnToStoredDestination(_ name: String) throws {
    guard isPersistent, !isDeleted, let slot = binding.slot(named: name), !isToMany(slot),
      try one(slot) == nil, let reference = storedReference(slot),
      let destination = try living(reference, slot)
    else { return }
    let relationship = binding.relationship(slot)
    if let inverse = inverseSlot(of: relationship, on: destination), !destination.isToMany(inverse),
      try destination.one(inverse) != nil
    {
      return
    }
    try setOne(slot, destination)
    if let inverse = relationship.inverse { try destination.restorePosition(of: self, inverse) }
  }

  /// Moves an object that was added to an ordered relationship again to its former position: after
  /// the nearest of those that precede it in the store.
  final func restorePosition(of object: ManagedObject, _ name: String) throws {
    guard !slots.isEmpty, let slot = binding.slot(named: name),
      case .many(let pending) = slots[slot], var order = pending.order,
      let current = order.firstIndex(of: object)
    else { return }
    let stored = try storedMembers(slot)
    guard let position = stored.firstIndex(of: object.reference) else { return }
    order.remove(at: current)
    var index = 0
    for reference in stored[..<position].reversed() {
      if let predecessor = order.firstIndex(where: { $0.reference == reference }) {
        index = predecessor + 1
        break
      }
    }
    order.insert(object, at: index)
    try putOrder(order, in: slot)
  }
}
