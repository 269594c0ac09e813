/// What a merge policy has made of objects, beside what the save writes.
///
/// A merge tells no observer: what it changes is nobody's change, and may still be taken back. Who
/// shows objects has to know in the end.
struct PolicyEffects {
  /// Those that are not there any more: dropped new ones, and those that others have deleted.
  private(set) var gone: Set<ManagedObject> = []
  /// Those that were deleted here, and are not.
  private(set) var revived: Set<ManagedObject> = []
  /// Those that may show something else than before.
  private(set) var refreshed: Set<ManagedObject> = []

  mutating func recordGone(_ object: ManagedObject) { gone.insert(object) }
  mutating func recordRevival(of object: ManagedObject) { revived.insert(object) }
  mutating func recordRefresh(of object: ManagedObject) { refreshed.insert(object) }

  /// Tells those who observe the context, and its children.
  func notifyObservers(of context: ManagedObjectContext) {
    func isThere(_ object: ManagedObject) -> Bool {
      object.context === context && !object.isDeleted && !object.state.contains(.inaccessible)
    }
    if let center = context.noticeCenter {
      for object in gone where !isThere(object) { center.didDelete(object) }
      for object in revived where isThere(object) { center.didRevive(object) }
      for object in refreshed where isThere(object) { center.didRefresh(object) }
      center.postEvent()
    }
    guard context.family != nil else { return }
    var places: [MergedReference] = []
    for object in gone.union(revived).union(refreshed) where !object.reference.isTemporary {
      guard let session = object.session else { continue }
      places.append(
        MergedReference(session: session, reference: object.reference, isInsertion: false))
    }
    context.notifyChildren(of: places)
  }
}
