/// What an object holds, to come back to.
struct ObjectMemento {
  let object: ManagedObject
  private let arena: ObjectArena
  private let row: Row?
  private let slots: [ManagedObject.Slot]
  private let state: ManagedObject.State

  init(_ object: ManagedObject) {
    self.object = object
    arena = object.arena
    // What an object does when its row comes is done again when the row comes again, unless it is
    // to be saved.
    let isDoneAgain =
      object.state.contains(.awaking) && object.isStored
      && object.state.isDisjoint(with: .unsaved)
    row = isDoneAgain ? nil : object.row
    slots = isDoneAgain ? [] : object.slots.map(\.copy)
    state = isDoneAgain ? [] : object.state
  }

  /// Gives the object back what it held, but for its place in the changes of its context.
  func restore() {
    object.arena = arena
    object.row = row
    object.takeSlots(slots)
    // Whether it is being told of something at the moment is no part of what it held.
    object.state = state.subtracting(.awaking).union(object.state.intersection(.awaking))
  }
}

extension ManagedObject {
  /// Leaves a context that it was not in before.
  final func leave(_ context: ManagedObjectContext) {
    dropSlots()
    state.remove(.propagated)
    let wasInserted = isInserted
    setPending(nil)
    if wasInserted { context.release(self) }
  }
}
