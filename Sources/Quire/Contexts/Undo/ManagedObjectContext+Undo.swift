extension ManagedObjectContext {
  /// The undo manager that changes of this context are registered with; at first `nil`, which has
  /// no cost. Setting another one removes the actions of this context from the former.
  ///
  /// Undoing makes changes like any others: they have to be saved, also where the undone changes
  /// were saved before, and each can be redone. Undoing a deletion that was saved brings back the
  /// same object with the same ID. Undoing an insertion deletes the object. Clean objects stay in
  /// memory while an action refers to them.
  ///
  /// Several contexts of one isolation may share an undo manager.
  public final var undoManager: UndoManager? {
    get { recording?.manager }
    set {
      guard newValue !== recording?.manager else { return }
      processPendingChangesOfEvent()
      if let former = recording {
        observers.removeAll { $0 === former }
        former.manager.remove(former)
      }
      undoRecording = newValue.map { UndoRecording(of: self, with: $0) }
      if let recording {
        observers.append(recording)
        recording.manager.add(recording)
      }
    }
  }

  private final var recording: UndoRecording? { undoRecording as? UndoRecording }

  /// Ends the event and undoes the last group of changes; see ``UndoManager/undo()``, whose errors
  /// the next fetch or save throws. Does nothing without an undo manager.
  public final func undo() {
    do {
      try undoManager?.undo()
    } catch {
      report(error)
    }
  }

  /// Redoes the group that the last ``undo()`` has undone; see ``UndoManager/redo()``, whose errors
  /// the next fetch or save throws. Does nothing without an undo manager.
  public final func redo() {
    do {
      try undoManager?.redo()
    } catch {
      report(error)
    }
  }

  /// Marks an object as deleted without applying its delete rules: their effects have actions of
  /// their own.
  final func takeAway(_ object: ManagedObject) {
    markDeleted(object)
    object.state.insert(.propagated)
    hidingCount &+= 1
    if !object.isStored { drop(object) }
  }

  /// Puts an object that has left back into the context, with its former ID and content.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when its store was removed.
  final func bringBack(_ taken: TakenObject, _ content: [ManagedObject.Slot]) throws {
    let object = taken.object
    var session: StoreSession?
    if let reference = taken.globalReference {
      session = self.session(with: reference.store)
      guard session != nil else {
        throw PersistenceError(
          .persistentStoreOperation,
          "the deletion of \(object.objectID) cannot be undone: its store was removed")
      }
    }
    object.reference = taken.reference
    // An object may have been made for the ID meanwhile: in a child also for one that is new in the
    // parent, and is back there.
    let other = session?.registered(object.reference) ?? newObject(object.reference)
    if let other, other !== object { release(other) }
    if let session, let storage = taken.storage {
      object.arena = session.arena(of: storage)
    } else {
      object.arena = arena(ofNew: object.binding)
    }
    object.row = nil
    object.takeSlots(content)
    object.state = .awoken
    if object.isPersistent {
      object.state.insert(.returning)
      session?.formerVersions[object.reference] = taken.version
    }
    object.setPending(.insertion)
    enter(object)
    _ = object.followReturned(in: self)
    for observer in audience { observer.didInsert(object) }
  }
}
