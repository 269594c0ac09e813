import QuireModel

// Relationships with all their destinations, also those that are hidden as they are deleted:
// undoing has to restore them.
extension ManagedObject {
  /// The destination of a to-one slot.
  final func rawOne(_ slot: Int) throws -> ManagedObject? {
    if !slots.isEmpty, case .one(let object) = slots[slot] { return object }
    try fulfil()
    if !slots.isEmpty, case .one(let object) = slots[slot] { return object }
    return try storedReference(slot).flatMap { try rawObject($0, slot) }
  }

  /// The destinations of a to-many slot, in order if the relationship has one.
  final func rawMembers(_ slot: Int) throws -> [ManagedObject] {
    if ofArena({ $0.membersHaveMoved }) { return try presentMembers(slot) }
    guard !slots.isEmpty, case .many(let pending) = slots[slot] else {
      return try storedMembers(slot).compactMap { try rawObject($0, slot) }
    }
    if let order = pending.order { return order }
    let kept = try storedMembers(slot).filter { !pending.removed.contains($0) }
    return try kept.compactMap { try rawObject($0, slot) } + pending.added
  }

  /// The members of an ordered slot with those that it lists and that have left by their own ends.
  /// One of them may come back, and then belongs where it was.
  final func listedMembers(_ slot: Int) throws -> [ManagedObject] {
    let present = try rawMembers(slot)
    guard ofArena({ $0.membersHaveMoved }) else { return present }
    let listed: [ManagedObject]
    if hasSlots, case .many(let pending) = slots[slot], let order = pending.order {
      listed = order
    } else {
      listed = try storedMembers(slot).compactMap { try rawObject($0, slot) }
    }
    let isListed = Set(listed)
    return listed + present.filter { !isListed.contains($0) }
  }

  /// The destinations of a slot, whatever its kind.
  final func rawDestinations(_ slot: Int) throws -> [ManagedObject] {
    isToMany(slot) ? try rawMembers(slot) : try rawOne(slot).map { [$0] } ?? []
  }

  /// Whether a to-many slot refers to an object, on this side of the relationship.
  ///
  /// - Complexity: as ``isStoredMember(_:_:)``.
  final func holds(_ member: ManagedObject, _ slot: Int) throws -> Bool {
    if !slots.isEmpty, case .many(let pending) = slots[slot] {
      if pending.isOrdered { return pending.isInOrder(member) }
      if pending.removed.contains(member.reference) { return false }
      if pending.isAdded(member) { return true }
    }
    return try isStoredMember(member, slot)
  }

  /// Whether the store has an object among the members of a to-many slot.
  ///
  /// - Complexity: O(log *n*); O(members) in an ordered relationship.
  final func isStoredMember(_ member: ManagedObject, _ slot: Int) throws -> Bool {
    guard isPersistent, let session, member.session === session, let link = storage?.link(slot)
    else { return false }
    if link.isOrdered || context?.parent != nil || session.store.incremental != nil {
      return try storedMembers(slot).contains(member.reference)
    }
    try session.writeDeferredLinks()
    let key = LinkKey(owner: reference.key, member: member.reference)
    return try session.read {
      try $0.links(link)?.tree.contains(key.bytes(isOrdered: false)) ?? false
    }
  }

  /// - Returns: `nil` where another context has deleted the destination, which cannot be undone.
  final func rawObject(_ reference: Reference, _ slot: Int) throws -> ManagedObject? {
    guard let context, let session else { return nil }
    if let object = context.undoRecording?.takenObject(at: reference, in: session.identity) {
      return object
    }
    if let object = session.registered(reference),
      !canDangle(slot) || isSurelyThere(object)
    {
      return object
    }
    let isGone = try session.read { view in
      try (canDangle(slot) || !view.isPlain) && !view.contains(reference)
    }
    if isGone { return nil }
    return try session.object(at: reference)
  }

  /// Whether all slots equal the row, and none refers to a hidden object, so that nothing is lost
  /// when they are dropped.
  final var isAsStored: Bool {
    slots.indices.allSatisfy { slot in
      if binding.traits[slot].isTransient { return true }
      switch slots[slot] {
      case .unchanged: return true
      case .value: return !isChanged(slot)
      case .one(let destination):
        return (destination.map { $0.context === context } ?? true) && !isChanged(slot)
      case .many(let pending):
        return (pending.order ?? pending.added).allSatisfy(isShown) && !isChanged(slot)
      }
    }
  }
}
