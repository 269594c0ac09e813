import QuireModel

extension ManagedObjectContext {
  public final var insertedObjects: Set<ManagedObject> {
    let inserted = Set(changes.inserted.objects)
    if writtenObjects.isEmpty { return inserted }
    return inserted.union(writtenObjects.lazy.filter { $0.context === self && !$0.isDeleted })
  }
  /// Changed objects, also those set to what they were.
  public final var updatedObjects: Set<ManagedObject> { Set(changes.updated.objects) }
  public final var deletedObjects: Set<ManagedObject> {
    Set(changes.deleted.objects.lazy.filter(\.isStored))
  }
  public final var hasChanges: Bool { !changes.isEmpty }

  /// Takes an object without a context into this one, to be saved with it.
  ///
  /// A deleted object of this context comes back, with its relationships: what its delete rules
  /// have cleared leads to it again, unless it leads to another object by now. Objects that were
  /// deleted along with it stay so. One that a context has dropped before it was saved keeps its
  /// attributes; one whose deletion was saved becomes a new object. Errors (another context's
  /// object, an abstract or unknown entity) are thrown by the next fetch or save.
  public final func insert(_ object: ManagedObject) {
    do {
      if object.context === self {
        guard object.isDeleted else { return }
        let areRulesApplied = object.state.contains(.propagated)
        revive(object)
        if areRulesApplied { try object.restoreInverses() }
        return
      }
      try adopt(object)
    } catch {
      report(error)
    }
  }

  final func revive(_ object: ManagedObject) {
    preparation?.recordChange(of: object)
    object.setPending(!object.isStored ? .insertion : object.slots.isEmpty ? nil : .update)
    object.state.remove(.propagated)
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

  /// Takes in an object that nobody has.
  ///
  /// - Parameter arena: that of new objects of its entity.
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

  /// Merges what others have saved, if ``automaticallyMergesChangesFromParent`` says so; applies
  /// the delete rules of objects deleted since the last call; posts what has changed since then, as
  /// one ``ContextNotice/Kind/didChangeObjects``; and ends the event: changes that come after this
  /// are undone by themselves.
  ///
  /// The main actor's context of a container, and its children, do this by themselves at the end of
  /// an event: in the main actor's next turn after something has changed. Other contexts do it when
  /// they fetch, save or perform something, or are asked to.
  ///
  /// Does nothing when an object calls it that is just told of its deletion: what it deletes is
  /// processed after it.
  public final func processPendingChanges() {
    processPendingChangesOfEvent()
    if presentActivity == nil { undoRecording?.manager.endEvent() }
  }

  /// The same within an event.
  final func processPendingChangesOfEvent() {
    guard activity != .applyingDeleteRules else { return }
    mergeWaitingCommits()
    if propagatesDeletesAtEndOfEvent || activity == .saving { applyDeleteRules() }
    noticeCenter?.postEvent()
  }

  /// Applies the rules of what waits for them; who is doing so already goes on with it.
  final func applyDeleteRules() {
    guard activity != .applyingDeleteRules else { return }
    guard let first = changes.takeUndecided() else { return }
    during(.applyingDeleteRules) {
      processDeletion(of: first)
      // Rules may delete more objects, which line up behind.
      while let object = changes.takeUndecided() { processDeletion(of: object) }
    }
  }

  final func processDeletion(of object: ManagedObject) {
    guard isUndecided(object) else { return }
    object.prepareForDeletion()
    // It may have been taken back, or dropped, by what it did.
    guard isUndecided(object) else { return }
    do {
      try propagateDeletion(of: object)
    } catch {
      report(error)
    }
    guard isUndecided(object) else { return restoreInverses(to: object) }
    object.state.insert(.propagated)
    if !object.isStored {
      drop(object)
    }
  }

  /// An object whose deletion was taken back while its delete rules were applied has lost what they
  /// had cleared by then.
  private func restoreInverses(to object: ManagedObject) {
    guard object.context === self, !object.isDeleted else { return }
    do {
      try object.restoreInverses()
    } catch {
      report(error)
    }
  }

  /// Lets go of a deleted object that the store does not have: there is nothing to do for a save.
  final func drop(_ object: ManagedObject) {
    undoRecording?.keepContent(of: object)
    release(object)
  }

  private func isUndecided(_ object: ManagedObject) -> Bool {
    object.context === self && object.isDeleted && !object.state.contains(.propagated)
  }

  /// Ends when the deletion is taken back, or dropped, by what objects do when they are read.
  final func propagateDeletion(of object: ManagedObject) throws {
    for slot in object.binding.relationshipSlots {
      let given = object.ofArena { $0.binding.traits[slot].deleteRule }
      var rule = given
      // Nobody is to go on pointing to an object that never was, should it be inserted again.
      if !object.isStored, rule != .cascade { rule = .nullify }
      switch rule {
      case .noAction, .deny: continue
      case .nullify:
        for destination in try destinations(of: object, slot) {
          let inverse = object.inverseSlot(of: slot, on: destination)
          if let inverse { _ = try destination.makeReady(inverse) }
          guard object.context === self, object.isDeleted else { return }
          if let inverse { try destination.removeInverse(inverse, to: object) }
          // Nothing is to deny it either, when it is made again after the object was saved.
          if given == .deny { try object.removeInverse(slot, to: destination) }
        }
      case .cascade:
        for destination in try destinations(of: object, slot) {
          guard object.context === self, object.isDeleted else { return }
          delete(destination)
        }
      }
    }
  }

  final func destinations(of object: ManagedObject, _ slot: Int) throws -> [ManagedObject] {
    if object.isToMany(slot) { return try object.members(slot) }
    return try object.one(slot).map { [$0] } ?? []
  }
}
