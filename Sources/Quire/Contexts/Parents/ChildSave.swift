import QuireModel

/// The save of a child to its parent. In place of the steps 3 to 6 of a save to stores
/// (``SaveRun``):
///
/// 1. Changes of objects that the parent has deleted are conflicts: the policy decides, or they are
///    dropped (``resolveDeletions(_:)``).
/// 2. The save is prepared, as any other; what hooks do may be a reason to begin again.
/// 3. ``ParentSave`` repeats each change in the parent, by the calls that a program makes;
///    deletions come last. If a hook or an observer of the parent interferes, the parent is
///    restored.
/// 4. Objects become clean, and observers of both contexts and the parent's other children are
///    notified.
final class ChildSave {
  private let child: ManagedObjectContext
  private let parent: ManagedObjectContext
  /// The child as it was, to be restored when the save fails; `nil` until its policy is called.
  private var memento: ContextMemento?

  init(of child: ManagedObjectContext, to parent: ManagedObjectContext) {
    (self.child, self.parent) = (child, parent)
  }

  /// - Returns: what was passed to the parent; `nil` when there was nothing.
  func write() throws -> ContextSave? {
    defer {
      memento = nil
      child.preparation = nil
    }
    let save: ContextSave
    do {
      save = try prepared()
      // Hooks may have taken back all changes.
      guard child.hasChanges else { return nil }
      try ParentSave(save: save, child: child, parent: parent).write()
    } catch {
      memento?.restore(child)
      throw error
    }
    return save
  }

  /// A save that changes nothing that the parent has deleted, also after the hooks of its objects
  /// were called. From the moment that it is made, changes in the child are recorded: they are not
  /// in it.
  private func prepared() throws -> ContextSave {
    var told: Set<ManagedObject> = []
    for _ in 1...MergedSave.limit {
      child.followReturned()
      try resolveDeletions()
      let save = try child.prepareSave(without: told)
      child.preparation = SavePreparation()
      // Looking for conflicts may make objects, whose classes may change something.
      if try conflictsWithDeletions().isEmpty, !child.followReturned(),
        child.preparation?.isOutdated == false
      {
        return save
      }
      child.preparation = nil
      save.forEachObject { told.insert($0) }
    }
    throw MergedSave.unresolvedConflicts(try conflictsWithDeletions().map(\.report))
  }

  /// The conflicts of changed objects that the parent has deleted.
  private func conflictsWithDeletions() throws -> [MergeConflict] {
    try child.changes.updated.sorted.filter(\.hasPersistentChangedValues).compactMap { object in
      guard let view = try object.session?.currentView(),
        try !view.contains(object.reference)
      else { return nil }
      return try MergeConflict(object, nil, 0)
    }
  }

  /// Calls the policy for changed objects that the parent has deleted. The changes of those that it
  /// does not resolve are dropped.
  private func resolveDeletions() throws {
    let conflicts = try conflictsWithDeletions()
    guard !conflicts.isEmpty else { return }
    if memento == nil, child.mergePolicy.mayResolve { memento = ContextMemento(child) }
    try child.mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    try child.bringUpToDate()
    child.dropChanges(of: try conflictsWithDeletions())
  }

  /// Makes the objects of a save clean: the parent has their changes.
  ///
  /// - Returns: the notice for observers.
  func finish(_ save: ContextSave) -> ContextNotice {
    var notice = ContextNotice(of: save.parts, in: child)
    for part in save.parts {
      for update in part.updated {
        notice.objectIDs.changedProperties[update.object.objectID] = Set(
          update.changedSlots.map { update.object.binding.properties[$0].name })
      }
    }
    if child.forgetChanges(of: save.parts) { child.assignedStores = [:] }
    child.watched = []
    child.undoRecording?.endEvent()
    for part in save.parts {
      part.session.formerVersions = [:]
      for object in part.touched { child.recordRefreshed(object) }
      part.finishObjects(try? part.session.currentView())
    }
    notice.completeIDs()
    for part in save.parts { part.forEachObject { $0.didSave() } }
    return notice
  }

  /// Notifies the observers of the parent, and those of the child, of a save that is over.
  func announce(_ save: ContextSave, _ notice: ContextNotice) {
    parent.processPendingChanges()
    child.noticeCenter?.postDidSave(notice)
    child.release(notice.deletedObjects)
    child.notifyChildren(of: save.parts)
    parent.notifyChildren(of: save.parts, except: child)
  }
}

// MARK: - Automatic merges of children

extension ManagedObjectContext {
  /// Passes a save of this context, or of a child to it, to the children that merge automatically.
  final func notifyChildren(
    of parts: some Sequence<SaveOperation>, except saving: ManagedObjectContext? = nil
  ) {
    guard let family, family.hasChildren else { return }
    var references: [GlobalReference: Bool] = [:]
    for part in parts {
      func record(_ reference: Reference, isInsertion: Bool = false) {
        let key = GlobalReference(store: part.session.identity, reference: reference)
        references[key] = isInsertion
      }
      for item in part.inserted { record(item.reference, isInsertion: true) }
      for object in part.touched { record(object.reference) }
      for object in part.deleted { record(object.reference) }
    }
    notifyChildren(references, except: saving)
  }
}
