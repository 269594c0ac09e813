import QuireModel

extension ManagedObjectContext {
  /// Saves to the parent. In place of the steps 3 and 4 of a save to a store:
  ///
  /// 1. Changes of objects that the parent has deleted are conflicts: the policy decides, or they
  ///    are dropped (``resolveDeletions(_:)``).
  /// 2. The save is prepared, as any other; what hooks do may be a reason to begin again.
  /// 3. ``ParentSave`` repeats each change in the parent, by the calls that a program makes;
  ///    deletions come last. If a hook or an observer of the parent interferes, the parent is
  ///    restored.
  ///
  /// - Returns: what was saved; `nil` when there was nothing.
  final func save(to parent: ManagedObjectContext) throws -> ContextSave? {
    var memento: ContextMemento?
    let save: ContextSave
    do {
      save = try preparedParentSave(&memento)
      // Hooks may have taken back all changes.
      guard hasChanges else { return nil }
      try ParentSave(save: save, child: self, parent: parent).write()
    } catch {
      memento?.restore(self)
      throw error
    }
    return save
  }

  /// A save that changes nothing that the parent has deleted, also after the hooks of its objects
  /// were called.
  ///
  /// - Parameter memento: set to the state to restore when the save fails, if the policy is called.
  private func preparedParentSave(_ memento: inout ContextMemento?) throws -> ContextSave {
    var told: Set<ManagedObject> = []
    for _ in 1...Self.mergeLimit {
      followReturned()
      try resolveDeletions(&memento)
      let save = try prepareSave(without: told)
      if try conflictsWithDeletions().isEmpty, !followReturned() { return save }
      save.forEachObject { told.insert($0) }
    }
    throw unresolvedConflicts(try conflictsWithDeletions().map(\.report))
  }

  /// The conflicts of changed objects that the parent has deleted.
  private func conflictsWithDeletions() throws -> [MergeConflict] {
    try changes.updated.sorted.filter(\.hasPersistentChangedValues).compactMap { object in
      guard let view = try object.session?.currentView(),
        try !view.contains(object.reference)
      else { return nil }
      return try MergeConflict(object, nil, 0)
    }
  }

  /// Calls the policy for changed objects that the parent has deleted. The changes of those that it
  /// does not resolve are dropped.
  private func resolveDeletions(_ memento: inout ContextMemento?) throws {
    let conflicts = try conflictsWithDeletions()
    guard !conflicts.isEmpty else { return }
    if memento == nil, isMerging { memento = ContextMemento(self) }
    try mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    try bringUpToDate()
    dropChanges(of: try conflictsWithDeletions())
  }

  /// Makes the objects of a save clean: the parent has their changes.
  ///
  /// - Returns: the notice for observers.
  final func finish(_ save: ContextSave) -> ContextNotice {
    var notice = ContextNotice(of: save.parts, in: self)
    for part in save.parts {
      for update in part.updated {
        notice.objectIDs.changedProperties[update.object.objectID] = Set(
          update.changedSlots.map { update.object.binding.properties[$0].name })
      }
    }
    changes = PendingObjects()
    watched = []
    assignedStores = [:]
    undoRecording?.endEvent()
    for part in save.parts {
      part.session.formerVersions = [:]
      for object in part.touched { recordRefreshed(object) }
      part.finishObjects(try? part.session.currentView())
    }
    notice.completeIDs()
    for part in save.parts { part.forEachObject { $0.didSave() } }
    return notice
  }

  /// Notifies the observers of the parent, and those here, of a save that is over.
  final func announce(_ save: ContextSave, _ notice: ContextNotice) {
    parent?.processPendingChanges()
    noticeCenter?.postDidSave(notice)
    release(notice.deletedObjects)
    notifyChildren(of: save.parts)
    parent?.notifyChildren(of: save.parts, except: self)
  }
}

// MARK: - Automatic merges of children

extension ManagedObjectContext {
  /// Passes a save of this context, or of a child to it, to the children that merge automatically.
  final func notifyChildren(
    of parts: some Sequence<SaveOperation>, except saving: ManagedObjectContext? = nil
  ) {
    guard let family, family.hasChildren else { return }
    var places: [GlobalReference: Bool] = [:]
    for part in parts {
      func record(_ reference: Reference, isInsertion: Bool = false) {
        places[GlobalReference(store: part.session.identity, reference: reference)] = isInsertion
      }
      for item in part.inserted { record(item.reference, isInsertion: true) }
      for object in part.touched { record(object.reference) }
      for object in part.deleted { record(object.reference) }
    }
    notifyChildren(places, except: saving)
  }
}
