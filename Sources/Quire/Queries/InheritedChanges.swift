import QuireModel

/// The unsaved changes that a fetch in a child context considers besides the store's rows: its own,
/// and those of all its ancestors, the nearest first.
struct InheritedChanges {
  /// The child's own objects with changes.
  private(set) var pending: [ManagedObject] = []
  /// The child's own changed and deleted objects.
  private(set) var changed: [Reference: ManagedObject] = [:]
  /// The references of objects that ancestors have inserted or changed. They are evaluated in the
  /// parent's current state, as rows are; the child's objects may show an older state.
  private(set) var inherited: [Reference] = []
  /// The same, and the references of objects that ancestors have deleted.
  private(set) var hidden: Set<Reference> = []

  init<Result>(
    _ session: StoreSession, _ target: FetchTarget, _ request: FetchRequest<Result>
  ) throws {
    let context = session.context
    // The parent's pending delete rules and merges come first, as they may change more objects.
    context.parent?.processPendingChangesOfEvent()
    if request.includesPendingChanges {
      let changes = context.changes
      for object in changes.objects
      where Self.isHere(object, session) {
        if object.isPersistent { changed[object.reference] = object }
        // A save does not restore an object that is gone from the parent.
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

  /// Whether an object, of any context of the family, belongs to the session's store. An object
  /// that no store can take counts for the first store; the save reports why.
  private static func isHere(_ object: ManagedObject, _ session: StoreSession) -> Bool {
    guard session.context.hasSeveralStores else { return true }
    if let own = object.session { return own.identity == session.identity }
    guard let own = try? object.context?.targetSession(of: object) else {
      return session.position == 0
    }
    return own.identity == session.identity
  }
}
