/// All that a context and its objects hold, to come back to when conflicts cannot be resolved.
///
/// Costs by what the context knows; where every change is told, ``ContextJournal`` costs less.
///
/// What objects do when they are told of the merge is theirs: of that nothing is taken back but
/// what it changes here.
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
