import QuireModel

// Relationships to a new object that is removed. They are redirected to the one that stays, as they
// were set in other objects, which are in no conflict.
extension ConstraintResolution {
  /// Redirects all relationships to a new object to the one that stays.
  ///
  /// In an ordered relationship the survivor gets the position of the new object. A relationship
  /// that cannot refer to the survivor, which is of another entity, has no destination.
  ///
  /// - Parameter replacing: whether a to-one relationship of the survivor that refers elsewhere
  ///   is replaced; otherwise it stays.
  func redirectLinks(
    from new: ManagedObject, to survivor: ManagedObject, replacing: Bool
  ) throws {
    let wasChanged = survivor.hasChanges
    for slot in new.binding.relationshipSlots where new.binding.relationship(slot).inverse != nil {
      let sources =
        new.isToMany(slot) ? try new.members(slot) : try new.one(slot).map { [$0] } ?? []
      for source in sources where source !== new && !source.isDeleted {
        guard let back = new.inverseSlot(of: slot, on: source) else { continue }
        try redirect(source, back, from: new, to: survivor, replacing: replacing)
      }
    }
    try redirectOneSided(from: new, to: survivor)
    if !wasChanged, survivor.hasChanges { context.policyEffects?.recordRefresh(of: survivor) }
  }

  /// - Parameter slot: the relationship of `source` that refers to the new object.
  private func redirect(
    _ source: ManagedObject, _ slot: Int, from new: ManagedObject, to survivor: ManagedObject,
    replacing: Bool
  ) throws {
    // A link between the two objects, which become one, is dropped.
    guard source.isAcceptable(survivor, slot), replacing || source !== survivor,
      let forward = source.inverseSlot(of: slot, on: survivor)
    else { return }
    if !replacing, !survivor.isToMany(forward), let other = try survivor.one(forward),
      other !== source
    {
      return
    }
    guard source.isToMany(slot) else { return try source.setOne(slot, survivor) }
    guard source.binding.traits[slot].isOrdered else {
      try source.removeMember(new, slot)
      return try source.addMember(survivor, slot)
    }
    try replace(new, by: survivor, in: source, slot)
  }

  private func replace(
    _ new: ManagedObject, by survivor: ManagedObject, in source: ManagedObject, _ slot: Int
  ) throws {
    let members = try source.members(slot)
    var seen: Set<ManagedObject> = members.contains(survivor) ? [survivor] : []
    let order = members.compactMap { member -> ManagedObject? in
      if member === survivor { return member }
      let kept = member === new ? survivor : member
      return seen.insert(kept).inserted ? kept : nil
    }
    try source.setMembers(slot, order)
  }

  /// Redirects relationships without an inverse that refer to a new object.
  private func redirectOneSided(from new: ManagedObject, to survivor: ManagedObject) throws {
    for (object, slot) in leads.take(new)
    where object !== new && object.hasSlots && object.isAcceptable(survivor, slot) {
      switch object.slots[slot] {
      case .one(let destination) where destination === new: try object.setOne(slot, survivor)
      case .many where try object.members(slot).contains(new):
        try replace(new, by: survivor, in: object, slot)
      default: continue
      }
      // The survivor may be new, too, and be removed by the next conflict.
      leads.record(object, slot)
    }
  }
}

extension ManagedObject {
  /// Whether a relationship may refer to `object`.
  fileprivate final func isAcceptable(_ object: ManagedObject, _ slot: Int) -> Bool {
    (try? checkDestination(object, slot)) != nil
  }
}

/// The relationships without an inverse that refer to new objects, found once for all of them. Some
/// may refer elsewhere by now.
final class LinksWithoutInverse {
  private var byDestination: [ManagedObject: [(object: ManagedObject, slot: Int)]] = [:]

  init(_ objects: [ManagedObject]) {
    for object in objects {
      for slot in object.binding.storedRelationshipSlots { record(object, slot) }
    }
  }

  func record(_ object: ManagedObject, _ slot: Int) {
    guard !object.slots.isEmpty else { return }
    switch object.slots[slot] {
    case .one(let destination?) where destination.isNew: add(object, slot, destination)
    case .many(let pending):
      for member in pending.added where member.isNew { add(object, slot, member) }
    default: return
    }
  }

  private func add(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) {
    guard object.binding.relationship(slot).inverse == nil else { return }
    byDestination[destination, default: []].append((object, slot))
  }

  func take(_ new: ManagedObject) -> [(object: ManagedObject, slot: Int)] {
    byDestination.removeValue(forKey: new) ?? []
  }
}
