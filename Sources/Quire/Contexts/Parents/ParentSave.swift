import QuireModel
import QuireStorage

/// One save of a child context: its changes to the objects of the parent.
///
/// The parent may have changed relationships meanwhile. So each change is repeated in the parent by
/// the functions that keep both sides of a relationship in agreement. The changes of the child do
/// not contradict each other, so their order makes no difference; deletions come last, when no
/// relationship is to refer to the deleted objects any more.
struct ParentSave {
  let save: ContextSave
  let child: ManagedObjectContext
  let parent: ManagedObjectContext

  /// Passes all changes to the parent, whose observers are notified later, when the child is clean.
  /// The child records what is changed in it meanwhile, which the parent would not get.
  ///
  /// - Throws: what reading the parent's objects throws;
  ///   ``PersistenceError/Code/managedObjectContextLocking`` when a hook or an observer of the
  ///   parent changes what is being passed. The parent is then as it was.
  func write() throws {
    // Earlier changes of the parent are an event of their own.
    parent.processPendingChanges()
    let journal = ContextJournal(parent)
    let (event, undo) = (parent.noticeCenter?.event, UndoMemento(parent))
    parent.journal = journal
    do {
      defer { parent.journal = nil }
      try parent.during(.saving) { try handOver() }
      if child.preparation?.isOutdated ?? true { throw child.wasMeddledWith }
    } catch {
      journal.restore(parent)
      if let event { parent.noticeCenter?.begin(event) }
      undo?.restore()
      throw error
    }
  }

  private func handOver() throws {
    try watch()
    for part in save.parts { for item in part.inserted { try insert(item.object, part) } }
    for part in save.parts {
      for update in part.updated { try putAttributes(of: update, part) }
    }
    for part in save.parts {
      for object in part.touched { try putTransients(of: object) }
    }
    for part in save.parts {
      for item in part.inserted {
        try putRelationships(of: item.object, item.object.binding.storedRelationshipSlots)
      }
      for update in part.updated {
        try putRelationships(of: update.object, update.changedSlots)
      }
      for object in part.deleted {
        try putRelationships(of: object, object.slotsThatRulesFollow)
      }
    }
    for part in save.parts {
      for object in part.deleted {
        guard let counterpart = try partner(of: object) else { continue }
        try rest(counterpart, on: object)
        parent.delete(counterpart)
      }
    }
    DeleteRules(parent).apply()
  }

  /// The parent's object for one of the child's; `nil` when the parent has none, or has deleted it.
  private func partner(of object: ManagedObject) throws -> ManagedObject? {
    if object.reference.isTemporary {
      return try parent.familyObject(object.reference).flatMap { $0.isDeleted ? nil : $0 }
    }
    guard let identity = object.session?.identity ?? object.storage?.identity else { return nil }
    return try partner(at: object.reference, in: identity)
  }

  private func partner(
    at reference: Reference, in store: StoreIdentity
  ) throws -> ManagedObject? {
    guard let session = parent.session(with: store) else { return nil }
    if let object = session.registered(reference) { return object.isDeleted ? nil : object }
    return try session.currentView().contains(reference) ? session.object(at: reference) : nil
  }

  /// Makes the parent compare the objects that the child was to compare.
  private func watch() throws {
    for object in child.watched where !object.hasChanges {
      guard let counterpart = try partner(of: object) else { continue }
      try rest(counterpart, on: object)
      parent.detectConflicts(for: counterpart)
    }
  }

  // MARK: New objects

  private func insert(_ object: ManagedObject, _ part: SaveOperation) throws {
    let counterpart: ManagedObject
    if let former = try formerCounterpart(of: object, part) {
      counterpart = former
      if former.isDeleted {
        parent.revive(former)
        // The deletion has changed the other sides only, and the child has all destinations.
        try former.endLinks()
      }
      for slot in object.slots.indices where object.binding.traits[slot].attributeType != nil {
        try counterpart.put(try object.attribute(slot), in: slot)
      }
    } else {
      guard let coordinator = parent.persistentStoreCoordinator else { return }
      counterpart = coordinator.classes.makeObject(
        ObjectArena(object.binding), at: object.reference)
      let content = zip(object.slots.indices, object.slots).map {
        slot, content -> ManagedObject.Slot in
        if case .value = content { return content }
        return object.binding.traits[slot].isTransient
          ? object.binding.defaultValues[slot].map { .value($0) } ?? .unchanged : .unchanged
      }
      counterpart.takeSlots(content)
      if object.isPersistent { return try bringBack(counterpart, object, part) }
      // `awakeFromInsert()` was called in the child, for what is the same object.
      counterpart.state.insert(.awoken)
      try parent.adopt(counterpart)
    }
    passOn(object)
  }

  /// The parent's object for one whose deletion was passed to it, and was then undone in the child.
  private func formerCounterpart(
    of object: ManagedObject, _ part: SaveOperation
  ) throws -> ManagedObject? {
    if object.reference.isTemporary { return try parent.familyObject(object.reference) }
    guard let session = parent.session(with: part.session.identity) else { return nil }
    if let former = session.registered(object.reference) { return former }
    // The parent has dropped the deletion, and nobody holds the object.
    let isThere = try session.currentView().contains(object.reference)
    return isThere ? try session.object(at: object.reference) : nil
  }

