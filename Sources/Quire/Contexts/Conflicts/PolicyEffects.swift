/// The effects of a merge policy on objects, besides what the save writes.
///
/// Observers are not notified during a merge, whose changes may still be taken back. They get these
/// after the save.
final class PolicyEffects {
  /// Objects that are gone: dropped new ones, and those that another save has deleted.
  private(set) var gone: Set<ManagedObject> = []
  /// Objects that were deleted here, and no longer are.
  private(set) var revived: Set<ManagedObject> = []
  /// Objects whose values may have changed.
  private(set) var refreshed: Set<ManagedObject> = []

  /// The objects that new ones gave way to.
  private var successors: [ManagedObject: ManagedObject] = [:]

  func recordSuccessor(of object: ManagedObject, _ survivor: ManagedObject) {
    successors[object] = survivor
  }

  /// Lets objects stand for those that gave way to them, when the save has been made.
  func settle() {
    for (object, next) in successors where object.context == nil {
      var survivor = next
      // One may have given way in turn; no object does so twice.
      while let next = successors[survivor] { survivor = next }
      guard let session = survivor.session, !survivor.reference.isTemporary else { continue }
      TemporaryIdentity.record(
        object.reference.key, savedAs: survivor.reference.key, of: survivor.entity,
        in: session.identity)
      object.giveWay(to: survivor)
    }
  }

  func recordGone(_ object: ManagedObject) { gone.insert(object) }
  func recordRevival(of object: ManagedObject) { revived.insert(object) }
  func recordRefresh(of object: ManagedObject) { refreshed.insert(object) }

  /// Notifies the observers of the context, and its children.
  func notifyObservers(of context: ManagedObjectContext) {
    func isThere(_ object: ManagedObject) -> Bool {
      object.isLive(in: context) && !object.state.contains(.inaccessible)
    }
    if let center = context.noticeCenter {
      for object in gone where !isThere(object) { center.didDelete(object) }
      for object in revived where isThere(object) { center.didRevive(object) }
      for object in refreshed where isThere(object) { center.didRefresh(object) }
      center.postEvent()
    }
    guard context.family != nil else { return }
    var references: [MergedReference] = []
    for object in gone.union(revived).union(refreshed) where !object.reference.isTemporary {
      guard let session = object.session else { continue }
      references.append(
        MergedReference(session: session, reference: object.reference, isInsertion: false))
    }
    context.notifyChildren(of: references)
  }
}
