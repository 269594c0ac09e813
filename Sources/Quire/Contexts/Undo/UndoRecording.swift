import QuireModel
import QuireStorage

/// Registers the changes of a context with an undo manager.
///
/// A change of one slot is registered as the action that undoes it, on its side alone: of a
/// relationship both sides are registered, as both change. An action changes objects by the same
/// functions as a program does, so that the action to redo it is registered in the same way. A
/// deletion and each effect of its delete rules have actions of their own; redoing a deletion
/// applies no rules.
///
/// Actions refer to objects, never to references, and have former values, never the row's: they
/// stay valid across saves, which write other rows.
///
/// The former value of an attribute or a to-one relationship, and the former order of an ordered
/// one, are registered once in a group, at the first change.
final class UndoRecording: UndoRecorder {
  struct SlotKey: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  let manager: UndoManager
  private(set) weak var context: ManagedObjectContext?
  /// The slots that were changed in the manager's current group.
  private var changed: Set<SlotKey> = []
  private var generation = 0
  var taken = Taken()
  /// Whether changes are not recorded for now: they make room for what other contexts have saved.
  var isPaused = false
  /// While an object is taken out or put back: whether that undoes or redoes its insertion, and not
  /// its deletion.
  var isOfInsertion: Bool?
  var performed = PerformedChanges()
  /// How often the context has read another state, or objects anew.
  private var readCount = 0

  init(of context: ManagedObjectContext, with manager: UndoManager) {
    self.context = context
    self.manager = manager
  }

  func continueEvent() { manager.continueEvent() }
  func endEvent() { manager.endEvent() }
  func removeAllActions() { manager.removeAllActions() }

