import QuireModel

extension ManagedObjectContext {
  /// Reads an object anew from the store's last saved state when it is next used.
  ///
  /// A change of a relationship changes two objects. Where this object's changes are dropped, the
  /// other side is restored too; only a relationship to a deleted object is not. With an undo
  /// manager, dropping changes is a change that can be undone.
  ///
  /// An object without unsaved changes becomes a fault in either case, and its transient values and
  /// relationships are dropped. ``ManagedObject/awakeFromFetch()`` is the place to compute them
  /// again.
  ///
  /// - Parameter mergeChanges: whether unsaved changes stay on top of what is read; otherwise they
  ///   are dropped.
  public final func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    let object = object.successor ?? object
    during(.refreshing) {
      let returned = ReturnedEnds([object], in: self)
      reread(object, mergeChanges: mergeChanges)
      do {
        try returned.makeAgree(keepsChanges: mergeChanges, in: self)
        try displaceStoredDestinations(of: changedCounterparts(of: object))
      } catch {
        report(error)
      }
    }
  }

  /// Changed objects that an object refers to in the store by one-to-one relationships. They may
  /// have been led to others while this object showed no destination.
  private func changedCounterparts(of object: ManagedObject) -> [ManagedObject] {
    guard !changes.updated.isEmpty, object.context === self, object.isStored,
      let session = object.session, let storage = object.storage,
      !object.binding.oneToOneSlots.isEmpty,
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

  /// Puts unsaved changes on top of the store's newest values.
  ///
  /// Between the first row and the last order no hook is called: with new rows, but an order that
  /// lacks members which other contexts have added, a save would drop those without a conflict.
  /// ``displaceStoredDestinations(of:)`` has to follow, when all other objects were read again.
  final func rebase(_ objects: [ManagedObject]) throws {
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

  /// Removes changed objects from destinations that the store has for them. To be called when all
  /// rows are the newest, as both sides of a relationship are read.
  final func displaceStoredDestinations(of objects: [ManagedObject]) throws {
    for object in objects
    where object.context === self && object.hasRow && object.hasSlots && !object.isDeleted {
      try object.displaceStoredDestinations()
    }
  }

  private func reread(_ object: ManagedObject, mergeChanges: Bool) {
    guard object.context === self, object.isStored, let session = object.session else { return }
    showPermanentID(of: object)
    undoRecording?.recordRead()
    do {
      let view = try session.latestView()
      if object.slots.isEmpty || mergeChanges && !object.hasChanges {
        turnUnchangedIntoFault(object)
      } else if mergeChanges {
        try rebase([object])
        try displaceStoredDestinations(of: [object])
        object.callAwake(after: .refresh)
      } else if !object.isDeleted {
        preparation?.isOutdated = true
        try dropChanges(of: object, view)
      }
      noticeCenter?.didRefresh(object)
    } catch {
      report(error)
    }
  }

  /// Makes a fault of an object without changes, which may be deleted. Transient relationships end
  /// on both sides, and an other side that was clean stays so.
  final func turnUnchangedIntoFault(_ object: ManagedObject) {
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

  /// Makes an object clean that is gone from the store and is marked as updated without a change.
  private func letGoOfTouched(_ object: ManagedObject) {
    guard object.isUpdated, !object.slots.indices.contains(where: object.isChanged) else { return }
    object.dropSlots()
    object.setPending(nil)
  }

  /// Refreshes all objects: those without unsaved changes become faults, the others keep their
  /// changes on top of what the store has. A query generation that the context is pinned to moves
  /// on to the store's last saved state.
  ///
  /// Called while the context is busy it changes nothing, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectContextBusy``.
  public final func refreshAllObjects() {
    guard isIdle(for: "refreshAllObjects()") else { return }
    during(.refreshing) { rereadAllObjects() }
  }

  /// The steps 2 to 7 of a merge, with all objects.
  private func rereadAllObjects() {
    do {
      try moveQueryGeneration()
    } catch {
      report(error)
    }
    // Objects that are not in memory are to be read from the newest state, too.
    for session in sessions { session.leaveState() }
    let objects = allObjects
    let returned = ReturnedEnds(objects, in: self)
    let changed = objects.filter { $0.isStored && $0.hasSlots && $0.hasChanges }
    do {
      for object in changed { showPermanentID(of: object) }
      for session in sessions where changed.contains(where: { $0.session === session }) {
        _ = try session.latestView()
      }
      try rebase(changed)
    } catch {
      report(error)
    }
    let isChanged = Set(changed.lazy.map { ObjectIdentifier($0) })
    for object in objects where !isChanged.contains(ObjectIdentifier(object)) {
      reread(object, mergeChanges: true)
    }
    do {
      try returned.makeAgree(keepsChanges: true, in: self)
      try displaceStoredDestinations(of: changed)
      for session in sessions { session.recordRowsOfState() }
    } catch {
      report(error)
    }
    for object in changed where object.context === self {
      object.callAwake(after: .refresh)
      noticeCenter?.didRefresh(object)
    }
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

  private func dropChanges(of object: ManagedObject, _ view: StoreView) throws {
    try exchangeRow(of: object, view)
    try object.restoreRelationships()
    if object.restoreSlots() {
      object.turnIntoFault(onBothSides: true)
    } else {
      object.callAwake(after: .refresh)
    }
  }
}