  /// Brings an object back whose deletion the parent has saved as well, with its former reference.
  private func bringBack(
    _ counterpart: ManagedObject, _ object: ManagedObject, _ part: SaveOperation
  ) throws {
    guard let session = parent.session(with: part.session.identity), let storage = object.storage
    else { return }
    parent.journal?.recordInsertion(of: counterpart)
    counterpart.arena = session.arena(of: storage)
    counterpart.state = [.awoken, .returning]
    session.formerVersions[object.reference] = object.version
    counterpart.setPending(.insertion)
    parent.enter(counterpart)
    for observer in parent.audience { observer.didInsert(counterpart) }
  }

  /// Passes on the store that a new object was assigned to, and the ID that it was promised.
  private func passOn(_ object: ManagedObject) {
    guard let context = object.context else { return }
    if let store = context.assignedStores[object.reference] {
      parent.assignedStores[object.reference] = store
    }
    if let promised = context.promisedIDs.reference(of: object.reference) {
      parent.promisedIDs.promise(promised.reference, to: object.reference, in: promised.store)
    }
  }

  // MARK: Changes

  /// Gives the parent's fault the row that the child's changes were made to, so that the parent's
  /// save compares that version with the store's.
  private func rest(_ counterpart: ManagedObject, on object: ManagedObject) throws {
    guard counterpart.isUnread, let row = object.row, !row.isEncoded,
      object.context?.family?.outdated.contains(ObjectIdentifier(object)) != true
    else { return }
    parent.journal?.record(counterpart)
    counterpart.fulfil(with: row.bytes)
    guard let session = counterpart.session else { return }
    if try session.currentView().row(counterpart.reference)?.version != counterpart.version {
      session.recordOlderRow()
    }
  }

  private func putAttributes(of update: PendingUpdate, _ part: SaveOperation) throws {
    let object = update.object
    guard let counterpart = try partner(of: object) else { return }
    try rest(counterpart, on: object)
    for slot in update.changedSlots where object.binding.traits[slot].attributeType != nil {
      try counterpart.put(try object.attribute(slot), in: slot)
    }
  }

  /// Hands on the transient values that were set in the child.
  private func putTransients(of object: ManagedObject) throws {
    guard !object.isDeleted, !object.slots.isEmpty else { return }
    for slot in object.slots.indices where object.binding.traits[slot].isTransient {
      guard case .value(let value) = object.slots[slot], let counterpart = try partner(of: object),
        try counterpart.attribute(slot) != value
      else { continue }
      try counterpart.put(value, in: slot)
    }
  }

  private func putRelationships(of object: ManagedObject, _ slots: some Sequence<Int>) throws {
    guard !object.slots.isEmpty, let counterpart = try partner(of: object) else { return }
    for slot in slots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination): try counterpart.setOne(slot, try remaining(destination))
      case .many(let pending): try put(pending, slot, counterpart, object.session?.identity)
      }
    }
  }

  /// - Parameter identity: of the store of the child's object. The parent's object may still be
  ///   new, and refer to stored ones.
  private func put(
    _ pending: PendingMembers, _ slot: Int, _ object: ManagedObject, _ identity: StoreIdentity?
  ) throws {
    for reference in pending.removed.sorted() {
      let member =
        reference.isTemporary
        ? parent.newObject(reference) : try identity.flatMap { try partner(at: reference, in: $0) }
      if let member { try object.removeMember(member, slot) }
    }
    for member in pending.added {
      if let member = try remaining(member) { try object.addMember(member, slot) }
    }
    guard let order = pending.order else { return }
    // Members that were added in the parent meanwhile come at the end.
    let current = try object.members(slot)
    let wanted = try order.compactMap { try remaining($0) }
    let arranged = MergedOrder.order(of: current, as: wanted)
    if arranged != current { try object.putShownOrder(arranged, in: slot) }
  }

  private func remaining(_ destination: ManagedObject?) throws -> ManagedObject? {
    try destination.flatMap { $0.isLive ? try partner(of: $0) : nil }
  }
}

extension ManagedObject {
  /// The changed relationships without an inverse of a deleted object whose delete rules apply to
  /// the new destinations.
  fileprivate final var slotsThatRulesFollow: [Int] {
    if slots.isEmpty { return [] }
    return binding.storedRelationshipSlots.filter { slot in
      let rule = binding.traits[slot].deleteRule
      return (rule.deletesDestinations || rule.deniesDeletion) && isChanged(slot)
        && binding.relationship(slot).inverse == nil
    }
  }
}

extension ManagedObjectContext {
  final var wasMeddledWith: PersistenceError {
    PersistenceError(
      .managedObjectContextLocking,
      "while a save was handing changes to a parent, an object or an observer that was told of it has "
        + "changed what is being saved: nothing was saved, save again")
  }
}
