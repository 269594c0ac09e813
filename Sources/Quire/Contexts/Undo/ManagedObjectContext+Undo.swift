extension ManagedObjectContext {
  /// Where changes of this context are entered, to be taken back and made again; `nil`, and at no
  /// cost, unless it is set. Setting another one forgets what was entered for this context.
  ///
  /// Undoing makes changes like any others: they are to be saved, also where what they take back
  /// was saved before, and each can be made again. The deletion of an object that a save has
  /// removed is undone with the same object and the same ID. Inserted objects are deleted. Clean
  /// objects stay in memory while something that can be undone leads to them.
  ///
  /// Several contexts of one isolation may share an undo manager.
  public final var undoManager: UndoManager? {
    get { undoRecording?.manager }
    set {
      guard newValue !== undoRecording?.manager else { return }
      processPendingChangesOfEvent()
      if let former = undoRecording {
        observers.removeAll { $0 === former }
        former.manager.remove(former)
      }
      undoRecording = newValue.map { UndoRecording(of: self, with: $0) }
      if let undoRecording {
        observers.append(undoRecording)
        undoRecording.manager.add(undoRecording)
      }
    }
  }

  /// Ends the event and takes back the last group of changes; see ``UndoManager/undo()``, whose
  /// errors the next fetch or save throws.
  public final func undo() {
    do {
      try undoManager?.undo()
    } catch {
      report(error)
    }
  }

  /// Makes again what the last ``undo()`` took back; see ``UndoManager/redo()``, whose errors the
  /// next fetch or save throws.
  public final func redo() {
    do {
      try undoManager?.redo()
    } catch {
      report(error)
    }
  }

  final func forgetUndo() {
    for session in sessions { session.formerVersions = [:] }
    undoRecording?.manager.removeAllActions()
  }

  /// Marks an object as deleted without its delete rules: what they did is undone by itself.
  final func takeAway(_ object: ManagedObject) {
    markDeleted(object)
    object.state.insert(.propagated)
    if !object.isStored { drop(object) }
  }

  /// Takes an object in that has left, with the ID and the content that it had.
  ///
  /// - Throws: when the store that it was in is not there any more.
  final func bringBack(_ taken: TakenObject, _ content: [ManagedObject.Slot]) throws {
    let object = taken.object
    var session: StoreSession?
    if let place = taken.place {
      session = self.session(with: place.store)
      guard session != nil else {
        throw PersistenceError(
          .persistentStoreOperation,
          "the deletion of \(object.objectID) cannot be undone: its store was removed")
      }
    }
    object.reference = taken.reference
    // Somebody may have asked for the ID meanwhile, and holds an object that stood for nothing.
    if let other = session?.registered(object.reference), other !== object { release(other) }
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
    for observer in audience { observer.didInsert(object) }
  }
}
