import QuireModel

// The slots of an object: what was changed since its row was read. Everything that changes a single
// slot is in this file, and is announced to the context's observers first.

// MARK: - Changing one slot

extension ManagedObject {
  /// Gives the object slots if it has none, and reads its row.
  final func prepareForChange() throws {
    guard !hasSlots else { return }
    if ofArena({ $0.isObserved }) { context?.journal?.record(self) }
    try fulfil()
    // A hook of the object may have made them when the row was read.
    if !hasSlots { makeSlots() }
  }

  /// To be called before a slot of a relationship changes.
  private func recordRelationship() {
    ofArena {
      $0.withContext {
        $0.changes.recordRelationship()
        $0.linkGeneration &+= 1
      }
    }
  }

  /// Announces a change to the context's observers. Two comparisons where there are none.
  private func announce(_ slot: Int, _ change: @autoclosure () -> SlotChange) {
    if ofArena({ $0.isObserved }) { context?.record(slot, of: self, change()) }
  }

  /// Changes an attribute slot.
  final func put(_ value: AttributeValue?, in slot: Int) throws {
    if let successor {
      return try successor.setAttribute(self.slot(slot, in: successor), value)
    }
    try prepareForChange()
    announce(slot, .value(value))
    setSlot(slot, .value(value))
    markUpdated()
  }

  /// Changes a to-one slot, on this side alone.
  final func put(_ destination: ManagedObject?, in slot: Int) throws {
    try prepareForChange()
    announce(slot, .one(destination))
    recordRelationship()
    setSlot(slot, isStoredDestination(destination, slot) ? .unchanged : .one(destination))
    markUpdated(byRelationship: slot)
  }

  /// Whether a to-one slot that is set to a destination has no difference from the store. Not kept,
  /// it stays none when another save leads the object elsewhere. A merge policy may mean it.
  private func isStoredDestination(_ destination: ManagedObject?, _ slot: Int) -> Bool {
    guard isStored, hasRow, let context, !context.keepsEqualDestinations,
      ofArena({ !$0.binding.traits[slot].isTransient })
    else { return false }
    // A row may still refer to what was deleted and is back: that is the change.
    if let destination,
      destination.isDeleted || !destination.isStored || destination.session !== session
    {
      return false
    }
    guard storedReference(slot) == destination?.reference else { return false }
    return destination.map { !isGone($0.reference, slot) } ?? true
  }

  /// Drops the to-one changes, at both ends, that were kept as this object was deleted, and are
  /// none now that it is back: one end may have been set while it was deleted, and the other not.
  final func dropStoredDestinations() {
    guard hasRow else { return }
    for slot in binding.relationshipSlots where !isToMany(slot) {
      var destination = storedReference(slot).flatMap { session?.registered($0) }
      if hasSlots, case .one(let set) = slots[slot] {
        destination = set
        if isStoredDestination(set, slot) { setSlot(slot, .unchanged) }
      }
      guard let destination, destination.hasSlots,
        let inverse = inverseSlot(of: slot, on: destination),
        case .one(let back) = destination.slots[inverse], back === self,
        destination.isStoredDestination(self, inverse)
      else { continue }
      destination.setSlot(inverse, .unchanged)
    }
  }

  /// Adds to a to-many slot, on this side alone.
  ///
  /// - Parameters:
  ///   - position: where it comes among the members that an ordered relationship shows, if it hides
  ///     none and has so many; otherwise it comes last.
  ///   - isUndone: whether the object was removed in the state of the store that the context still
  ///     reads. Then the members are as before.
  final func pendingAdd(
    _ object: ManagedObject, _ slot: Int, at position: Int? = nil, isUndone: Bool = false
  ) throws {
    let pending = try pendingMembers(slot, .addition(object))
    // One that was removed is there again, unless the store has lost it since.
    if !isUndone, ofArena({ $0.membersHaveMoved }), pending.removed.contains(object.reference),
      try !isStoredMember(object, slot)
    {
      pending.removed.remove(object.reference)
    }
    let order = position == nil ? nil : context.flatMap { pending.shownOrder(in: $0, isShown) }
    pending.add(object, at: order.flatMap { $0.count > position ?? 0 ? position : nil })
    markUpdated(byRelationship: slot)
  }

