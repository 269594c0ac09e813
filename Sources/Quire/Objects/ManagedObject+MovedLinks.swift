import QuireModel

// Links of a context that reads another state of the store than the one in which it has changed
// relationships (``StoreSession/linksHaveMoved``). Its changes are differences from that one. Each
// end alone put on top of what the store has now would contradict the other. So one end decides:
// where the inverse is to-one, the member's own change, or else what the store has for it;
// otherwise what was added and removed, which is the same at both ends.
extension ManagedObject {
  /// All members of a to-many slot, also those that are hidden, in order if it has one.
  ///
  /// - Complexity: O(members), each of which becomes an object.
  final func presentMembers(_ slot: Int) throws -> [ManagedObject] {
    if hasSlots, case .many(let pending) = slots[slot], pending.isOrdered, !hasMoved(pending),
      let order = pending.order
    {
      return order
    }
    let stored = try storedMembers(slot)
    guard hasSlots, case .many(let pending) = slots[slot] else {
      return try stored.compactMap { try rawObject($0, slot) }.filter {
        refersHere($0, slot) ?? true
      }
    }
    let isStored = Set(stored)
    let (isAdded, removed) = (Set(pending.added), decidesAlone(slot) ? pending.removed : [])
    func isPresent(_ member: ManagedObject) throws -> Bool {
      // Another context may have deleted it and brought it back: then another object stands for it.
      if isStored.contains(member.reference) {
        return try rawObject(member.reference, slot) === member && refersHere(member, slot) ?? true
      }
      return try (isAdded.contains(member) || member.isNew) && keeps(member, slot)
    }
    var members = try (pending.order ?? []).filter(isPresent)
    let isKept = Set(members)
    for reference in stored where !removed.contains(reference) {
      guard let member = try rawObject(reference, slot), !isKept.contains(member) else { continue }
      if refersHere(member, slot) ?? true { members.append(member) }
    }
    if pending.isOrdered { return members }
    return try members
      + pending.added.filter { try !isStored.contains($0.reference) && keeps($0, slot) }
  }

  /// The references of the members that a to-many slot shows, in order if it has one.
  ///
  /// No object is made, and no row is read into one, so that no hook is called in the middle of
  /// what asks: whether something has changed, or what a parent shows its child.
  ///
  /// - Complexity: O(members).
  final func shownReferences(_ slot: Int) throws -> [Reference] {
    var pending: PendingMembers?
    if hasSlots, case .many(let changed) = slots[slot] { pending = changed }
    if let pending, pending.isOrdered, !hasMoved(pending) {
      return (pending.order ?? []).lazy.filter(isShown).map(\.reference)
    }
    if ofArena({ $0.membersHaveMoved }) { return try presentReferences(slot, pending) }
    let (added, removed) = (pending?.added ?? [], pending?.removed ?? [])
    let stored = try existingMembers(slot).filter { reference in
      !removed.contains(reference) && session?.registered(reference).map(isShown) ?? true
    }
    return stored + added.lazy.filter(isShown).map(\.reference)
  }

  /// The references of what ``presentMembers(_:)`` returns, without those that are hidden.
  private func presentReferences(
    _ slot: Int, _ pending: PendingMembers?
  ) throws -> [Reference] {
    let stored = try storedMembers(slot)
    let (isStored, added) = (Set(stored), pending?.added ?? [])
    let (isAdded, removed) = (Set(added), decidesAlone(slot) ? pending?.removed ?? [] : [])
    let members = try (pending?.order ?? []).filter { member in
      if isStored.contains(member.reference) {
        return knownObject(member.reference) === member && refersHere(member, slot) ?? true
          && !isGone(member.reference, slot)
      }
      guard isAdded.contains(member) || member.isNew else { return false }
      return try keepsUnread(member, slot)
    }
    let isKept = Set(members.lazy.map(\.reference))
    var references = members.filter(isShown).map(\.reference)
    for reference in stored where !removed.contains(reference) && !isKept.contains(reference) {
      if let member = knownObject(reference) {
        guard isShown(member), refersHere(member, slot) ?? true, !isGone(reference, slot) else {
          continue
        }
      } else if try session?.mayBeGone(reference, canDangle(slot)) ?? true {
        continue
      }
      references.append(reference)
    }
    if pending?.isOrdered ?? true { return references }
    let others = try added.filter { member in
      try isShown(member) && !isStored.contains(member.reference) && keepsUnread(member, slot)
    }
    return references + others.lazy.map(\.reference)
  }

