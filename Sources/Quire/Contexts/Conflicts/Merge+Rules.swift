import QuireModel

/// The changes of a context that remain by the rules of a merge.
struct MergeFacts {
  struct Fact<Content> {
    let object: ManagedObject
    let slot: Int
    let content: Content
  }

  private(set) var values: [Fact<AttributeValue?>] = []
  /// Of to-one relationships.
  private(set) var destinations: [Fact<ManagedObject?>] = []
  /// Of relationships that are to-many on both sides, or have one side.
  private(set) var additions: [Fact<ManagedObject>] = []
  private(set) var removals: [Fact<Reference>] = []
  private(set) var orders: [Fact<[ManagedObject]>] = []
  /// Orders that are not changed here, or not kept, and get several members by this merge: with the
  /// members as they are here, for the order of the new ones among each other.
  private(set) var arrivals: [Fact<[ManagedObject]>] = []
  /// Members of objects whose deletion was undone, and whose rows still refer to the object.
  private(set) var backlinks: [Fact<ManagedObject>] = []

  init(_ merge: Merge) throws {
    for object in merge.objects {
      let treatment = merge.treatment(of: object)
      if treatment == .gone || treatment == .rollback || treatment == .revival { continue }
      if object.isDeleted {
        collectPartings(of: object, merge)
        collectOneSided(of: object, merge)
        continue
      }
      if object.slots.isEmpty && treatment != .overwrite { continue }
      for slot in object.binding.properties.indices where !object.binding.traits[slot].isTransient {
        let trait = object.binding.traits[slot]
        if trait.attributeType != nil {
          let value = try object.attribute(slot)
          if try merge.remains(value, slot, of: object) {
            values.append(Fact(object: object, slot: slot, content: value))
          }
        } else if !trait.isToMany {
          if let fact = try merge.destinationFact(slot, of: object) { destinations.append(fact) }
        } else if !object.slots.isEmpty, case .many(let pending) = object.slots[slot] {
          try collect(pending, slot, of: object, merge)
        }
      }
    }
    try collectArrivals()
  }

  private mutating func collectArrivals() throws {
    struct SlotKey: Hashable {
      let object: ManagedObject
      let slot: Int
    }
    var counts: [SlotKey: Int] = [:]
    var keys: [SlotKey] = []
    func count(_ slot: Int?, _ object: ManagedObject) {
      guard let slot, object.isToMany(slot), object.binding.relationship(slot).isOrdered else {
        return
      }
      let key = SlotKey(object: object, slot: slot)
      counts[key, default: 0] += 1
      if counts[key] == 2 { keys.append(key) }
    }
    for fact in destinations {
      guard let destination = fact.content else { continue }
      let relationship = fact.object.binding.relationship(fact.slot)
      count(fact.object.inverseSlot(of: relationship, on: destination), destination)
    }
    for fact in additions {
      count(fact.slot, fact.object)
      let relationship = fact.object.binding.relationship(fact.slot)
      count(fact.object.inverseSlot(of: relationship, on: fact.content), fact.content)
    }
    let isOrdered = Set(orders.map { SlotKey(object: $0.object, slot: $0.slot) })
    for key in keys where !isOrdered.contains(key) {
      let members = try key.object.members(key.slot)
      arrivals.append(Fact(object: key.object, slot: key.slot, content: members))
    }
  }

  /// Collects destinations that were removed from a deleted object by a deny rule. With them its
  /// deletion might be denied.
  private mutating func collectPartings(of object: ManagedObject, _ merge: Merge) {
    for slot in object.binding.storedRelationshipSlots
    where !object.slots.isEmpty && object.binding.relationship(slot).deleteRule.deniesDeletion {
      switch object.slots[slot] {
      case .one(let destination) where object.isChanged(slot):
        let content = destination.flatMap { merge.isThere($0) ? $0 : nil }
        destinations.append(Fact(object: object, slot: slot, content: content))
      case .many(let pending):
        for reference in pending.removed.sorted() {
          removals.append(Fact(object: object, slot: slot, content: reference))
        }
      default: continue
      }
    }
  }

  /// Collects changed relationships without an inverse of a deleted object: its delete rules apply
  /// to the new destinations, not to those in the row.
  private mutating func collectOneSided(of object: ManagedObject, _ merge: Merge) {
    for slot in object.binding.storedRelationshipSlots
    where !object.slots.isEmpty && object.binding.relationship(slot).inverse == nil
      && object.isChanged(slot)
    {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination):
        let content = destination.flatMap { merge.isLeft($0) ? $0 : nil }
        destinations.append(Fact(object: object, slot: slot, content: content))
      case .many(let pending):
        for reference in pending.removed.sorted() {
          removals.append(Fact(object: object, slot: slot, content: reference))
        }
        for member in pending.added where merge.isLeft(member) {
          additions.append(Fact(object: object, slot: slot, content: member))
        }
        if let order = pending.order {
          orders.append(Fact(object: object, slot: slot, content: order))
        }
      }
    }
  }

  private mutating func collect(
    _ pending: PendingMembers, _ slot: Int, of object: ManagedObject, _ merge: Merge
  ) throws {
    let relationship = object.binding.relationship(slot)
    if object.state.contains(.returning), object.binding.traits[slot].isInverseOfToOne {
      for member in pending.added where merge.isThere(member) {
        if let inverse = object.inverseSlot(of: relationship, on: member),
          member.slots.isEmpty || !member.isChanged(inverse)
        {
          backlinks.append(Fact(object: object, slot: slot, content: member))
        }
      }
    }
    for member in pending.added
    where merge.isThere(member) && merge.isChangedHere(relationship, member)
      && (relationship.inverse == nil || merge.treatment(of: member) != .rollback)
    {
      additions.append(Fact(object: object, slot: slot, content: member))
    }
    for reference in pending.removed.sorted() {
      let member = object.session?.registered(reference)
      if let member {
        guard merge.isChangedHere(relationship, member) else { continue }
        // Without an inverse it is no change of the member.
        let treatment = merge.treatment(of: member)
        if treatment == .revival || relationship.inverse != nil && treatment == .rollback {
          continue
        }
      }
      removals.append(Fact(object: object, slot: slot, content: reference))
    }
    if let order = pending.order, object.isChanged(slot),
      try merge.keepsOrder(slot, of: object)
    {
      orders.append(Fact(object: object, slot: slot, content: order))
    }
  }
}

