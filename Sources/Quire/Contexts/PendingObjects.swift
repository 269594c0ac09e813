/// The action of the next save for an object.
enum PendingChange {
  case insertion, update, deletion
}

/// The objects of a context that have unsaved changes. The context keeps them alive.
///
/// An object is in the list that its state names, and in one at most. Both are changed together, by
/// ``ManagedObject/setPending(_:)``; a save and a rollback, which end all changes, empty the lists
/// at once.
struct PendingObjects {
  private(set) var inserted = ObjectList()
  private(set) var updated = ObjectList()
  private(set) var deleted = ObjectList()
  /// Whether relationships of some may have changed, and not attributes alone.
  private(set) var mayHaveRelationships = false
  /// Deleted objects in the order of their deletion. The delete rules of the first `decidedCount`
  /// were applied.
  private var undecided: [ManagedObject] = []
  private var decidedCount = 0

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  var count: Int { inserted.objects.count + updated.objects.count + deleted.objects.count }

  var objects: [ManagedObject] { inserted.objects + updated.objects + deleted.objects }

  /// Puts an object into the list that its state names.
  mutating func insert(_ object: ManagedObject) {
    switch object.pendingChange {
    case .insertion:
      inserted.insert(object)
      mayHaveRelationships = true
    case .update: updated.insert(object)
    case .deletion: deleted.insert(object)
    case nil: break
    }
  }

  /// Removes an object from the list that its state names.
  mutating func remove(_ object: ManagedObject) {
    switch object.pendingChange {
    case .insertion: inserted.remove(object)
    case .update: updated.remove(object)
    case .deletion: deleted.remove(object)
    case nil: break
    }
  }

  /// Stores their positions in the lists in the objects again, after these were replaced.
  func restorePositions() {
    inserted.restorePositions()
    updated.restorePositions()
    deleted.restorePositions()
  }

  /// Whether ``PropertyReading/setPrimitiveValue(_:forKey:)`` has set one end of a relationship
  /// alone.
  var hasOneSidedChanges = false

  /// To be called when a relationship of any object has changed.
  mutating func recordRelationship() { mayHaveRelationships = true }

  mutating func decideLater(on object: ManagedObject) { undecided.append(object) }

  mutating func takeUndecided() -> ManagedObject? {
    guard decidedCount < undecided.count else {
      undecided = []
      decidedCount = 0
      return nil
    }
    defer { decidedCount += 1 }
    return undecided[decidedCount]
  }
}

extension ManagedObject {
  /// The action of the next save for the object; `nil` when it is clean.
  final var pendingChange: PendingChange? {
    if state.isDisjoint(with: .unsaved) { return nil }
    return state.contains(.inserted)
      ? .insertion : state.contains(.updated) ? .update : .deletion
  }

  /// Sets the action of the next save for the object, in the object's state and in the lists of its
  /// context.
  ///
  /// All changes of that state go through here, except those that end all changes of a context at
  /// once.
  final func setPending(_ change: PendingChange?) {
    if pendingChange == change { return }
    ofArena { arena in
      if arena.isObserved { arena.context?.pendingWillChange(of: self, to: change) }
      arena.withContext { $0.changes.remove(self) }
      state.subtract(.unsaved)
      switch change {
      case .insertion: state.insert(.inserted)
      case .update: state.insert(.updated)
      case .deletion: state.insert(.deleted)
      case nil: break
      }
      arena.withContext {
        $0.changes.insert(self)
        $0.linkGeneration &+= 1
      }
    }
  }
}

extension ManagedObjectContext {
  fileprivate final func pendingWillChange(of object: ManagedObject, to change: PendingChange?) {
    journal?.record(object)
    switch change {
    case .insertion, .deletion: preparation?.recordChange(of: object)
    // For an update, the change of the slot decides whether there is something to save.
    case .update, nil: preparation?.isOutdated = true
    }
  }
}