  /// The object for a reference that is in memory.
  private func knownObject(_ reference: Reference) -> ManagedObject? {
    guard let session else { return nil }
    return context?.undoRecording?.takenObject(at: reference, in: session.identity)
      ?? session.registered(reference)
  }

  /// What ``keeps(_:_:)`` returns, without reading the member's row into it.
  private func keepsUnread(_ member: ManagedObject, _ slot: Int) throws -> Bool {
    if let refersHere = refersHere(member, slot) { return refersHere }
    guard !decidesAlone(slot), member.isStored, let inverse = inverseSlot(of: slot, on: member)
    else { return true }
    if member.hasRow { return member.storedReference(inverse) == reference }
    guard let field = member.storage?.fieldBySlot[inverse], field >= 0 else { return false }
    return try session?.currentView().row(member.reference)?.reference(field) == reference
  }

  /// Whether an object is among the members of a to-many slot.
  final func hasPresentMember(_ object: ManagedObject, _ slot: Int) throws -> Bool {
    if !decidesAlone(slot), let inverse = inverseSlot(of: slot, on: object) {
      return try object.one(inverse) === self
    }
    if hasSlots, case .many(let pending) = slots[slot] {
      if pending.isAdded(object) { return true }
      if pending.removed.contains(object.reference) { return false }
    }
    return try object.isPersistent && isStoredMember(object, slot)
  }

  /// Whether the order of a relationship is that of another state than its members are read from.
  final func hasMoved(_ pending: PendingMembers) -> Bool {
    ofArena { $0.membersHaveMoved } && pending.basis != session?.linkState
  }

  /// Whether the other end of a one-to-one relationship that refers here in the store was changed,
  /// and refers elsewhere.
  final func hasBeenLeft(by other: ManagedObject, _ slot: Int) -> Bool {
    guard other.hasSlots, ofArena({ $0.linksHaveMoved }), !isDeleted,
      let inverse = inverseSlot(of: slot, on: other), !other.isToMany(inverse),
      case .one(let destination) = other.slots[inverse]
    else { return false }
    return destination !== self
  }

  /// Whether an object that a relationship may refer to without it being there is: it was read, and
  /// the state has not moved since, or its deletion was undone here.
  final func isSurelyThere(_ object: ManagedObject) -> Bool {
    object.isNew || !object.isUnread && ofArena { !$0.linksHaveMoved }
  }

  /// The object whose deletion was undone after it was saved, and which refers here by a one-to-one
  /// relationship that rests on this object's row: the deletion has left that as it was.
  final func returnedEnd(_ slot: Int) -> (object: ManagedObject, inverse: Int)? {
    guard let context, !context.changes.inserted.isEmpty,
      let reference = readReference(slot), let returned = session?.registered(reference),
      returned.isNew, let inverse = inverseSlot(of: slot, on: returned),
      returned.isSet(to: self, inverse)
    else { return nil }
    return (returned, inverse)
  }

  /// Whether a to-one slot was changed, and refers to an object.
  final func isSet(to object: ManagedObject, _ slot: Int) -> Bool {
    guard hasSlots, !isDeleted, case .one(let destination) = slots[slot] else { return false }
    return destination === object
  }

  /// Whether a to-many slot has its members by what was added to it and removed from it. A deleted
  /// object keeps those that its delete rule has taken it from.
  private func decidesAlone(_ slot: Int) -> Bool {
    isDeleted || ofArena { !$0.binding.traits[slot].isInverseOfToOne }
  }

  /// Whether a member's own to-one end refers here by its change; `nil` where it has none.
  private func refersHere(_ member: ManagedObject, _ slot: Int) -> Bool? {
    guard member.hasSlots, !decidesAlone(slot), let inverse = inverseSlot(of: slot, on: member),
      case .one(let owner) = member.slots[inverse]
    else { return nil }
    return owner === self
  }

  /// Whether a member that was added is still one, though the store does not have it.
  private func keeps(_ member: ManagedObject, _ slot: Int) throws -> Bool {
    if let refersHere = refersHere(member, slot) { return refersHere }
    guard !decidesAlone(slot), member.isStored, let inverse = inverseSlot(of: slot, on: member)
    else { return true }
    return try member.one(inverse) === self
  }
}