  /// Removes from a to-many slot, on this side alone.
  final func pendingRemove(_ object: ManagedObject, _ slot: Int) throws {
    let pending = try pendingMembers(slot, .removal(object))
    // The store may have got since what was added here.
    let isStored =
      try ofArena({ $0.membersHaveMoved }) && pending.isAdded(object)
      && isStoredMember(object, slot)
    pending.remove(object)
    if isStored { pending.removed.insert(object.reference) }
    markUpdated(byRelationship: slot)
  }

  /// Gives the members of an ordered slot another order.
  final func putOrder(_ order: [ManagedObject], in slot: Int) throws {
    let pending = try pendingMembers(slot, .order { order })
    pending.order = order
    markUpdated(byRelationship: slot)
  }

  /// Gives the members that an ordered slot shows another order. Those that it hides, as their
  /// deletion may be taken back, stay behind the members that they follow.
  final func putShownOrder(_ order: [ManagedObject], in slot: Int) throws {
    var followers: [ManagedObject?: [ManagedObject]] = [:]
    var last: ManagedObject?
    for member in try rawMembers(slot) {
      if isShown(member) { last = member } else { followers[last, default: []].append(member) }
    }
    let whole =
      followers.isEmpty
      ? order : (followers[nil] ?? []) + order.flatMap { [$0] + (followers[$0] ?? []) }
    let pending = try pendingMembers(slot, .order { whole })
    pending.rearrange(whole)
    markUpdated(byRelationship: slot)
  }

  /// The order of a relationship that has changes, unless it hides a member: then positions in it
  /// are not those that are shown.
  final func shownOrder(_ slot: Int) -> MemberOrder? {
    guard hasSlots, case .many(let pending) = slots[slot], let context, !hasMoved(pending) else {
      return nil
    }
    return pending.shownOrder(in: context, isShown)
  }

  /// Moves one member of an ordered slot to another of the positions that are shown.
  ///
  /// - Complexity: O(√members); O(members) where some are hidden, or the relationship has had no
  ///   changes yet.
  final func moveMember(from source: Int, to destination: Int, in slot: Int) throws {
    if source == destination { return }
    _ = try makeReady(slot)
    guard let order = shownOrder(slot) else {
      var members = try members(slot)
      members.insert(members.remove(at: source), at: destination)
      return try putShownOrder(members, in: slot)
    }
    _ = try pendingMembers(
      slot,
      .order {
        var members = order.array
        members.insert(members.remove(at: source), at: destination)
        return members
      })
    order.move(from: source, to: destination)
    markUpdated(byRelationship: slot)
  }

  private func pendingMembers(
    _ slot: Int, _ change: @autoclosure () -> SlotChange
  ) throws -> PendingMembers {
    try prepareForChange()
    if case .many(let pending) = slots[slot] {
      let present = pending.isOrdered && hasMoved(pending) ? try rawMembers(slot) : nil
      announce(slot, change())
      recordRelationship()
      if let present {
        if ofArena({ $0.isObserved }) { context?.journal?.record(self) }
        pending.rearrange(present)
        pending.basis = session?.linkState ?? 0
      }
      return pending
    }
    let pending = try newPendingMembers(slot)
    announce(slot, change())
    recordRelationship()
    setSlot(slot, .many(pending))
    return pending
  }

  private func newPendingMembers(_ slot: Int) throws -> PendingMembers {
    let pending = PendingMembers()
    pending.basis = session?.linkState ?? 0
    if ofArena({ $0.binding.traits[slot].isOrdered }) {
      let stored = try storedOrder(slot)
      if ofArena({ $0.membersHaveMoved }) {
        pending.order = try presentMembers(slot)
        pending.formerOrder = stored
      } else {
        pending.begin(
          try stored.members.compactMap { try rawObject($0, slot) }, formerly: stored)
      }
    }
    return pending
  }

