import QuireModel

// Conflicts of a context's changes with what other contexts have saved since objects were read.
extension ManagedObjectContext {
  /// Makes the next save compare the version of an object that is not changed here, too: it meets a
  /// conflict if the object was changed or deleted by another save since it was read.
  ///
  /// For changes that depend on the values of another object. Holds until a save that writes, a
  /// ``rollback()`` or a ``reset()``; an object whose row was never read is compared only for
  /// having been deleted. A save to a parent makes the parent compare it. Does nothing for a new
  /// object, or one of another context.
  public final func detectConflicts(for object: ManagedObject) {
    guard object.context === self, object.isPersistent else { return }
    watched.insert(object)
  }

  /// The conflicts of the context's changes with a state of its stores.
  final func conflicts(against views: StoreViews) throws -> [MergeConflict] {
    try views.conflicts(
      of: changes.inserted.sorted,
      updated: changes.updated.sorted.filter(\.hasSlotsToWrite),
      deleted: changes.deleted.sorted.filter(\.isPersistent),
      watched: watched.sorted { $0.referenceOrder < $1.referenceOrder })
  }

  final func mergeError(_ reports: [MergeConflict.Report]) -> PersistenceError {
    var error = PersistenceError(
      .managedObjectMerge,
      reports.isEmpty
        ? "the store says that objects of this save have changed since they were read, and does not "
          + "show it"
        : "\(reports.count == 1 ? "an object" : "\(reports.count) objects") of this save changed in "
          + "the store since it was read: \(reports.map(\.description).joined(separator: "; ")) "
          + "(a merge policy decides which change stays; PersistentContainer.write(attempts:) does "
          + "the work again)")
    error.conflicts = reports
    return error
  }
}

extension StoreViews {
  /// The conflicts of some objects with this state.
  func conflicts(
    of inserted: [ManagedObject], updated: [ManagedObject], deleted: [ManagedObject],
    watched: [ManagedObject]
  ) throws -> [MergeConflict] {
    var found = FoundConflicts(self)
    for object in updated { try found.compareFacts(of: object) }
    for object in deleted { try found.compareVersion(of: object) }
    for object in watched where !object.hasChanges { try found.compareVersion(of: object) }
    for object in deleted {
      try found.lookForMembers(of: object)
      try found.lookForCounterparts(of: object)
    }
    for object in inserted + updated { try found.lookForDestinations(of: object) }
    // Resolving these usually makes the ends of changed relationships agree.
    guard found.conflicts.isEmpty else { return found.conflicts }
    for object in inserted + updated { try found.lookForChangedCounterparts(of: object) }
    return found.conflicts
  }
}

private struct FoundConflicts {
  let views: StoreViews
  private(set) var conflicts: [MergeConflict] = []
  /// Where the conflict of an object is.
  private var indexes: [ManagedObject: Int] = [:]

  init(_ views: StoreViews) { self.views = views }

  private mutating func record(
    _ object: ManagedObject, isOtherEnd: Bool = false, dispute: Dispute? = nil
  ) throws {
    if let index = indexes[object] {
      if dispute == nil { conflicts[index].hasPart = true }
      return
    }
    let row = try views.row(of: object)
    indexes[object] = conflicts.count
    conflicts.append(
      try MergeConflict(
        object, row, row?.version ?? 0, isOtherEnd: isOtherEnd, dispute: dispute))
  }

  /// Compares the version of a changed object, and if it is another what was changed.
  mutating func compareFacts(of object: ManagedObject) throws {
    guard let session = object.session, let view = views[session],
      let newest = try view.row(object.reference)
    else { return try record(object) }
    guard object.isOutdated(newest.version), object.hasOwnSlotsToWrite else { return }
    try record(object, dispute: Dispute(object, newest, view))
  }

  mutating func compareVersion(of object: ManagedObject) throws {
    if try isOutdated(object) { try record(object) }
  }

  private func isOutdated(_ object: ManagedObject) throws -> Bool {
    object.isOutdated(try views.row(of: object)?.version ?? 0)
  }

  /// Records a deleted object that another leads to, and that one too if its row here does not: as
  /// long as that is not read again, the deletion does not end the relationship.
  private mutating func record(
    _ object: ManagedObject, ledToBy other: Reference, _ session: StoreSession
  ) throws {
    try record(object)
    guard let other = session.registered(other), other.hasRow, try isOutdated(other) else { return }
    try record(other, isOtherEnd: true)
  }

