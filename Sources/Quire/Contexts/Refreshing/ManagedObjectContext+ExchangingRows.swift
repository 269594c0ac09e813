import QuireModel

// Rows that others have saved, under objects of this context: what a refresh and a merge do.
extension ManagedObjectContext {
  /// Gives stored objects the newest rows. Clean ones become faults, and are read when they are next
  /// used; changes stay, on top of the new rows.
  ///
  /// 1. On changed objects a new row is put under the changes (``rebase(_:)``), and clean objects
  ///    become faults.
  /// 2. What the rows brought back to one end of a link is shown at the other (``ReturnedEnds``).
  /// 3. Members that were removed here, and that a new object has again, are removed again.
  /// 4. Destinations that the store has for objects which refer elsewhere here have lost them.
  /// 5. Hooks are called, when all of this is true, and the next notice gets the objects.
  ///
  /// - Parameter new: objects that others have inserted, or brought back.
  final func exchangeRows(
    of objects: [ManagedObject], besides new: [MergedReference] = []
  ) throws {
    undoRecording?.recordRead()
    for object in objects { showPermanentID(of: object) }
    for session in sessions where objects.contains(where: { $0.session === session }) {
      _ = try session.latestView()
    }
    let ends = ReturnedEnds(objects, in: self)
    var changed = objects.filter { $0.hasSlots && $0.hasChanges }
    try rebase(changed)
    let isChanged = Set(changed.lazy.map { ObjectIdentifier($0) })
    for object in objects where !isChanged.contains(ObjectIdentifier(object)) {
      if object.hasSlots && object.hasChanges {
        // Changed by a hook of another object meanwhile.
        try rebase([object])
        changed.append(object)
      } else {
        turnUnchangedIntoFault(object)
      }
    }
    try ends.agree(keepsChanges: true, in: self)
    try repeatRemovals(of: new)
    try displaceStoredDestinations(of: changed + changedCounterparts(of: objects))
    for object in changed where object.context === self { object.callAwake(after: .refresh) }
    for object in objects where object.context === self { noticeCenter?.didRefresh(object) }
  }

  /// Puts unsaved changes on top of the store's newest values.
  ///
  /// Between the first row and the last order no hook is called: with new rows, but an order that
  /// lacks members which other contexts have added, a save would drop those without a conflict.
  private func rebase(_ objects: [ManagedObject]) throws {
    func isChanged(_ object: ManagedObject) -> Bool {
      object.context === self && object.isStored && object.hasSlots
    }
    var members: [ManagedObject] = []
    for object in objects where isChanged(object) { members += try object.unknownMembers() }
    let changed = objects.filter(isChanged).sorted { $0.referenceOrder < $1.referenceOrder }
    for object in changed {
      guard let session = object.session else { continue }
      try exchangeRow(of: object, session.currentView())
      if !object.hasRow { letGoOfTouched(object) }
    }
    for object in changed where object.hasRow { try object.rebaseMembers() }
    withExtendedLifetime(members) {}
  }

  final func exchangeRow(of object: ManagedObject, _ view: StoreView) throws {
    fetchedLists.forget(object)
    object.discardUnchangedSlots()
    object.row = try view.row(object.reference)
    if !object.hasRow {
      object.state.insert(.inaccessible)
    } else {
      object.state.remove(.inaccessible)
    }
  }

  /// Makes an object clean that is gone from the store and is marked as updated without a change.
  private func letGoOfTouched(_ object: ManagedObject) {
    guard object.isUpdated, !object.slots.indices.contains(where: object.isChanged) else { return }
    object.dropSlots()
    object.setPending(nil)
  }

  /// Makes a fault of an object without changes, which may be deleted. Transient relationships end
  /// on both sides, and an other side that was clean stays so.
  private func turnUnchangedIntoFault(_ object: ManagedObject) {
    var counterparts: [ManagedObject] = []
    if object.hasSlots {
      for slot in object.binding.relationshipSlots where object.binding.traits[slot].isTransient {
        let destinations = (try? object.rawDestinations(slot)) ?? []
        counterparts += destinations.filter { $0.context === self && !$0.hasChanges }
      }
    }
    object.turnIntoFault(keeping: [.deleted, .propagated], onBothSides: true)
    for other in counterparts
    where other.context === self && other.isUpdated && !other.hasPersistentChangedValues {
      other.keepTransientSlots()
      other.setPending(nil)
    }
  }

  // MARK: Other ends

  /// Removes changed objects from destinations that the store has for them. To be called when all
  /// rows are the newest, as both sides of a relationship are read.
  final func displaceStoredDestinations(of objects: [ManagedObject]) throws {
    for object in objects
    where object.context === self && object.hasRow && object.hasSlots && !object.isDeleted {
      try object.displaceStoredDestinations()
    }
  }

  /// Changed objects that others refer to in the store by one-to-one relationships. They may have
  /// been led elsewhere while those showed no destination.
  final func changedCounterparts(of objects: [ManagedObject]) -> [ManagedObject] {
    if changes.updated.isEmpty || !changes.mayHaveRelationships { return [] }
    return objects.flatMap { object -> [ManagedObject] in
      guard object.context === self, object.ofArena({ $0.binding.hasOneToOnes }),
        let session = object.session, let storage = object.storage,
        let row = try? session.currentView().row(object.reference)
      else { return [] }
      return object.binding.oneToOneSlots.compactMap { slot in
        guard storage.fieldBySlot[slot] >= 0,
          let reference = row.reference(storage.fieldBySlot[slot]),
          let other = session.registered(reference)
        else { return nil }
        return other.isUpdated ? other : nil
      }
    }
  }
}
