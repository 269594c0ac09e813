/// The state of an object, to be restored.
struct ObjectMemento {
  let object: ManagedObject
  private let arena: ObjectArena
  private let row: Row?
  private let slots: [ManagedObject.Slot]
  private let state: ManagedObject.State

  init(_ object: ManagedObject) {
    self.object = object
    arena = object.arena
    // An object that is in `awakeFromFetch()` becomes a fault again, whose hook is called when it
    // is read again; unless it has changes to save.
    let isDoneAgain =
      object.state.contains(.awaking) && object.isStored
      && object.state.isDisjoint(with: .unsaved)
    row = isDoneAgain ? nil : object.row
    slots = isDoneAgain ? [] : object.slots.map(\.copy)
    state = isDoneAgain ? [] : object.state
  }

  /// Restores the object, except for its position in the lists of changes of its context.
  func restore() {
    object.arena = arena
    object.row = row
    object.takeSlots(slots)
    // Whether a hook runs at the moment is no part of the state.
    object.state = state.subtracting(.awaking).union(object.state.intersection(.awaking))
    if state.contains(.propagated) { object.context?.hidingCount &+= 1 }
  }
}

extension ManagedObject {
  /// Removes the object from a context that it was not in before.
  final func leave(_ context: ManagedObjectContext) {
    dropSlots()
    state.remove(.propagated)
    let wasInserted = isNew
    setPending(nil)
    if wasInserted { context.release(self) }
  }
}