  /// Finds members that another save has added to a deleted object, and that would keep a reference
  /// to it.
  mutating func lookForMembers(of object: ManagedObject) throws {
    guard let storage = object.storage, let session = object.session, let view = views[session]
    else { return }
    for slot in object.binding.relationshipSlots {
      let relationship = object.binding.relationship(slot)
      guard let link = storage.link(slot), relationship.deleteRule != .noAction,
        let inverse = relationship.inverse
      else { continue }
      for member in try view.members(of: object.reference, link) {
        guard let other = view.entities.storage(of: member),
          let back = other.binding.slot(named: inverse), other.fieldBySlot[back] >= 0,
          try view.contains(member)
        else { continue }
        if let known = session.registered(member),
          known.isDeleted || known.isUpdated && known.isToBeWritten(back)
        {
          continue
        }
        try record(object, ledToBy: member, session)
      }
    }
  }

  /// Finds destinations that another save has led to a deleted object by one-to-one relationships.
  mutating func lookForCounterparts(of object: ManagedObject) throws {
    guard let storage = object.storage, let session = object.session, let view = views[session],
      let row = try view.row(object.reference)
    else { return }
    for slot in object.binding.oneToOneSlots where storage.fieldBySlot[slot] >= 0 {
      let relationship = object.binding.relationship(slot)
      guard relationship.deleteRule != .noAction,
        let reference = row.reference(storage.fieldBySlot[slot]),
        try leads(reference, to: object, relationship, session, view)
      else { continue }
      try record(object, ledToBy: reference, session)
    }
  }

  /// Finds other ends of changed one-to-one relationships that would not agree with this one.
  mutating func lookForChangedCounterparts(of object: ManagedObject) throws {
    guard !object.slots.isEmpty else { return }
    for slot in object.binding.oneToOneSlots {
      guard case .one(let destination) = object.slots[slot], object.isToBeWritten(slot) else {
        continue
      }
      let relationship = object.binding.relationship(slot)
      let new = destination.flatMap { object.isShown($0) && !$0.isDeleted ? $0 : nil }
      if let new, try !leads(new, to: object, relationship) { try record(new, isOtherEnd: true) }
      guard let session = object.session, let view = views[session],
        let field = object.storage?.fieldBySlot[slot], field >= 0,
        let old = try view.row(object.reference)?.reference(field), old != new?.reference,
        try leads(old, to: object, relationship, session, view)
      else { continue }
      try record(session.object(at: old), isOtherEnd: true)
    }
  }

  /// Whether the object with a reference leads to another one by the to-one inverse of a
  /// relationship, with the changes of the context.
  private func leads(
    _ reference: Reference, to object: ManagedObject, _ relationship: RelationshipDescription,
    _ session: StoreSession, _ view: StoreView
  ) throws -> Bool {
    guard let storage = view.entities.storage(of: reference), let inverse = relationship.inverse,
      let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0
    else { return false }
    if let known = session.registered(reference) {
      if known.isDeleted { return false }
      if known.isUpdated, known.isToBeWritten(slot), case .one(let destination) = known.slots[slot]
      {
        return destination === object
      }
    }
    return try view.row(reference)?.reference(storage.fieldBySlot[slot]) == object.reference
  }

  private func leads(
    _ other: ManagedObject, to object: ManagedObject, _ relationship: RelationshipDescription
  ) throws -> Bool {
    if let session = other.session, let view = views[session], !other.isNew {
      return try leads(other.reference, to: object, relationship, session, view)
    }
    guard let slot = object.inverseSlot(of: relationship, on: other), !other.slots.isEmpty,
      case .one(let destination) = other.slots[slot]
    else { return false }
    return destination === object
  }

  mutating func lookForDestinations(of object: ManagedObject) throws {
    for slot in object.binding.storedRelationshipSlots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination): try lookFor(destination)
      case .many(let pending):
        for member in pending.added { try lookFor(member) }
        for member in pending.order ?? [] { try lookFor(member) }
      }
    }
  }

  private mutating func lookFor(_ destination: ManagedObject?) throws {
    guard let destination, destination.isStored, !destination.isDeleted,
      destination.context != nil, try !views.contain(destination)
    else { return }
    try record(destination)
  }
}