  /// Makes a to-many slot one that can be changed: with the members in their order, where they have
  /// one, and as yet without a change.
  final func beginPendingMembers(_ slot: Int) throws {
    if ofArena({ $0.isObserved }) { context?.journal?.record(self) }
    let pending = try newPendingMembers(slot)
    // Reading the members may have called hooks, which may have changed the slot.
    if hasSlots, case .unchanged = slots[slot] { setSlot(slot, .many(pending)) }
  }

  /// Changes any slot, on this side alone, without marking the object as updated. Observers are
  /// notified only if ``willChangeValue(forKey:)`` has announced the change.
  final func putPrimitive(_ content: Slot, in slot: Int) throws {
    try prepareForChange()
    if let context, context.isObserved, context.announcedChanges.contains(self, slot) {
      for change in try changes(to: content, of: slot) { context.record(slot, of: self, change) }
    }
    recordRelationship()
    if binding.traits[slot].attributeType == nil {
      ofArena { $0.withContext { $0.changes.hasOneSidedChanges = true } }
    }
    setSlot(slot, content)
  }

  /// The changes that make other content of a slot's present content.
  private func changes(to content: Slot, of slot: Int) throws -> [SlotChange] {
    switch content {
    case .unchanged: return []
    case .value(let value): return [.value(value)]
    case .one(let destination): return [.one(destination)]
    case .many(let pending):
      let former = try members(slot)
      let wanted =
        try pending.order
        ?? {
          let kept = try storedMembers(slot).filter { !pending.removed.contains($0) }
          return try kept.compactMap { try session?.object(at: $0) } + pending.added
        }()
      let isFormer = Set(former)
      let isWanted = Set(wanted)
      var changes: [SlotChange] = former.filter { !isWanted.contains($0) }.map { .removal($0) }
      changes += wanted.filter { !isFormer.contains($0) }.map { .addition($0) }
      if pending.isOrdered { changes.append(.order { wanted }) }
      return changes
    }
  }

  /// Drops the content of a slot, which then reads as in the row. No observer is notified.
  final func discard(_ slot: Int) { setSlot(slot, .unchanged) }

  final func markUpdated() {
    guard state.isDisjoint(with: [.inserted, .updated, .deleted, .awaking]),
      ofArena({ $0.hasContext })
    else { return }
    setPending(.update)
  }

  /// Marks the object as updated by a relationship: a stored one also within ``awakeFromFetch()``,
  /// as the other side is changed too.
  private func markUpdated(byRelationship slot: Int) {
    guard state.contains(.awaking) else { return markUpdated() }
    guard !binding.traits[slot].isTransient else { return markUpdated() }
    state.remove(.awaking)
    markUpdated()
    state.insert(.awaking)
  }
}

// MARK: - All slots

extension ManagedObject {
  final func applyDefaults() {
    ofArena { takeSlots($0.newSlots) }
  }

  /// Sets the default values that are made for each new object. It has slots by now.
  final func apply(_ defaults: ComputedDefaults?) {
    defaults?.forEach { slot, value in setSlot(slot, .value(value)) }
  }

  /// Drops unsaved changes of relationships, by which objects retain each other; attributes stay.
  final func letGoOfDestinations() {
    for slot in slots.indices {
      switch slots[slot] {
      case .unchanged, .value: continue
      case .one, .many: discard(slot)
      }
    }
  }

  /// Drops all slots but those of transient properties: after a save the row has everything else.
  ///
  /// Transient relationships keep their objects in memory, as there is nothing to read them from
  /// again, until the object is refreshed or its context ends.
  final func keepTransientSlots() {
    if ofArena({ !$0.binding.hasTransientProperties }) { return dropSlots() }
    var isAnyKept = false
    for slot in slots.indices {
      if !binding.traits[slot].isTransient {
        discard(slot)
      } else if case .unchanged = slots[slot] {
        continue
      } else {
        isAnyKept = true
      }
    }
    if !isAnyKept { dropSlots() }
  }

  /// Makes this a new object: with a temporary reference, and the model's default values.
  final func becomeNew() {
    reference = Reference(
      entity: Reference.temporaryEntity, key: ManagedObjectID.takeTemporaryKey())
    arena = ObjectArena(binding)
    row = nil
    state = []
    applyDefaults()
  }
}
