import QuireModel

/// What objects do while they are told that they will be saved.
struct SavePreparation {
  /// Objects that a save writes otherwise than before they were told, in no order, some twice.
  private(set) var changed: [ManagedObject] = []
  /// Whether other objects are to be saved than when the list of them was made.
  var isOutdated = false
  /// How many changes by primitive accessors are under way: of these nobody is told.
  var primitiveChangeCount = 0

  mutating func recordChange(of object: ManagedObject) {
    isOutdated = true
    if primitiveChangeCount == 0 { changed.append(object) }
  }

  /// The objects that have changed since the last call, each once, in the order of their places.
  mutating func takeChanged() -> [ManagedObject] {
    defer { changed = [] }
    return Set(changed).sorted { $0.referenceOrder < $1.referenceOrder }
  }
}

extension ManagedObjectContext {
  /// Lets objects do what they want done before they are saved, until none of them changes anything
  /// more, and validates them and the stores that they go to.
  ///
  /// - Parameter told: objects that have had their turn already.
  final func prepareSave(without told: Set<ManagedObject> = []) throws -> ContextSave {
    preparation = SavePreparation()
    defer { preparation = nil }
    var save = ContextSave(self)
    save.forEachObject { object in
      if !told.isEmpty, told.contains(object) { return }
      // What others did when they were told may have made it clean, or taken it away.
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
        if try haveObjectsStopped(), preparation?.isOutdated == false { return save }
      }
    }
    throw PersistenceError(
      .managedObjectContextLocking,
      "objects were still changing after willSave() had been called \(Self.willSaveLimit) times: "
        + "set a property there only if it has another value")
  }

  /// Tells those objects of the save that have changed since they were told.
  ///
  /// - Returns: whether there were none.
  private func haveObjectsStopped() throws -> Bool {
    processPendingChangesOfEvent()
    // Who observes the parent may change objects here, too.
    parent?.processPendingChanges()
    let changed = preparation?.takeChanged() ?? []
    for object in changed where object.context === self && object.hasChanges {
      object.willSave()
    }
    return changed.isEmpty
  }

  /// A property is about to change, and somebody wants to know.
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
  /// Whether a save has more to write, or something else, after the change.
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
      case .order(let order): return try members(slot) != order
      case .addition, .removal: return true
      }
    } catch {
      return true
    }
  }
}
