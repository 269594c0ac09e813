/// All that a context and its objects hold, to come back to when conflicts cannot be resolved.
///
/// Costs by what the context knows; where every change is told, ``ContextJournal`` costs less.
///
/// What objects do when they are told of the merge is theirs: of that nothing is taken back but
/// what it changes here.
struct ContextCheckpoint {
  private let objects: [ObjectCheckpoint]
  private let changes: PendingObjects
  private let watched: Set<ManagedObject>
  private let views: StoreViews
  private let undo: UndoCheckpoint?

  init(_ context: ManagedObjectContext) {
    objects = context.allObjects.map { ObjectCheckpoint($0) }
    changes = context.changes
    watched = context.watched
    views = StoreViews(context.sessions) { $0.view }
    undo = UndoCheckpoint(context)
  }

  func restore(_ context: ManagedObjectContext) {
    let known = Set(objects.map { ObjectIdentifier($0.object) })
    for object in context.allObjects {
      object.listPlace = .max
      if !known.contains(ObjectIdentifier(object)) { object.leave(context) }
    }
    for checkpoint in objects {
      checkpoint.restore()
      checkpoint.object.listPlace = .max
      context.enter(checkpoint.object)
    }
    context.changes = changes
    context.changes.restorePositions()
    context.watched = watched
    for session in context.sessions { session.view = views[session] }
    undo?.restore()
  }
}
