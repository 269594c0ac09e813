import QuireModel

extension ManagedObjectContext {
  /// The objects that the next save inserts: new ones, and those whose deletion was saved and then
  /// undone. In the destination of a migration also those that it has written already.
  ///
  /// - Complexity: O(objects), as the set is made at each call; so are ``updatedObjects`` and
  ///   ``deletedObjects``.
  public final var insertedObjects: Set<ManagedObject> {
    let inserted = Set(changes.inserted.objects)
    guard let migration else { return inserted }
    let written = migration.writtenObjects.lazy.filter { $0.context === self && !$0.isDeleted }
    return inserted.union(written)
  }
  /// The stored objects that were changed and not saved since, as Core Data has them: also those
  /// whose properties were set to the values that they had.
  /// ``ManagedObject/hasPersistentChangedValues`` tells them apart.
  public final var updatedObjects: Set<ManagedObject> { Set(changes.updated.objects) }

  /// The stored objects that the next save deletes. A new object that was deleted is not among
  /// them.
  public final var deletedObjects: Set<ManagedObject> {
    Set(changes.deleted.objects.lazy.filter(\.isStored))
  }

  /// Whether any object was inserted, changed or deleted here and not saved since.
  ///
  /// An object whose properties were set to the values that they had counts, as in Core Data; a
  /// save then writes nothing for it.
  ///
  /// - Complexity: O(1).
  public final var hasChanges: Bool { !changes.isEmpty }

  /// Takes an object without a context into this one, to be saved with it.
  ///
  /// The deletion of an object of this context is taken back, with its effect on relationships:
  /// what the delete rules have cleared refers to the object again, unless it refers to another one
  /// by now. Objects that were deleted along with it stay deleted. An object that a context has
  /// dropped before it was saved keeps its attributes; one whose deletion was saved becomes a new
  /// object.
  ///
  /// The next fetch or save throws ``PersistenceError/Code/managedObjectExternalRelationship`` for
  /// an object of another context, ``PersistenceError/Code/undefinedKey`` for an entity that the
  /// model does not have, and ``PersistenceError/Code/coreData`` for one that is abstract or of
  /// another model. The object is not inserted then.
  public final func insert(_ object: ManagedObject) {
    let object = object.successor ?? object
    do {
      if object.context === self {
        guard object.isDeleted else { return }
        let kept = object.state.contains(.propagated) ? try object.keptLinks() : []
        // Reading them may have called a hook that has done it.
        guard object.context === self, object.isDeleted else { return }
        revive(object)
        try object.restoreOtherEnds(kept)
        return
      }
      try adopt(object)
    } catch {
      report(error)
    }
  }

  /// Nothing can be undone or redone after this.
  final func forgetUndo() {
    for session in sessions { session.formerVersions = [:] }
    undoRecording?.removeAllActions()
  }

  final func revive(_ object: ManagedObject) {
    preparation?.recordChange(of: object)
    object.setPending(!object.isStored ? .insertion : object.slots.isEmpty ? nil : .update)
    object.state.remove(.propagated)
    object.dropStoredDestinations()
    for observer in audience { observer.didRevive(object) }
  }

  final func adopt(_ object: ManagedObject) throws {
    guard object.context == nil else {
      throw PersistenceError(
        .managedObjectExternalRelationship,
        "\(object.objectID) belongs to another context and cannot be inserted into this one")
    }
    guard let binding = modelBinding?.entity(as: object.binding) else {
      throw PersistenceError(
        .undefinedKey,
        persistentStoreCoordinator == nil
          ? "the context has no coordinator, so it knows no entity \(object.entity.name)"
          : "the context's model has no entity \(object.entity.name)")
    }
    guard binding === object.binding || binding.entity == object.entity else {
      throw PersistenceError(
        .coreData, "the entity \(object.entity.name) of this object is another model's")
    }
    guard !binding.entity.isAbstract else {
      throw PersistenceError.isAbstract(binding.entity)
    }
    if object.isPersistent {
      object.becomeNew()
      object.apply(persistentStoreCoordinator?.classes.computedDefaults(of: binding))
    }
    // Equal entities have equal slots.
    take(object, to: arena(ofNew: binding))
  }

  /// Inserts an object without a context.
  ///
  /// - Parameter arena: the arena of new objects of its entity.
  final func take(_ object: ManagedObject, to arena: ObjectArena) {
    journal?.recordInsertion(of: object)
    let isAwoken = object.state.contains(.awoken)
    object.arena = arena
    object.state = .awoken
    object.setPending(.insertion)
    enterNew(object)
    if isObserved { for observer in audience { observer.didInsert(object) } }
    if isAwoken { return }
    runningHookCount += 1
    defer { runningHookCount -= 1 }
    object.awakeFromInsert()
  }

  final func markDeleted(_ object: ManagedObject) {
    object.setPending(.deletion)
    for observer in audience { observer.didDelete(object) }
  }

  /// Merges what others have saved, if ``automaticallyMergesChangesFromParent`` is `true`; applies
  /// the delete rules of objects deleted since the last call; posts what has changed since then, as
  /// one ``ContextNotice/Kind/didChangeObjects``; and ends the event: later changes are another
  /// undo group.
  ///
  /// The main actor's context of a container, and its children, do this automatically at the end of
  /// an event: in the main actor's next turn after something has changed. Other contexts do it when
  /// they fetch, save or perform something, or when this is called.
  ///
  /// Does nothing when ``ManagedObject/prepareForDeletion()`` calls it: what that deletes is
  /// processed afterwards.
  public final func processPendingChanges() {
    processPendingChangesOfEvent()
    if presentActivity == nil { undoRecording?.endEvent() }
  }

  /// What each fetch does before it looks for anything, and each save before it looks at what is to
  /// be saved. In this order:
  ///
  /// 1. What others have saved is merged, if the context merges by itself, and objects of stores
  ///    that were removed leave (``ContextOperations/mergeWaitingCommits()``).
  /// 2. The delete rules of objects that were deleted are applied (``DeleteRules/apply()``).
  /// 3. What has changed since the last notice is posted (``NoticePoster/postEvent()``).
  /// 4. What could not be thrown where it happened is thrown (``throwKeptErrors()``).
  ///
  /// The event goes on: what follows belongs to the same undo group.
  final func bringUpToDate() throws {
    processPendingChangesOfEvent()
    try throwKeptErrors()
  }

  /// The first three steps of ``bringUpToDate()``, which throw nothing.
  final func processPendingChangesOfEvent() {
    guard activity != .applyingDeleteRules else { return }
    operations.mergeWaitingCommits()
    if propagatesDeletesAtEndOfEvent || activity == .saving { DeleteRules(self).apply() }
    notices?.postEvent()
  }

  /// Removes a deleted object that the store does not have: a save has nothing to do for it.
  final func drop(_ object: ManagedObject) {
    undoRecording?.keepContent(of: object)
    release(object)
  }
}
