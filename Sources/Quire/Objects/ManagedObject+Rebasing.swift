import QuireModel

// Unsaved changes of relationships are differences from the store's state. When that changes, they
// are converted to differences from the new state, so that both sides still agree.
extension ManagedObject {
  /// Drops slots that equal the row, before the row is replaced: compared with another row they
  /// would look like changes.
  final func discardUnchangedSlots() {
    guard hasRow else { return }
    for slot in slots.indices {
      let trait = binding.traits[slot]
      guard !trait.isTransient, !trait.isDerived, !isChanged(slot) || isDanglingAsBefore(slot)
      else { continue }
      switch slots[slot] {
      // Undo brings the destination back, without setting this side again.
      case .one(let destination?)
      where destination.context == nil && context?.undoRecording?.keeps(destination) == true:
        continue
      case .value, .one: discard(slot)
      case .unchanged, .many: continue
      }
    }
  }

  /// Whether a to-one slot refers to an object that has left the context, and the row that was read
  /// to none, or to one that is gone: the change has come to nothing. In a child, whose parent may
  /// change meanwhile, also whether the slot was cleared.
  private func isDanglingAsBefore(_ slot: Int) -> Bool {
    guard case .one(let destination) = slots[slot], present(destination) == nil,
      destination != nil || context?.parent != nil
    else { return false }
    return readReference(slot).map { isGone($0, slot) } ?? (destination != nil)
  }

  /// Drops slots that equal the store's state, before that is replaced: members that were set to
  /// those of the store, and cleared to-one slots whose row refers to an object that is gone.
  final func discardUnchanged(_ view: StoreView) {
    for slot in slots.indices {
      switch slots[slot] {
      case .unchanged, .value, .one(_?): continue
      case .one(nil):
        // An object whose deletion was undone is there without a row, and would be shown again.
        guard binding.traits[slot].canDangle, hasRow,
          let field = storage?.fieldBySlot[slot], field >= 0,
          let reference = (try? view.row(self.reference))??.reference(field),
          session?.registered(reference)?.isUnread ?? true,
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

  /// The stored members that are missing in a changed order here.
  final func unknownMembers() throws -> [ManagedObject] {
    guard let session else { return [] }
    return try binding.relationshipSlots.flatMap { slot -> [ManagedObject] in
      guard case .many(let pending) = slots[slot], let order = pending.order,
        storage?.link(slot) != nil
      else { return [] }
      let isKept = Set(order.lazy.filter(isInContext).map(\.reference)).union(pending.removed)
      return try existingMembers(slot).filter { !isKept.contains($0) }
        .map { try session.object(at: $0) }
    }
  }

  /// Drops changes that the store has already, and adds new members to changed orders.
  final func rebaseMembers() throws {
    for slot in binding.relationshipSlots {
      guard case .many(let pending) = slots[slot], storage?.link(slot) != nil else { continue }
      let stored = try storedMembers(slot)
      let isStored = Set(stored)
      pending.removed.formIntersection(isStored)
      if pending.isOrdered {
        pending.order = try presentMembers(slot)
        pending.basis = session?.linkState ?? 0
        pending.formerOrder = StoredOrder(members: stored)
      }
      pending.added.removeAll { isStored.contains($0.reference) }
    }
  }

  /// Whether an object is still the one of its reference. Another context may have deleted it and
  /// brought it back since: then it has left, and another one is made.
  private func isInContext(_ object: ManagedObject) -> Bool { object.context != nil }

  /// Records that the destinations which the store has for this object have lost it, where it was
  /// led elsewhere. When that change was made, the store had another destination.
  final func displaceStoredDestinations() throws {
    guard let session else { return }
    // Undoing this object's own change restores this, too.
    context?.undoRecording?.isPaused = true
    defer { context?.undoRecording?.isPaused = false }
    for slot in binding.relationshipSlots {
      guard case .one(let destination) = slots[slot], !binding.traits[slot].isTransient,
        let reference = storedReference(slot), present(destination)?.reference != reference,
        try session.currentView().contains(reference)
      else { continue }
      let stored = try session.object(at: reference)
      if !stored.isDeleted { try agree(slot, with: stored) }
    }
  }
}
