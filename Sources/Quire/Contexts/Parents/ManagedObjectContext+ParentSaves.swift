import QuireModel

extension ManagedObjectContext {
  /// Saves to the parent.
  ///
  /// - Returns: what was saved; `nil` when there was nothing.
  final func save(to parent: ManagedObjectContext) throws -> ContextSave? {
    var memento: ContextMemento?
    let save: ContextSave
    do {
      save = try preparedParentSave(&memento)
      // Objects that were asked may have taken back what there was to save.
      guard hasChanges else { return nil }
      undoRecording?.willCommit(save)
      try ParentSave(save: save, child: self, parent: parent).write()
    } catch {
      memento?.restore(self)
      throw error
    }
    return save
  }

  /// A save in which nothing is changed that the parent has deleted: also not by objects when they
  /// are told of it.
  ///
  /// - Parameter memento: what to come back to when the save fails, if the policy was asked.
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

  /// Of changed objects, those that the parent has deleted.
  private func conflictsWithDeletions() throws -> [MergeConflict] {
    try changes.updated.sorted.filter(\.hasPersistentChangedValues).compactMap { object in
      guard let view = try object.session?.currentView(),
        try !view.contains(object.reference)
      else { return nil }
      return try MergeConflict(object, nil, 0)
    }
  }

  /// Asks the policy about objects that the parent has deleted. The deletion wins over the changes
  /// of those that it leaves.
  private func resolveDeletions(_ memento: inout ContextMemento?) throws {
    let conflicts = try conflictsWithDeletions()
    guard !conflicts.isEmpty else { return }
    if memento == nil, isMerging { memento = ContextMemento(self) }
    try mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    processPendingChangesOfEvent()
    try throwKeptErrors()
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
  /// - Returns: what observers are to be notified of.
  final func finish(_ save: ContextSave) -> ContextNotice {
    var notice = ContextNotice(.didSaveObjects, self)
    for part in save.parts {
      notice.insertedObjects.formUnion(part.inserted.lazy.map(\.object))
      notice.updatedObjects.formUnion(part.updated.lazy.map(\.object))
      notice.deletedObjects.formUnion(part.deleted)
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

// MARK: - What children merge by themselves

extension ManagedObjectContext {
  /// Tells the children that want to know what was saved, here or to here.
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

  /// Tells them what was merged here.
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
    }
  }

  /// Tells them that anything may have changed that was merged here.
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
    }
  }

  final func takeWaitingForAll() -> Bool {
    guard let family, family.waitsForAll else { return false }
    self.family?.waitsForAll = false
    return true
  }

  /// What waits, each place with whether something was inserted there.
  final func takeWaitingPlaces() -> [GlobalReference: Bool] {
    guard let waiting = family?.waiting, !waiting.isEmpty else { return [:] }
    family?.waiting = [:]
    return waiting
  }
}
