import QuireModel

/// Objects whose rows are read again, and the changed objects at the other ends of their to-one
/// relationships.
///
/// A change of a relationship writes one end alone if the row of the other said so already, as it
/// was read before another save changed it (``ManagedObject/forEachUnwrittenMember(_:_:)``). When
/// that row is read again, the two ends differ, and no save could write them.
struct RereadEnds {
  private struct Former {
    let object: ManagedObject
    let row: Row
  }

  private struct End {
    let object: ManagedObject
    let slot: Int
    /// A changed object that the row leads to.
    let other: ManagedObject
    let inverse: Int
  }

  private let context: ManagedObjectContext
  private var former: [Former] = []
  private let keepsChanges: Bool

  /// To be made before the rows are replaced. Costs next to nothing in a context without changed
  /// relationships.
  ///
  /// - Parameter keepsChanges: whether changes of the other ends are made at these as well;
  ///   otherwise they are dropped.
  init(_ objects: [ManagedObject], of context: ManagedObjectContext, keepsChanges: Bool) {
    self.context = context
    self.keepsChanges = keepsChanges
    context.undoRecording?.recordRead()
    guard context.changes.mayHaveRelationships else { return }
    for object in objects where object.context === context && object.isStored {
      if let row = object.row { former.append(Former(object: object, row: row)) }
    }
  }

  private static func hasChange(_ slot: Int, of object: ManagedObject) -> Bool {
    switch object.slots[slot] {
    case .unchanged, .value: false
    case .many(let pending): !pending.hasNoMemberChange
    case .one: true
    }
  }

  /// To be called when all rows were replaced, and before
  /// ``ManagedObjectContext/displaceStoredDestinations(of:)``, which changes the objects.
  func makeAgree() throws {
    if former.isEmpty { return }
    // Undoing the change of the other end restores this, too.
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    var changed: [(object: ManagedObject, row: Row)] = []
    for former in former where former.object.context === context {
      let object = former.object
      guard let row = try object.row ?? object.session?.currentView().row(object.reference),
        !row.isEqual(to: former.row)
      else { continue }
      for end in ends(of: object, former.row) { try makeAgree(end) }
      changed.append((object, row))
    }
    for (object, row) in changed { for end in ends(of: object, row) { try makeAgree(end) } }
    if keepsChanges { for former in former { try changeMembers(of: former.object) } }
  }

  private func ends(of object: ManagedObject, _ row: Row) -> [End] {
    guard let session = object.session, let storage = object.storage else { return [] }
    return object.binding.storedRelationshipSlots.compactMap { slot in
      guard !object.isToMany(slot), storage.fieldBySlot[slot] >= 0,
        let reference = row.reference(storage.fieldBySlot[slot]),
        let other = session.registered(
          reference.isTemporary ? context.currentReference(reference) : reference),
        other.hasChanges, !other.isDeleted, other.hasSlots,
        let inverse = object.inverseSlot(of: slot, on: other), Self.hasChange(inverse, of: other)
      else { return nil }
      return End(object: object, slot: slot, other: other, inverse: inverse)
    }
  }

  /// Makes changes of an object's own members at these as well.
  private func changeMembers(of object: ManagedObject) throws {
    guard object.context === context, object.isUpdated else { return }
    for slot in object.binding.storedRelationshipSlots {
      guard object.hasSlots, case .many = object.slots[slot] else { continue }
      var members: [Reference] = []
      object.forEachUnwrittenMember(slot) { member, _ in members.append(member) }
      for reference in members {
        guard let session = object.session, try session.currentView().contains(reference) else {
          continue
        }
        let member = try session.object(at: reference)
        guard let inverse = object.inverseSlot(of: slot, on: member) else { continue }
        try makeAgree(End(object: member, slot: inverse, other: object, inverse: slot))
      }
    }
  }

  private func makeAgree(_ end: End) throws {
    let (object, other) = (end.object, end.other)
    guard object.context === context, other.context === context, other.hasChanges,
      !other.isDeleted, other.hasSlots, !object.isDeleted,
      !object.hasSlots || !object.isToBeWritten(end.slot),
      let field = object.storage?.fieldBySlot[end.slot], field >= 0,
      let row = try object.session?.currentView().row(object.reference)
    else { return }
    let leads = row.reference(field) == other.reference
    let leadsBack = try other.leads(to: object, end.inverse)
    if leads == leadsBack { return }
    try object.fulfil()
    if keepsChanges, isChange(of: other, end.inverse, object) {
      let former = try object.one(end.slot)
      if let former, former !== other, let inverse = object.inverseSlot(of: end.slot, on: former) {
        try former.removeInverse(inverse, to: object)
      }
      try object.put(leadsBack ? other : nil, in: end.slot)
    } else if leadsBack {
      try other.cut(end.inverse, from: object)
    } else if other.isToMany(end.inverse) {
      try other.pendingAdd(object, end.inverse)
    } else {
      try object.put(nil as ManagedObject?, in: end.slot)
    }
  }

  /// Whether an object has got or lost a destination by a change, and not by the store.
  private func isChange(of other: ManagedObject, _ slot: Int, _ object: ManagedObject) -> Bool {
    guard case .many(let pending) = other.slots[slot] else { return other.isToBeWritten(slot) }
    return pending.isAdded(object) || pending.removed.contains(object.reference)
  }
}

extension ManagedObjectContext {
  /// Removes objects that others have brought back from the other ends that have lost them here,
  /// and these from them. The deletion, whose rule took no action, has left those ends as they
  /// were, and here it has dropped the change of the object itself.
  final func repeatRemovals(of returned: [MergedReference]) throws {
    if returned.isEmpty || !changes.mayHaveRelationships { return }
    undoRecording?.isPaused = true
    defer { undoRecording?.isPaused = false }
    let isReturned = Dictionary(grouping: returned) { ObjectIdentifier($0.session) }
      .mapValues { Set($0.map(\.reference)) }
    for object in changes.updated.objects {
      guard let session = object.session, object.hasSlots,
        let returned = isReturned[ObjectIdentifier(session)]
      else { continue }
      for slot in object.binding.storedRelationshipSlots where object.binding.traits[slot].canDangle
      {
        guard object.hasSlots, case .many(let pending) = object.slots[slot] else { continue }
        for reference in pending.removed.intersection(returned).sorted() {
          let member = try session.object(at: reference)
          guard let inverse = object.inverseSlot(of: slot, on: member), member.isToMany(inverse),
            try member.holds(object, inverse)
          else { continue }
          try member.pendingRemove(object, inverse)
        }
      }
    }
  }
}
