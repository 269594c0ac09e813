import QuireModel

/// Puts the rows that others have saved under objects of a context: what a refresh and a merge do.
///
/// 1. On changed objects a new row is put under the changes (``rebase(_:)``), and clean objects
///    become faults, which are read when they are next used.
/// 2. What the rows brought back to one end of a link is shown at the other (``ReturnedEnds``).
/// 3. Members that were removed here, and that a new object has again, are removed again.
/// 4. Destinations that the store has for objects which refer elsewhere here have lost them.
/// 5. Hooks are called, when all of this is true, and the next notice gets the objects.
struct RowExchange {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Gives stored objects the rows of the state that their sessions have moved on to.
  ///
  /// - Parameter new: objects that others have inserted, or brought back.
  func exchange(_ objects: [ManagedObject], besides new: [MergedReference] = []) throws {
    context.undoRecording?.recordRead()
    for object in objects { context.showPermanentID(of: object) }
    let ends = ReturnedEnds(objects, in: context)
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
    try ends.agree(keepsChanges: true, in: context)
    try repeatRemovals(of: new)
    try displaceStoredDestinations(of: changed + changedCounterparts(of: objects))
    for object in changed where object.context === context { object.callAwake(after: .refresh) }
    for object in objects where object.context === context {
      context.noticeCenter?.didRefresh(object)
    }
  }

  /// Drops the changes of an object, at both ends of its relationships.
  func dropChanges(of object: ManagedObject) throws {
    guard let session = object.session else { return }
    let ends = ReturnedEnds([object], in: context)
    context.showPermanentID(of: object)
    context.undoRecording?.recordRead()
    context.preparation?.isOutdated = true
    try exchangeRow(of: object, session.currentView())
    try object.restoreRelationships()
    if object.restoreSlots() {
      object.turnIntoFault(onBothSides: true)
    } else {
      object.callAwake(after: .refresh)
    }
    context.noticeCenter?.didRefresh(object)
    try ends.agree(keepsChanges: false, in: context)
    try displaceStoredDestinations(of: changedCounterparts(of: [object]))
  }

  /// Puts unsaved changes on top of the store's newest values.
  ///
  /// Between the first row and the last order no hook is called: with new rows, but an order that
  /// lacks members which other contexts have added, a save would drop those without a conflict.
  private func rebase(_ objects: [ManagedObject]) throws {
    func isChanged(_ object: ManagedObject) -> Bool {
      object.context === context && object.isStored && object.hasSlots
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

  private func exchangeRow(of object: ManagedObject, _ view: StoreView) throws {
    context.fetchedLists.forget(object)
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
        counterparts += destinations.filter { $0.context === context && !$0.hasChanges }
      }
    }
    object.turnIntoFault(keeping: [.deleted, .propagated], onBothSides: true)
    for other in counterparts
    where other.context === context && other.isUpdated && !other.hasPersistentChangedValues {
      other.keepTransientSlots()
      other.setPending(nil)
    }
  }

  // MARK: Other ends

  /// Removes objects that others have brought back from the other ends that have lost them here,
  /// and these from them. The deletion, whose rule took no action, has left those ends as they
  /// were, and here it has dropped the change of the object itself.
  private func repeatRemovals(of returned: [MergedReference]) throws {
    if returned.isEmpty || !context.changes.mayHaveRelationships { return }
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    let isReturned = Dictionary(grouping: returned) { ObjectIdentifier($0.session) }
      .mapValues { Set($0.map(\.reference)) }
    for object in context.changes.updated.objects {
      guard let session = object.session, object.hasSlots,
        let returned = isReturned[ObjectIdentifier(session)]
      else { continue }
      for slot in object.binding.storedRelationshipSlots where object.binding.traits[slot].canDangle
      {
        guard object.hasSlots, case .many(let pending) = object.slots[slot] else { continue }
        for reference in pending.removed.filter(returned.contains).sorted() {
          let member = try session.object(at: reference)
          guard let inverse = object.inverseSlot(of: slot, on: member), member.isToMany(inverse)
          else { continue }
          try object.agree(slot, with: member)
        }
      }
    }
  }

  /// Removes changed objects from destinations that the store has for them. To be called when all
  /// rows are the newest, as both sides of a relationship are read.
  private func displaceStoredDestinations(of objects: [ManagedObject]) throws {
    for object in objects
    where object.context === context && object.hasRow && object.hasSlots && !object.isDeleted {
      try object.displaceStoredDestinations()
    }
  }

  /// Changed objects that others refer to in the store by one-to-one relationships. They may have
  /// been led elsewhere while those showed no destination.
  private func changedCounterparts(of objects: [ManagedObject]) -> [ManagedObject] {
    if context.changes.updated.isEmpty || !context.changes.mayHaveRelationships { return [] }
    return objects.flatMap { object -> [ManagedObject] in
      guard object.context === context, object.ofArena({ $0.binding.hasOneToOnes }),
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
