import QuireModel

/// The changes that objects make while a save is prepared, in ``ManagedObject/willSave()`` and in
/// validation.
struct SavePreparation {
  /// Objects whose changes to save have changed, in no order, some twice.
  private(set) var changed: [ManagedObject] = []
  /// Whether the list of objects to save has to be made again.
  var isOutdated = false
  /// The number of changes by primitive accessors that are under way. They cause no other call of
  /// ``ManagedObject/willSave()``.
  var primitiveChangeCount = 0

  mutating func recordChange(of object: ManagedObject) {
    isOutdated = true
    if primitiveChangeCount == 0 { changed.append(object) }
  }

  /// The objects that have changed since the last call, each once, ordered by their references.
  mutating func takeChanged() -> [ManagedObject] {
    defer { changed = [] }
    return Set(changed).sorted { $0.referenceOrder < $1.referenceOrder }
  }
}

extension ManagedObjectContext {
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
        if parent == nil { for part in save.parts { try part.leadBackToOthers() } }
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

  /// Records a property that is about to change, and notifies observers.
  final func record(_ slot: Int, of object: ManagedObject, _ change: SlotChange) {
    journal?.record(object)
    if preparation != nil, object.isChange(change, of: slot) {
      preparation?.recordChange(of: object)
    }
    for observer in audience {
      observer.willChange(object.binding.properties[slot].name, of: object, by: change)
    }
  }
}

extension ManagedObject {
  /// Whether the change makes a difference to what a save writes.
  fileprivate func isChange(_ change: SlotChange, of slot: Int) -> Bool {
    if binding.traits[slot].isTransient || binding.traits[slot].isDerived { return false }
    do {
      switch change {
      case .value(let value):
        guard let value, let present = try attribute(slot) else {
          return try (value == nil) != (attribute(slot) == nil)
        }
        return !value.isIdentical(to: present)
      case .one(let destination): return try one(slot) !== destination
      case .order(let order): return try members(slot) != order()
      case .addition, .removal: return true
      }
    } catch {
      return true
    }
  }
}
