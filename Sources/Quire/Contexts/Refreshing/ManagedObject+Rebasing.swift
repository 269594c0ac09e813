import QuireModel

// Unsaved changes of relationships are differences from what the store has. When that is another,
// they are made differences from the new state, so that both sides stay one fact.
extension ManagedObject {
  /// Forgets what was set to what the row says, or set back to it: before the row is exchanged, as
  /// what another one says would make it look like a change.
  final func discardUnchangedSlots() {
    guard hasRow else { return }
    for slot in slots.indices {
      let trait = binding.traits[slot]
      guard !trait.isTransient, !trait.isDerived, !isChanged(slot) || isDanglingAsBefore(slot)
      else { continue }
      switch slots[slot] {
      // Undo brings it back, and does not say again what leads there.
      case .one(let destination?)
      where destination.context == nil && context?.undoRecording?.keeps(destination) == true:
        continue
      case .value, .one: discard(slot)
      case .unchanged, .many: continue
      }
    }
  }

  /// Whether a to-one slot leads to what has left, and the row to what is gone, which shows the
  /// same. In a child, whose parent changes under it, also whether it was led nowhere.
  private func isDanglingAsBefore(_ slot: Int) -> Bool {
    guard case .one(let destination) = slots[slot], present(destination) == nil,
      destination != nil || context?.parent != nil
    else { return false }
    return storedReference(slot).map { isGone($0, slot) } ?? false
  }

  /// The same of what the state of the store says, before it is exchanged: members that were set to
  /// what they are, and what was led nowhere when the row led to what was gone already.
  final func discardUnchanged(_ view: StoreView) {
    for slot in slots.indices {
      switch slots[slot] {
      case .unchanged, .value, .one(_?): continue
      case .one(nil):
        guard binding.traits[slot].canDangle, let reference = storedReference(slot),
          (try? view.contains(reference)) == false
        else { continue }
      case .many(let pending):
        guard pending.hasNoMemberChange, let link = storage?.link(slot),
          let stored = try? view.members(of: reference, link), pending.isUnchanged(as: stored)
        else { continue }
      }
      discard(slot)
    }
  }

  /// The objects of members that the store has, and that an order here does not know.
  final func unknownMembers() throws -> [ManagedObject] {
    guard let session else { return [] }
    return try binding.relationshipSlots.flatMap { slot -> [ManagedObject] in
      guard case .many(let pending) = slots[slot], let order = pending.order,
        storage?.link(slot) != nil
      else { return [] }
      let isKept = Set(order.map(\.reference)).union(pending.removed)
      return try existingMembers(slot).filter { !isKept.contains($0) }
        .map { try session.object(at: $0) }
    }
  }

  /// Drops changes that the store has already, and brings new members into an order.
  final func rebaseMembers() throws {
    guard let session else { return }
    for slot in binding.relationshipSlots {
      guard case .many(let pending) = slots[slot], storage?.link(slot) != nil else { continue }
      let stored = try storedMembers(slot)
      let isStored = Set(stored)
      pending.removed.formIntersection(isStored)
      if let order = pending.order {
        let isAdded = Set(pending.added)
        let isKept = Set(order.map(\.reference)).union(pending.removed)
        pending.order =
          try order.filter { isStored.contains($0.reference) || isAdded.contains($0) }
          // A list that nobody told of a deletion names what is gone.
          + existingMembers(slot).filter { !isKept.contains($0) }.map { try session.object(at: $0) }
      }
      pending.added.removeAll { isStored.contains($0.reference) }
    }
  }

  /// Where this object leads elsewhere than the store says, takes it away from the destination that
  /// the store has: for that one, the change was made while it led to another.
  final func displaceStoredDestinations() throws {
    guard let session else { return }
    // Its own change is what can be undone, and takes this along.
    context?.undoRecording?.isPaused = true
    defer { context?.undoRecording?.isPaused = false }
    for slot in binding.relationshipSlots {
      guard case .one(let destination) = slots[slot], !binding.traits[slot].isTransient,
        let reference = storedReference(slot), present(destination)?.reference != reference,
        try session.currentView().contains(reference)
      else { continue }
      let stored = try session.object(at: reference)
      guard !stored.isDeleted,
        let inverse = inverseSlot(of: binding.relationship(slot), on: stored)
      else { continue }
      if !stored.isToMany(inverse) {
        if try stored.one(inverse) === self { try stored.put(nil as ManagedObject?, in: inverse) }
      } else if !stored.hasRemoved(self, inverse) {
        try stored.pendingRemove(self, inverse)
      }
    }
  }

  private func hasRemoved(_ object: ManagedObject, _ slot: Int) -> Bool {
    guard !slots.isEmpty, case .many(let pending) = slots[slot] else { return false }
    return pending.removed.contains(object.reference)
  }
}
