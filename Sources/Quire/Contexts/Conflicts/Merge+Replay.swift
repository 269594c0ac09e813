import QuireModel

// Setting of objects to the store's values, and of the facts of a merge on top.
extension Merge {
  /// Drops the changes of an object and, unless it is in a conflict that is still to be resolved,
  /// replaces its row by the newest one.
  func clear(_ object: ManagedObject) {
    let treatment = treatment(of: object)
    if treatment != .undecided, object.isStored { object.row = newRows[object] }
    if treatment == .gone {
      let wasDeleted = object.isDeleted
      context.watched.remove(object)
      object.dropSlots()
      object.setPending(nil)
      object.state = .inaccessible
      if wasDeleted { context.release(object) }
    } else if treatment == .revival {
      object.dropSlots()
      object.setPending(nil)
      object.state = []
    } else if object.isNew {
      for slot in object.binding.storedRelationshipSlots { object.discard(slot) }
    } else if object.isDeleted {
      object.dropSlots()
    } else {
      object.keepTransientSlots()
      object.setPending(nil)
    }
  }

  func replay(_ facts: MergeFacts) throws {
    for partner in partners { freshen(partner.reference, in: partner.session) }
    for fact in facts.values { try fact.object.put(fact.content, in: fact.slot) }
    // Cleared relationships first, as the others may take their destinations.
    for fact in facts.destinations where fact.content == nil { try setOne(fact) }
    for fact in facts.destinations where fact.content != nil { try setOne(fact) }
    for fact in facts.removals {
      guard let session = fact.object.session, try views[session]?.contains(fact.content) ?? false
      else { continue }
      let member = try session.object(at: fact.content)
      freshen(member)
      try fact.object.removeMember(member, fact.slot)
    }
    for fact in facts.additions {
      if fact.content.isStored, try !views.contain(fact.content) { continue }
      freshen(fact.content)
      try fact.object.addMember(fact.content, fact.slot)
    }
    for fact in facts.backlinks {
      if let inverse = fact.object.inverseSlot(of: fact.slot, on: fact.content) {
        try fact.content.agree(inverse, with: fact.object)
      }
    }
    for fact in facts.orders where fact.object.isDeleted { try setHiddenOrder(fact) }
    try replayDeletions()
    for fact in facts.orders where !fact.object.isDeleted { try setOrder(fact) }
    for fact in facts.arrivals where !fact.object.isDeleted { try arrange(fact) }
  }

  private func setOne(_ fact: MergeFacts.Fact<ManagedObject?>) throws {
    let object = fact.object
    freshen(object)
    freshen(object.storedReference(fact.slot), in: object.session)
    if let destination = fact.content {
      freshen(destination)
      let relationship = object.binding.relationship(fact.slot)
      if let inverse = object.inverseSlot(of: relationship, on: destination) {
        freshen(destination.storedReference(inverse), in: destination.session)
      }
      if try object.one(fact.slot) === destination { return }
    }
    try object.setOne(fact.slot, fact.content)
  }

  /// Applies delete rules to the store's newest state, for instance to members that were added by
  /// the other save.
  private func replayDeletions() throws {
    let rules = DeleteRules(context)
    for object in objects where object.context === context && object.isDeleted {
      try freshenDestinations(of: object)
      try rules.propagate(object)
    }
    while let object = context.changes.takeUndecided() {
      try freshenDestinations(of: object)
      rules.process(object)
    }
  }

  /// Sets the order of a relationship of a deleted object, whose destinations may be deleted too.
  private func setHiddenOrder(_ fact: MergeFacts.Fact<[ManagedObject]>) throws {
    let present = try fact.object.rawMembers(fact.slot)
    let order = MergedOrder.order(of: present, as: fact.content)
    if order != present { try fact.object.putOrder(order, in: fact.slot) }
  }

  private func setOrder(_ fact: MergeFacts.Fact<[ManagedObject]>) throws {
    let present = try fact.object.members(fact.slot)
    let stored = try storedMembers(fact.slot, of: fact.object)
    let order = MergedOrder.order(of: present, as: fact.content, \.reference, stored)
    if order != present { try fact.object.putOrder(order, in: fact.slot) }
  }

  /// Moves members that were added here to the end of an order, in their order here.
  private func arrange(_ fact: MergeFacts.Fact<[ManagedObject]>) throws {
    let present = try fact.object.members(fact.slot)
    let stored = Set(try storedMembers(fact.slot, of: fact.object))
    let isArrived = Set(present.filter { !stored.contains($0.reference) })
    let arrived = fact.content.filter(isArrived.contains)
    let isArranged = Set(arrived)
    // After them come members that this order does not have, in any order.
    let order =
      present.filter { !isArrived.contains($0) } + arrived
      + present.filter { isArrived.contains($0) && !isArranged.contains($0) }
    if order != present { try fact.object.putOrder(order, in: fact.slot) }
  }

  // MARK: Objects without changes

  // The other ends of facts are changed with them, and need their newest rows first.

  private func freshen(_ reference: Reference?, in session: StoreSession?) {
    if let reference, let object = session?.registered(reference) { freshen(object) }
  }

  private func freshen(_ object: ManagedObject) {
    guard object.hasRow, !object.hasChanges, treatments[object] == nil,
      !newRows.keys.contains(object)
    else { return }
    do {
      if let row = try views.row(of: object) {
        if row.version == object.version { return }
        object.row = row
        freshened.append(object)
      } else {
        object.row = nil
        object.state.insert(.inaccessible)
      }
    } catch {
      context.report(error)
    }
  }

  private func freshenDestinations(of object: ManagedObject) throws {
    freshen(object)
    for slot in object.binding.relationshipSlots {
      for destination in try object.destinations(slot) { freshen(destination) }
    }
  }
}
