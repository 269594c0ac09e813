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

  /// Drops the changes of objects that the parent has deleted.
  final func dropChanges(of conflicts: [MergeConflict]) {
    for object in conflicts.map(\.sourceObject) where object.context === self && object.isUpdated {
      noticeCenter?.didDelete(object)
      object.turnIntoFault()
      object.state.insert(.inaccessible)
    }
    processPendingChangesOfEvent()
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
    undoRecording?.manager.endEvent()
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

  /// Passes a merge of this context to the children that merge automatically.
  final func notifyChildren(of places: [MergedReference]) {
    notifyChildren(
      Dictionary(
        places.map {
          (GlobalReference(store: $0.session.identity, reference: $0.reference), $0.isInsertion)
        }, uniquingKeysWith: { $0 || $1 }))
  }

  final func notifyChildren(
    _ places: [GlobalReference: Bool], except saving: ManagedObjectContext? = nil
  ) {
    guard let family, family.hasChildren, !places.isEmpty else { return }
    for child in family.livingChildren where child !== saving && child.mergesCommits {
      child.family?.waiting.merge(places) { $0 || $1 }
      child.mergeWaitingCommits()
      // Observers are called in an event of the child's own, as after a commit of others.
      child.wakeOnCommit?()
    }
  }

  /// Passes a merge with unlisted changes to the children, which merge all their objects.
  final func notifyChildrenOfAll() {
    guard let family, family.hasChildren else { return }
    for child in family.livingChildren where child.mergesCommits {
      for session in child.sessions {
        for object in session.objects where object.isStored {
          let place = GlobalReference(store: session.identity, reference: object.reference)
          child.family?.waiting[place] = child.family?.waiting[place] ?? false
        }
      }
      child.family?.waitsForAll = true
      child.mergeWaitingCommits()
      child.wakeOnCommit?()
    }
  }

  final func takeWaitingForAll() -> Bool {
    guard let family, family.waitsForAll else { return false }
    self.family?.waitsForAll = false
    return true
  }

  /// The references of objects to merge, each with whether the object was inserted; then none wait.
  final func takeWaitingPlaces() -> [GlobalReference: Bool] {
    guard let waiting = family?.waiting, !waiting.isEmpty else { return [:] }
    family?.waiting = [:]
    return waiting
  }
}
