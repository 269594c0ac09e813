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
  private struct Place: Hashable {
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
  private var isOfInsertion: Bool?
  private var performed = PerformedChanges()

  init(of context: ManagedObjectContext, with manager: UndoManager) {
    self.context = context
    self.manager = manager
  }

  private func attempt(_ body: () throws -> Void) {
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

  func didRevive(_ object: ManagedObject) { didInsert(object) }

  func didDelete(_ object: ManagedObject) {
    guard manager.isUndoRegistrationEnabled else { return }
    // Its row will be gone when its values are asked for.
    attempt { try object.fulfil() }
    let taken = TakenObject(object, self, isInsertion: isOfInsertion ?? false)
    self.taken.byObject[ObjectIdentifier(object)] = Taken.Entry(taken: taken)
    register { try $0.bringBack(taken) }
  }

  func didSave(_ changes: SavedChanges) {}

  private func register(_ action: @escaping (UndoRecording) throws -> Void) {
    guard manager.isUndoRegistrationEnabled else { return }
    manager.openEvent()
    manager.registerUndo(withTarget: self, handler: action)
  }

  private func enterValue(_ slot: Int, of object: ManagedObject) throws {
    guard isFirstChange(slot, of: object) else { return }
    let former = try object.attribute(slot)
    register { try $0.put(former, slot, object) }
  }

  private func enterOrder(_ slot: Int, of object: ManagedObject) throws {
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
  }

  /// An object is about to leave.
  func keepContent(of object: ManagedObject) {
    guard let taken = self.taken.byObject[ObjectIdentifier(object)]?.taken else { return }
    attempt { try taken.keepContent() }
    if let place = taken.place { self.taken.byPlace[place] = Taken.Entry(taken: taken) }
  }

  func takenObject(at reference: Reference, in store: StoreIdentity) -> ManagedObject? {
    let place = StorePlace(store: store, reference: reference)
    guard !taken.byPlace.isEmpty, let object = taken.byPlace[place]?.taken?.object,
      object.context == nil, object.reference == reference
    else { return nil }
    return object
  }

  /// Deleted objects are about to go, and with them what leads there from objects that nobody told.
  func willCommit(_ save: ContextSave) {
    guard !taken.byObject.isEmpty else { return }
    for part in save.parts { for object in part.deleted { keepContent(of: object) } }
    for part in save.parts {
      for item in part.inserted { noteLosses(of: item.object, part) }
      for object in part.touched { noteLosses(of: object, part) }
    }
  }

  private func noteLosses(of object: ManagedObject, _ save: SaveOperation) {
    guard !object.slots.isEmpty else { return }
    for slot in object.binding.storedRelationshipSlots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination):
        if let destination { noteLoss(of: destination, slot, object, nil, save) }
      case .many(let pending):
        for member in pending.order ?? pending.added {
          noteLoss(of: member, slot, object, pending.order, save)
        }
      }
    }
  }

  private func noteLoss(
    of destination: ManagedObject, _ slot: Int, _ object: ManagedObject, _ order: [ManagedObject]?,
    _ save: SaveOperation
  ) {
    guard !save.remains(destination) else { return }
    taken.byObject[ObjectIdentifier(destination)]?.taken?.note(
      TakenObject.Loss(object: object, slot: slot, order: order))
  }

  // MARK: Performing

  var isBusy: Bool { context.map { $0.isSaving || $0.isProcessingChanges } ?? false }

  func settle() { context?.settlePendingChanges() }

  /// All actions of a group were performed: objects are told, and those that are as they were
  /// saved are clean.
  func finishPerforming() {
    guard let context else { return }
    let performed = self.performed
    self.performed = PerformedChanges()
    attempt { try performed.makeAgree(in: context) }
    performed.tell(in: context)
    context.settlePendingChanges()
    performed.cleanUp(in: context)
  }

  /// Calls `body` while a slot of an object can be changed: in its context, or as what is kept of
  /// it. What is kept tells no observer, so its change is entered here.
  private func change(
    _ slot: Int, of object: ManagedObject, _ body: () throws -> Void
  ) throws {
    if let context, object.context === context {
      performed.note(object, .undoUpdate)
      try body()
    } else if object.context == nil,
      let taken = self.taken.byObject[ObjectIdentifier(object)]?.taken,
      let former = taken.copy(of: slot)
    {
      try taken.withContent(body)
      if let present = taken.copy(of: slot) { enter(former, present, slot, of: object) }
    }
  }

  /// Enters the change of a slot that is kept, of which no observer is told. Never its content: by
  /// the time this is taken back, the object may be in its context again.
  private func enter(
    _ former: ManagedObject.Slot, _ present: ManagedObject.Slot, _ slot: Int,
    of object: ManagedObject
  ) {
    switch (former, present) {
    case (.value(let value), _): register { try $0.put(value, slot, object) }
    case (.one(let destination), _): register { try $0.put(destination, slot, object) }
    case (.many(let former), .many(let present)):
      let (former, order) = (former.order ?? former.added, former.order)
      let present = present.order ?? present.added
      let (isFormer, isPresent) = (Set(former), Set(present))
      // What was entered first is taken back last.
      if let order, order != present { register { try $0.arrange(order, slot, object) } }
      for member in present where !isFormer.contains(member) {
        register { try $0.remove(member, slot, object) }
      }
      for member in former where !isPresent.contains(member) {
        register { try $0.add(member, slot, object) }
      }
    case (.many, _), (.unchanged, _): break
    }
  }

  private func put(_ value: AttributeValue?, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) { try object.put(value, in: slot) }
  }

  private func put(_ destination: ManagedObject?, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      performed.note(object, slot, formerly: try object.rawOne(slot))
      try object.put(destination, in: slot)
    }
  }

  private func add(_ member: ManagedObject, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      if try !object.holds(member, slot) { try object.pendingAdd(member, slot) }
    }
  }

  private func remove(_ member: ManagedObject, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      if try object.holds(member, slot) { try object.pendingRemove(member, slot) }
    }
  }

  /// Members that the order does not have, as others have added them, go behind.
  private func arrange(_ order: [ManagedObject], _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      let current = try object.rawMembers(slot)
      let (isCurrent, isOrdered) = (Set(current), Set(order))
      let arranged =
        order.filter { isCurrent.contains($0) || $0.context == nil }
        + current.filter { !isOrdered.contains($0) }
      if arranged != current { try object.putOrder(arranged, in: slot) }
    }
  }

  private func takeAway(_ object: ManagedObject, isInsertion: Bool) throws {
    guard let context, object.context === context, !object.isDeleted else { return }
    // Somebody may have led here while nothing was entered.
    if isInsertion { try object.dropBacklinks() }
    performed.note(object, .undoInsertion)
    isOfInsertion = isInsertion
    defer { isOfInsertion = nil }
    context.takeAway(object)
  }

  private func bringBack(_ taken: TakenObject) throws {
    guard let context else { return }
    let object = taken.object
    isOfInsertion = taken.isInsertion
    defer { isOfInsertion = nil }
    if object.context === context {
      guard object.isDeleted else { return }
      context.revive(object)
    } else {
      guard object.context == nil, let content = taken.content else { return }
      try context.bringBack(taken, content)
      taken.content = nil
      for loss in taken.losses { try restore(loss, of: object) }
      try object.makeAgree()
    }
    performed.note(object, .undoDeletion)
  }

  private func restore(_ loss: TakenObject.Loss, of destination: ManagedObject) throws {
    let (object, slot) = (loss.object, loss.slot)
    if !object.isToMany(slot) {
      try change(slot, of: object) {
        if try object.rawOne(slot) == nil { try object.put(destination, in: slot) }
      }
    } else {
      try add(destination, slot, object)
      if let order = loss.order { try arrange(order, slot, object) }
    }
  }
}
