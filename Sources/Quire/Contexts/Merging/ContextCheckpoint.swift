/// All that a context and its objects hold, to come back to when conflicts cannot be resolved.
///
/// What objects do when they are told of the merge is theirs: of that nothing is taken back but
/// what it changes here.
struct ContextCheckpoint {
  private struct Entry {
    let object: ManagedObject
    let home: ObjectHome
    let row: Row?
    let slots: [ManagedObject.Slot]
    let state: ManagedObject.State
    let listPlace: Int32
  }

  private let entries: [Entry]
  private let changes: ManagedObjectContext.Changes
  private let watched: Set<ManagedObject>
  private let views: StoreViews
  private let undo: UndoCheckpoint?

  init(_ context: ManagedObjectContext) {
    entries = context.registeredObjects.map { object in
      Entry(
        object: object, home: object.home, row: object.row,
        slots: object.slots.map(\.independent),
        state: object.state, listPlace: object.listPlace)
    }
    changes = context.changes
    watched = context.watched
    views = StoreViews(context.sessions) { $0.view }
    undo = UndoCheckpoint(context)
  }

  func restore(_ context: ManagedObjectContext) {
    let known = Set(entries.map(\.object))
    for object in context.registeredObjects where !known.contains(object) {
      object.listPlace = .max
      object.dropSlots()
      object.state.subtract([.updated, .deleted, .propagated])
      if object.isInserted {
        object.state.remove(.inserted)
        context.release(object)
      }
    }
    for entry in entries {
      let object = entry.object
      object.home = entry.home
      object.row = entry.row
      object.takeSlots(entry.slots)
      object.state = entry.state
      object.listPlace = entry.listPlace
      context.enter(object)
    }
    context.changes = changes
    context.watched = watched
    for session in context.sessions { session.view = views[session] }
    undo?.restore()
  }
}

extension ManagedObject.Slot {
  /// The same content, which changes of the object do not reach.
  fileprivate var independent: Self {
    guard case .many(let pending) = self else { return self }
    let copy = PendingMembers()
    copy.added = pending.added
    copy.removed = pending.removed
    copy.order = pending.order
    return .many(copy)
  }
}