// The rules. The fetched values are in the objects' rows, the store's newest ones in the merge's.
extension Merge {
  /// Whether an object can be the destination of a relationship after the merge.
  func isThere(_ object: ManagedObject) -> Bool {
    guard object.context === context else { return false }
    if treatment(of: object) == .gone { return false }
    return !object.isDeleted || treatment(of: object) == .revival
  }

  /// Whether an object is in the context after the merge, deleted or not.
  fileprivate func isLeft(_ object: ManagedObject) -> Bool {
    object.context === context && treatment(of: object) != .gone
  }

  fileprivate func remains(
    _ value: AttributeValue?, _ slot: Int, of object: ManagedObject
  ) throws -> Bool {
    switch treatment(of: object) {
    case .overwrite: return try !isSame(value, storedValue(slot, of: object))
    case .storeTrump: return try object.isChanged(slot) && !isValueChangedThere(slot, of: object)
    case .rollback, .gone, .revival: return false
    case .none, .undecided, .objectTrump:
      return object.isChanged(slot) || isSetByPolicy(slot, of: object)
    }
  }

  /// The destination of a to-one relationship as a fact; `nil` when the store's is taken.
  fileprivate func destinationFact(
    _ slot: Int, of object: ManagedObject
  ) throws -> MergeFacts.Fact<ManagedObject?>? {
    let destination = try object.one(slot).flatMap { isThere($0) ? $0 : nil }
    let isMeant =
      switch treatment(of: object) {
      case .overwrite: destination?.reference != storedReference(slot, of: object)
      case .storeTrump: object.isChanged(slot) && !isDestinationChangedThere(slot, of: object)
      case .rollback, .gone, .revival: false
      case .none, .undecided, .objectTrump:
        object.isToBeWritten(slot) || isSetByPolicy(slot, of: object)
      }
    guard isMeant else { return nil }
    guard let destination, try !isGone(destination) else {
      guard try isCleared(slot, of: object) else { return nil }
      return MergeFacts.Fact(object: object, slot: slot, content: nil)
    }
    guard isAgreed(slot, of: object, destination) else { return nil }
    return MergeFacts.Fact(object: object, slot: slot, content: destination)
  }

  /// Whether a relationship without a destination was cleared on purpose, and not because its
  /// destination was deleted, which is then brought back or gone.
  private func isCleared(_ slot: Int, of object: ManagedObject) throws -> Bool {
    let former = object.storedReference(slot).flatMap { object.session?.registered($0) }
    if let former, treatment(of: former) == .revival { return false }
    guard !object.slots.isEmpty, case .one(let chosen) = object.slots[slot] else {
      return try former.map { try !isGone($0) } ?? true
    }
    guard let chosen, try isGone(chosen) else { return true }
    // The new destination is gone; the change away from the former one remains, unless another save
    // has set a destination.
    return object.isChanged(slot) && !isDestinationChangedThere(slot, of: object)
  }

  /// Whether another save has deleted an object.
  private func isGone(_ object: ManagedObject) throws -> Bool {
    if let treatment = treatments[object] { return treatment == .gone }
    return try object.isStored && !views.contain(object)
  }

  /// Whether the treatment of the other end of a one-to-one relationship allows the change.
  private func isAgreed(
    _ slot: Int, of object: ManagedObject, _ destination: ManagedObject
  ) -> Bool {
    guard let inverse = object.inverseSlot(of: object.binding.relationship(slot), on: destination),
      !destination.isToMany(inverse), !destination.binding.traits[inverse].isTransient
    else { return true }
    return switch treatment(of: destination) {
    case .rollback: false
    case .storeTrump: !isDestinationChangedThere(inverse, of: destination)
    case .none, .undecided, .objectTrump, .overwrite, .gone, .revival: true
    }
  }

  /// Whether changes of a to-many relationship are stored on this side, and not in its members.
  fileprivate func isChangedHere(
    _ relationship: RelationshipDescription, _ member: ManagedObject
  ) -> Bool {
    guard let inverse = relationship.inverse.flatMap({ member.binding.slot(named: $0) }) else {
      return true
    }
    return member.isToMany(inverse) || member.binding.traits[inverse].isTransient
  }

  fileprivate func keepsOrder(_ slot: Int, of object: ManagedObject) throws -> Bool {
    switch treatment(of: object) {
    case .storeTrump: try object.storedMembers(slot) == storedMembers(slot, of: object)
    case .rollback, .gone, .revival: false
    case .none, .undecided, .objectTrump, .overwrite: true
    }
  }

  private func isValueChangedThere(_ slot: Int, of object: ManagedObject) throws -> Bool {
    try isExternalChanged(slot, of: object)
      ?? !isSame(object.storedValue(slot), storedValue(slot, of: object))
  }

  private func isDestinationChangedThere(_ slot: Int, of object: ManagedObject) -> Bool {
    object.readReference(slot) != storedReference(slot, of: object)
  }

  private func isSame(_ left: AttributeValue?, _ right: AttributeValue?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.isIdentical(to: right)
  }
}
