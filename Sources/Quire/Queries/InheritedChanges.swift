import QuireModel

/// What a fetch in a child context finds elsewhere than in the store's rows: its own changes, and
/// those of all its ancestors, the nearest first.
struct InheritedChanges {
  /// The child's own objects with changes.
  private(set) var pending: [ManagedObject] = []
  /// The child's own changed objects.
  private(set) var changed: [Reference: ManagedObject] = [:]
  /// Where ancestors have inserted and changed objects. As rows are, these are asked as the parent
  /// has them now; the child's objects may show what they were when they were read.
  private(set) var inherited: [Reference] = []
  /// The same, and where ancestors have deleted objects.
  private(set) var hidden: Set<Reference> = []

  init<Result>(
    _ session: StoreSession, _ target: FetchTarget, _ request: FetchRequest<Result>
  ) throws {
    let context = session.context
    // Its rules may delete more; and what it has merged is to be seen.
    context.parent?.settlePendingChanges()
    if request.includesPendingChanges {
      let changes = context.changes
      for object in changes.objects
      where Self.isHere(object, session) {
        if object.isPersistent { changed[object.reference] = object }
        // What is gone from the parent, a save does not bring back.
        if !object.isDeleted, !object.state.contains(.inaccessible),
          target.paths[object.binding.index] != nil
        {
          pending.append(object)
        }
      }
    }
    var ancestor = context.parent
    while let current = ancestor {
      let changes = current.changes
      for object in changes.objects {
        guard target.paths[object.binding.index] != nil, Self.isHere(object, session),
          changed[object.reference] == nil, hidden.insert(object.reference).inserted,
          !object.isDeleted
        else { continue }
        inherited.append(object.reference)
      }
      ancestor = current.parent
    }
  }

  /// Whether an object, of any context of the family, is one of the session's store. One that can
  /// be saved nowhere is found in the first: the save will say why.
  private static func isHere(_ object: ManagedObject, _ session: StoreSession) -> Bool {
    guard session.context.hasSeveralStores else { return true }
    if let own = object.session { return own.identity == session.identity }
    guard let own = try? object.context?.targetSession(of: object) else {
      return session.place == 0
    }
    return own.identity == session.identity
  }
}
