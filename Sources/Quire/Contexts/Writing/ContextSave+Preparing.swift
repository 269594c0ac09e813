import QuireModel

// The preparation of a save: hooks, validation, and what undo has to keep.
extension ManagedObjectContext {
  /// The number of rounds in which a save calls ``ManagedObject/willSave()`` of objects that have
  /// changed since the last one. If some still change after that, the save throws
  /// ``PersistenceError/Code/managedObjectContextLocking``.
  public static var willSaveLimit: Int { 1_000 }

  /// Calls ``ManagedObject/willSave()`` of objects until none of them changes anything more,
  /// validates them and their stores, and lets undo keep what the save will remove.
  ///
  /// - Parameters:
  ///   - told: objects of which it was called already.
  ///   - asMerged: whether the save was prepared before, and a merge has changed it since.
  final func prepareSave(
    without told: Set<ManagedObject> = [], asMerged: Bool = false
  ) throws -> ContextSave {
    preparation = SavePreparation()
    defer { preparation = nil }
    var save = ContextSave(self)
    save.forEachObject { object in
      if !told.isEmpty, told.contains(object) { return }
      // Hooks of other objects may have made it clean, or removed it.
      if object.context === self, object.hasChanges, !object.isDeleted || object.isStored {
        object.willSave()
      }
    }
    for _ in 1...Self.willSaveLimit {
      if try haveObjectsStopped() {
        try throwKeptErrors()
        if preparation?.isOutdated ?? false {
          preparation?.isOutdated = false
          save = ContextSave(self)
        }
        try save.checkStores()
        try save.validate()
        // Validation may change objects, too, though it should not.
        guard try haveObjectsStopped(), preparation?.isOutdated == false else { continue }
        // Both may make objects, whose classes may change something in turn.
        if parent == nil { for part in save.parts { try part.agreeWithOthers() } }
        undoRecording?.willCommit(asMerged: asMerged)
        if preparation?.isOutdated == false { return save }
      }
    }
    throw PersistenceError(
      .managedObjectContextLocking,
      "objects were still changing after willSave() had been called \(Self.willSaveLimit) times: "
        + "set a property there only if it has another value")
  }

  /// Calls ``ManagedObject/willSave()`` of objects that have changed since it was called.
  ///
  /// - Returns: whether there were none.
  private func haveObjectsStopped() throws -> Bool {
    processPendingChangesOfEvent()
    // Observers of the parent may change objects here, too.
    parent?.processPendingChanges()
    let changed = preparation?.takeChanged() ?? []
    for object in changed where object.context === self && object.hasChanges {
      object.willSave()
    }
    return changed.isEmpty
  }
}
