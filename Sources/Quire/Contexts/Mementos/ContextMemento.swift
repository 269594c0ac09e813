/// The state of a context and its objects, to be restored when conflicts cannot be resolved.
///
/// The cost grows with the number of registered objects; where every change is recorded,
/// ``ContextJournal`` costs less.
///
/// Only changes in the context are restored, not other effects of hooks that a merge calls.
struct ContextMemento {
  private let objects: [ObjectMemento]
  private let changes: PendingObjects
  private let watched: Set<ManagedObject>
  private let views: StoreViews
  private let undo: UndoMemento?

  init(_ context: ManagedObjectContext) {
    objects = context.allObjects.map { ObjectMemento($0) }
    changes = context.changes
    watched = context.watched
    views = StoreViews(context.sessions) { $0.view }
    undo = UndoMemento(context)
  }

  func restore(_ context: ManagedObjectContext) {
    let known = Set(objects.map { ObjectIdentifier($0.object) })
    for object in context.allObjects {
      object.listPosition = .max
      if !known.contains(ObjectIdentifier(object)) { object.leave(context) }
    }
    for memento in objects {
      memento.restore()
      memento.object.listPosition = .max
      context.enter(memento.object)
    }
    context.changes = changes
    context.changes.restorePositions()
    context.watched = watched
    for session in context.sessions { session.view = views[session] }
    undo?.restore()
  }
}
