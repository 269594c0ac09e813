// Dropping of a context's changes, or of all its objects.
extension ManagedObjectContext {
  /// Drops all unsaved changes: inserted objects leave the context, changed and deleted ones become
  /// faults, which are read from the store's last saved state when they are next used. Nothing can
  /// be undone or redone after this.
  ///
  /// Called while the context is busy it changes nothing, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectContextBusy``.
  public final func rollback() {
    guard isIdle(for: "rollback()") else { return }
    let dropped = during(.dropping) {
      let told = callWillTurnIntoFault(
        changes.updated.objects + changes.deleted.objects + changes.inserted.objects)
      let dropped = dropAllChanges()
      for object in told { object.didTurnIntoFault() }
      for object in dropped.updated.objects + dropped.deleted.objects
      where object.context === self {
        object.callAwake(after: .rollback)
      }
      return dropped
    }
    noticeCenter?.postRollback(of: dropped)
  }

  /// Forgets all objects and all unsaved changes. Objects that the program still refers to belong
  /// to no context afterwards. The context is no longer pinned to a query generation. Nothing can
  /// be undone or redone after this.
  ///
  /// Called while the context is busy it changes nothing, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectContextBusy``.
  public final func reset() {
    guard isIdle(for: "reset()") else { return }
    let forgotten = forgetObjects()
    noticeCenter?.postReset(of: forgotten)
  }

  /// Forgets all objects, without notifying observers yet.
  ///
  /// - Returns: the IDs of all objects, for the notice; `nil` when there is no observer of it.
  final func forgetObjects() -> Set<ManagedObjectID>? {
    during(.dropping) { forgetObjectsWithHooks() }
  }

  private func forgetObjectsWithHooks() -> Set<ManagedObjectID>? {
    let told = callWillTurnIntoFault(allObjects)
    for session in sessions {
      session.pinnedView = nil
      session.inbox?.removeAll()
    }
    let objectIDs = noticeCenter?.idsBeforeReset()
    dropAllChanges()
    for object in allObjects {
      if object.isPersistent { object.becomeFault() } else { letGo(of: object) }
    }
    for object in told where object.context === self { object.didTurnIntoFault() }
    // Drops what hooks have read, inserted and changed.
    dropAllChanges()
    for object in allObjects { letGo(of: object) }
    if family != nil { forgetFamily() }
    formerSessions = []
    assignedStores = [:]
    if retained != nil { retained = RetainedObjects([]) }
    return objectIDs
  }

  /// Calls ``ManagedObject/willTurnIntoFault()`` of objects, before any of them is dropped. No hook
  /// is called from then until all are dropped, so that none can save or change a part of them.
  ///
  /// - Returns: the objects whose hook was called.
  private func callWillTurnIntoFault(_ objects: [ManagedObject]) -> [ManagedObject] {
    var told: [ManagedObject] = []
    for object in objects
    where object.context === self && object.isPersistent && (object.hasRow || object.hasSlots) {
      object.willTurnIntoFault()
      told.append(object)
    }
    return told
  }

  /// Drops all changes without calling hooks.
  @discardableResult
  final func dropAllChanges() -> PendingObjects {
    let dropped = changes
    forgetUndo()
    changes = PendingObjects()
    watched = []
    for session in sessions { session.view = nil }
    for object in dropped.inserted.objects { letGo(of: object) }
    for object in dropped.updated.objects + dropped.deleted.objects {
      if object.isPersistent { object.becomeFault() } else { letGo(of: object) }
    }
    return dropped
  }
}
