import QuireModel
import QuireStorage

/// Enters what happens in a context with an undo manager.
///
/// A change of one slot is entered as the action that takes it back, on its side alone: of a
/// relationship both sides are entered, as both change. An action changes objects as anybody does,
/// so that what makes it again is entered in the same way. Deletion is taken back by itself, and so
/// is all that delete rules did; nothing of it is done by rules when it is made again.
///
/// Actions name objects, never places in the store, and what they were, never what the row says:
/// they hold across saves, after which there is another row.
///
/// What an attribute or a to-one relationship was, and how an ordered one was ordered, is entered
/// once in a group, at its first change.
final class UndoRecording: ContextObserver {
  struct Place: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  let manager: UndoManager
  private(set) weak var context: ManagedObjectContext?
  /// The slots that have changed in the manager's present group.
  private var changed: Set<Place> = []
  private var generation = 0
  var taken = Taken()
  /// Whether what changes now is nobody's change: it makes room for what others have saved.
  var isPaused = false
  /// While an object is taken away or brought back: whether that is for its insertion.
  var isOfInsertion: Bool?
  var performed = PerformedChanges()

  init(of context: ManagedObjectContext, with manager: UndoManager) {
    self.context = context
    self.manager = manager
  }

  func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      context?.report(error)
    }
  }

  // MARK: Entering

  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
    guard manager.isUndoRegistrationEnabled, !isPaused,
      let slot = object.binding.slot(named: property)
    else { return }
    // What an object sets when its row comes is no change.
    let trait = object.binding.traits[slot]
    if object.state.contains(.awaking), trait.attributeType != nil || trait.isTransient { return }
    attempt {
      switch change {
      case .value: try enterValue(slot, of: object)
      case .one:
        guard isFirstChange(slot, of: object) else { return }
        let former = try object.rawOne(slot)
        register { try $0.put(former, slot, object) }
      case .addition(let member):
        try enterOrder(slot, of: object)
        register { try $0.remove(member, slot, object) }
      case .removal(let member):
        try enterOrder(slot, of: object)
        register { try $0.add(member, slot, object) }
      case .order: try enterOrder(slot, of: object)
      }
    }
  }

  /// An unsaved value is about to be dropped.
  func willDiscard(_ slot: Int, of object: ManagedObject) {
    guard manager.isUndoRegistrationEnabled, object.binding.traits[slot].attributeType != nil else {
      return
    }
    attempt { try enterValue(slot, of: object) }
  }

  func didInsert(_ object: ManagedObject) {
    let isInsertion = isOfInsertion ?? true
    register { try $0.takeAway(object, isInsertion: isInsertion) }
  }

  /// Where it was saved, others have led to it before it was deleted, and are to do so when this
  /// and the deletion are taken back.
  func didRevive(_ object: ManagedObject) {
    let isInsertion = isOfInsertion ?? !object.isStored
    // A save that failed may have kept what the object was.
    taken.byObject[ObjectIdentifier(object)]?.taken?.forgetContent()
    register { try $0.takeAway(object, isInsertion: isInsertion) }
  }

  func didDelete(_ object: ManagedObject) {
    guard manager.isUndoRegistrationEnabled else { return }
    // Its row will be gone when its values are asked for. Where it is already, others have deleted
    // the object, and nothing brings it back.
    attempt { try object.fulfil() }
    if object.state.contains(.inaccessible) { return }
    let isInsertion = isOfInsertion ?? false
    let taken = takenObject(for: object)
    register { try $0.bringBack(taken, isInsertion: isInsertion) }
  }

  /// The same for all deletions of an object that has not left since the first: undoing comes
  /// through them one after the other, and each finds what it is now.
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
    let former = try object.rawMembers(slot)
    register { try $0.arrange(former, slot, object) }
  }

  private func isFirstChange(_ slot: Int, of object: ManagedObject) -> Bool {
    manager.openEvent()
    if generation != manager.generation { changed = [] }
    generation = manager.generation
    return changed.insert(Place(object: ObjectIdentifier(object), slot: slot)).inserted
  }

  // MARK: Objects that have left

  func forget(_ object: TakenObject) {
    let identifier = ObjectIdentifier(object.object)
    if taken.byObject[identifier]?.taken == nil { taken.byObject[identifier] = nil }
    if let place = object.place, taken.byPlace[place]?.taken == nil { taken.byPlace[place] = nil }
    guard !taken.byLoss.isEmpty else { return }
    for loss in object.losses {
      let place = Place(object: ObjectIdentifier(loss.object), slot: loss.slot)
      if taken.byLoss[place]?.taken == nil { taken.byLoss[place] = nil }
    }
  }

  /// An object is about to leave. One that others have deleted meanwhile, and that was read anew
  /// since, has nothing that it could come back with.
  func keepContent(of object: ManagedObject) {
    guard let taken = self.taken.byObject[ObjectIdentifier(object)]?.taken,
      !object.state.contains(.inaccessible)
    else { return }
    attempt { try taken.keepContent() }
    if let place = taken.place { self.taken.byPlace[place] = Taken.Entry(taken: taken) }
  }

  /// Whether undoing can bring back an object that has left.
  func keeps(_ object: ManagedObject) -> Bool {
    taken.byObject[ObjectIdentifier(object)]?.taken?.content != nil
  }

  func takenObject(at reference: Reference, in store: StoreIdentity) -> ManagedObject? {
    let place = GlobalReference(store: store, reference: reference)
    guard !taken.byPlace.isEmpty, let object = taken.byPlace[place]?.taken?.object,
      object.context == nil, object.reference == reference
    else { return nil }
    return object
  }

  /// Deleted objects are about to go, and with them what leads there from objects that nobody told.
  ///
  /// - Parameter asMerged: whether a merge has gone on from what this was called for before. It
  ///   leaves nothing of what was changed of deleted objects: those are kept as they were.
  func willCommit(_ save: ContextSave, asMerged: Bool = false) {
    guard !taken.byObject.isEmpty else { return }
    for part in save.parts {
      for object in part.deleted where !asMerged || !keeps(object) { keepContent(of: object) }
    }
    for part in save.parts {
      for item in part.inserted { recordLosses(of: item.object, part) }
      for object in part.touched { recordLosses(of: object, part) }
    }
  }

  private func recordLosses(of object: ManagedObject, _ save: SaveOperation) {
    guard !object.slots.isEmpty else { return }
    for slot in object.binding.storedRelationshipSlots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination):
        if let destination { recordLoss(of: destination, slot, object, nil, save) }
      case .many(let pending):
        for member in pending.order ?? pending.added {
          recordLoss(of: member, slot, object, pending.order, save)
        }
      }
    }
  }

  private func recordLoss(
    of destination: ManagedObject, _ slot: Int, _ object: ManagedObject, _ order: [ManagedObject]?,
    _ save: SaveOperation
  ) {
    guard !save.remains(destination),
      let lost = taken.byObject[ObjectIdentifier(destination)]?.taken
    else { return }
    lost.record(TakenObject.Loss(object: object, slot: slot, order: order))
    if !object.isToMany(slot) {
      taken.byLoss[Place(object: ObjectIdentifier(object), slot: slot)] = Taken.Entry(taken: lost)
    }
  }

  /// What a relationship was, before it led to an object that has left, is what it is again: that
  /// object does not take it back when it returns.
  func forgetLoss(of object: ManagedObject, _ slot: Int) {
    guard !taken.byLoss.isEmpty else { return }
    let place = Place(object: ObjectIdentifier(object), slot: slot)
    taken.byLoss.removeValue(forKey: place)?.taken?.forgetLoss(of: object, slot)
  }
}
