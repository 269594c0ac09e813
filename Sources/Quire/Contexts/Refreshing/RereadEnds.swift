import QuireModel

/// Objects whose rows are read again, and the changed objects at the other ends of their to-one
/// relationships.
///
/// A change of a relationship writes one end alone if the row of the other said so already, as it
/// was read before another save changed it (``ManagedObject/forEachUnwrittenMember(_:_:)``). When
/// that row is read again, the two ends differ, and no save could write them.
struct RereadEnds {
  private struct End {
    let object: ManagedObject
    let slot: Int
    /// A changed object that the row leads to.
    let other: ManagedObject
    let inverse: Int
  }

  private let context: ManagedObjectContext
  private let objects: [ManagedObject]
  /// By the rows before.
  private let former: [End]
  private let keepsChanges: Bool

  /// To be made before the rows are replaced. Costs nothing in a context without changed objects.
  ///
  /// - Parameter keepsChanges: whether changes of the other ends are made at these as well;
  ///   otherwise they are dropped.
  init(_ objects: [ManagedObject], of context: ManagedObjectContext, keepsChanges: Bool) {
    self.context = context
    self.keepsChanges = keepsChanges
    guard !context.changes.updated.isEmpty || !context.changes.inserted.isEmpty else {
      (self.objects, former) = ([], [])
      return
    }
    self.objects = objects.filter { $0.context === context && $0.hasRow && $0.isStored }
    former = self.objects.flatMap { object in Self.ends(of: object, object.storedReference) }
  }

  private static func ends(
    of object: ManagedObject, _ destination: (Int) -> Reference?
  ) -> [End] {
    guard let session = object.session else { return [] }
    return object.binding.storedRelationshipSlots.compactMap { slot in
      guard !object.isToMany(slot), let reference = destination(slot),
        let other = session.registered(reference), other.hasChanges, !other.isDeleted,
        other.hasSlots,
        let inverse = object.inverseSlot(of: slot, on: other)
      else { return nil }
      switch other.slots[inverse] {
      case .unchanged, .value: return nil
      case .many(let pending) where pending.hasNoMemberChange: return nil
      case .one, .many: break
      }
      return End(object: object, slot: slot, other: other, inverse: inverse)
    }
  }

  /// To be called when all rows were replaced, and before
  /// ``ManagedObjectContext/displaceStoredDestinations(of:)``, which changes the objects.
  func makeAgree() throws {
    if objects.isEmpty { return }
    // Undoing the change of the other end restores this, too.
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    for end in former { try makeAgree(end) }
    for object in objects where object.context === context {
      guard let storage = object.storage,
        let row = try object.session?.currentView().row(object.reference)
      else { continue }
      let present = Self.ends(of: object) { slot in
        storage.fieldBySlot[slot] >= 0 ? row.reference(storage.fieldBySlot[slot]) : nil
      }
      for end in present { try makeAgree(end) }
    }
    if keepsChanges { for object in objects { try changeMembers(of: object) } }
  }

  /// Makes changes of an object's own members at these as well.
  private func changeMembers(of object: ManagedObject) throws {
    guard object.context === context, object.isUpdated, object.hasSlots else { return }
    for slot in object.binding.storedRelationshipSlots {
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