  func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      context?.report(error)
    }
  }

  // MARK: Recording

  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
    guard manager.isUndoRegistrationEnabled, !isPaused,
      let slot = object.binding.slot(named: property)
    else { return }
    // What `awakeFromFetch()` sets is no change.
    let trait = object.binding.traits[slot]
    if object.state.contains(.awaking), trait.attributeType != nil || trait.isTransient { return }
    attempt {
      switch change {
      case .value: try enterValue(slot, of: object)
      case .one:
        guard isFirstChange(slot, of: object) else { return }
        let former = former(try object.rawOne(slot), slot, of: object)
        register { try $0.put(former, slot, object) }
      case .addition(let member):
        try enterOrder(slot, of: object)
        register { try $0.remove(member, slot, object) }
      case .removal(let member):
        try enterOrder(slot, of: object)
        let count = readCount
        register { try $0.add(member, slot, object, readCount: count) }
      case .order: try enterOrder(slot, of: object)
      }
    }
  }

  /// Records an unsaved value that is about to be dropped, or that a relationship led to an object
  /// that has left the context.
  func willDiscard(_ slot: Int, of object: ManagedObject) {
    guard manager.isUndoRegistrationEnabled else { return }
    if object.binding.traits[slot].attributeType == nil {
      recordLosses(slot, of: object) { $0.context == nil && keeps($0) }
    } else {
      attempt { try enterValue(slot, of: object) }
    }
  }

  func didInsert(_ object: ManagedObject) {
    let isInsertion = isOfInsertion ?? true
    register { try $0.takeAway(object, isInsertion: isInsertion) }
  }

  /// A stored object was the destination of others before it was deleted; undoing this and the
  /// deletion restores that. So its revival is no insertion.
  func didRevive(_ object: ManagedObject) {
    let isInsertion = isOfInsertion ?? !object.isStored
    // A save that failed may have kept the object's content.
    taken.byObject[ObjectIdentifier(object)]?.taken?.forgetContent()
    register { try $0.takeAway(object, isInsertion: isInsertion) }
  }

  func didDelete(_ object: ManagedObject) {
    guard manager.isUndoRegistrationEnabled else { return }
    // Read now, as the row will be gone when the values are needed. If it is gone already, another
    // context has deleted the object, and the deletion cannot be undone.
    attempt { try object.fulfil() }
    if object.state.contains(.inaccessible) { return }
    let isInsertion = isOfInsertion ?? false
    let taken = takenObject(for: object)
    let count = readCount
    register { try $0.bringBack(taken, isInsertion: isInsertion, readCount: count) }
  }

  /// To be called when the context reads another state of a store, or objects anew.
  func recordRead() { readCount += 1 }

  /// Whether the context has read something since that another one may have saved.
  func hasRead(since count: Int) -> Bool {
    readCount != count || context?.sessions.contains { $0.viewState == 0 } ?? true
  }

  /// The record of a deleted object. All deletions of an object that has not left the context since
  /// the first share one: they are undone one after the other, each with the present content.
  private func takenObject(for object: ManagedObject) -> TakenObject {
    let former = taken.byObject[ObjectIdentifier(object)]?.taken
    if let former, former.content == nil { return former }
    let new = TakenObject(object, self)
    taken.byObject[ObjectIdentifier(object)] = Taken.Entry(taken: new)
    return new
  }

  func didSave(_ changes: SavedChanges) {}

  func register(_ action: @escaping (UndoRecording) throws -> Void) {
    guard manager.isUndoRegistrationEnabled else { return }
    manager.openEvent()
    manager.registerUndo(withTarget: self, handler: action)
    context?.awaitEndOfEvent()
  }

  private func enterValue(_ slot: Int, of object: ManagedObject) throws {
    guard isFirstChange(slot, of: object) else { return }
    let former = try object.attribute(slot)
    register { try $0.put(former, slot, object) }
  }

  func enterOrder(_ slot: Int, of object: ManagedObject) throws {
    guard object.binding.relationship(slot).isOrdered, isFirstChange(slot, of: object) else {
      return
    }
    let former = try object.listedMembers(slot)
    register { try $0.arrange(former, slot, object) }
  }

  private func isFirstChange(_ slot: Int, of object: ManagedObject) -> Bool {
    manager.openEvent()
    if generation != manager.generation { changed = [] }
    generation = manager.generation
    return changed.insert(SlotKey(object: ObjectIdentifier(object), slot: slot)).inserted
  }

  // MARK: Objects that have left

  func forget(_ object: TakenObject) {
    let identifier = ObjectIdentifier(object.object)
    if taken.byObject[identifier]?.taken == nil { taken.byObject[identifier] = nil }
    if let reference = object.globalReference, taken.byReference[reference]?.taken == nil {
      taken.byReference[reference] = nil
    }
    guard !taken.byLoss.isEmpty else { return }
    for loss in object.losses {
      let key = SlotKey(object: ObjectIdentifier(loss.object), slot: loss.slot)
      if taken.byLoss[key]?.taken == nil { taken.byLoss[key] = nil }
    }
  }

  /// Keeps the content of an object that is about to leave the context, unless another context has
  /// deleted it and that was noticed: then there is no content to restore.
  func keepContent(of object: ManagedObject) {
    guard let taken = self.taken.byObject[ObjectIdentifier(object)]?.taken,
      !object.state.contains(.inaccessible)
    else { return }
    attempt { try taken.keepContent() }
    if let reference = taken.globalReference {
      self.taken.byReference[reference] = Taken.Entry(taken: taken)
    }
  }

  /// Whether undoing can bring back an object that has left.
  func keeps(_ object: ManagedObject) -> Bool {
    taken.byObject[ObjectIdentifier(object)]?.taken?.content != nil
  }

  func takenObject(at reference: Reference, in store: StoreIdentity) -> ManagedObject? {
    let globalReference = GlobalReference(store: store, reference: reference)
    guard !taken.byReference.isEmpty,
      let object = taken.byReference[globalReference]?.taken?.object,
      object.context == nil, object.reference == reference
    else { return nil }
    return object
  }

  /// Keeps the content of objects that a save is about to delete, and the relationships that lead
  /// to them from objects whose side the deletion did not change.
  ///
  /// - Parameter asMerged: whether this was called for the save before, and a merge has changed it
  ///   since. The merge has dropped the changes of deleted objects, so what was kept then stays.
  func willCommit(asMerged: Bool) {
    guard !taken.byObject.isEmpty, let changes = context?.changes else { return }
    for object in changes.deleted.sorted where !asMerged || !keeps(object) {
      keepContent(of: object)
    }
    for object in changes.inserted.sorted { recordLosses(of: object) }
    for object in changes.updated.sorted { recordLosses(of: object) }
  }

  private func recordLosses(of object: ManagedObject) {
    guard !object.slots.isEmpty else { return }
    for slot in object.binding.storedRelationshipSlots {
      recordLosses(slot, of: object) { $0.isDeleted || $0.context == nil }
    }
  }

  private func recordLosses(
    _ slot: Int, of object: ManagedObject, where isLost: (ManagedObject) -> Bool
  ) {
    switch object.slots[slot] {
    case .unchanged, .value: break
    case .one(let destination):
      if let destination, isLost(destination) { recordLoss(of: destination, slot, object, nil) }
    case .many(let pending):
      for member in pending.order ?? pending.added where isLost(member) {
        recordLoss(of: member, slot, object, pending.order)
      }
    }
  }

  private func recordLoss(
    of destination: ManagedObject, _ slot: Int, _ object: ManagedObject, _ order: [ManagedObject]?
  ) {
    guard let lost = taken.byObject[ObjectIdentifier(destination)]?.taken else { return }
    lost.record(TakenObject.Loss(object: object, slot: slot, order: order))
    if !object.isToMany(slot) {
      taken.byLoss[SlotKey(object: ObjectIdentifier(object), slot: slot)] = Taken.Entry(taken: lost)
    }
  }

  /// The destination that undoing a change of a to-one slot puts back: what is there, unless a save
  /// has cleared it, as the destination's deletion was saved. From now on the action has the
  /// destination: it may be performed before the object returns.
  func former(
    _ present: ManagedObject?, _ slot: Int, of object: ManagedObject
  ) -> ManagedObject? {
    guard present?.context == nil, !taken.byLoss.isEmpty else { return present }
    let key = SlotKey(object: ObjectIdentifier(object), slot: slot)
    guard let lost = taken.byLoss.removeValue(forKey: key)?.taken else { return present }
    lost.forgetLoss(of: object, slot)
    return lost.object
  }

  /// Drops the record of a relationship to an object that has left, as undoing has set the
  /// relationship to its former destination: the object does not get it back when it returns.
  func forgetLoss(of object: ManagedObject, _ slot: Int) {
    guard !taken.byLoss.isEmpty else { return }
    let key = SlotKey(object: ObjectIdentifier(object), slot: slot)
    taken.byLoss.removeValue(forKey: key)?.taken?.forgetLoss(of: object, slot)
  }
}
