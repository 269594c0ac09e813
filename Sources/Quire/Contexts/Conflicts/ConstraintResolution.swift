import QuireModel

/// Resolves conflicts of objects that would have the same values of a constraint, as
/// ``MergePolicy`` describes.
struct ConstraintResolution {
  let context: ManagedObjectContext
  let leads: LinksWithoutInverse

  init(_ context: ManagedObjectContext) {
    self.context = context
    leads = LinksWithoutInverse(context.changes.inserted.objects + context.changes.updated.objects)
  }

  func resolve(_ conflicts: [ConstraintConflict], by type: MergePolicyType) throws {
    // Observers are left out, as the changes may still be taken back.
    try context.withoutObservers { try resolveEach(conflicts, type) }
  }

  private func resolveEach(_ conflicts: [ConstraintConflict], _ type: MergePolicyType) throws {
    for conflict in conflicts {
      // Resolving an earlier conflict may have resolved this one, in part or as a whole.
      let objects = conflict.conflictingObjects.filter { $0.context === context && !$0.isDeleted }
      let database = conflict.databaseObject.flatMap { $0.isDeleted ? nil : $0 }
      guard !objects.isEmpty, database != nil || objects.count > 1 else { continue }
      switch type {
      case .errorMergePolicyType: continue
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        let winner = database ?? objects.first { !$0.isNew } ?? objects[0]
        for object in objects where object !== winner {
          try giveUp(object, to: winner, conflict, wholly: type == .rollbackMergePolicyType)
        }
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        let winner = objects.last { !$0.isNew } ?? objects[objects.count - 1]
        for object in objects where object !== winner {
          try giveUp(object, to: winner, conflict, wholly: false)
        }
        guard let database else { continue }
        if type.putsNewOverStored, winner.isNew, winner.binding === database.binding {
          try put(winner, over: database)
        } else {
          context.policyEffects?.recordGone(database)
          context.delete(database)
        }
      }
    }
    context.processPendingChanges()
  }

  /// Resolves a conflict against an object: a new one is removed, and relationships to it refer to
  /// the winner; a changed one gets its former values of the constraint's properties.
  private func giveUp(
    _ object: ManagedObject, to winner: ManagedObject, _ conflict: ConstraintConflict, wholly: Bool
  ) throws {
    if object.isNew {
      try redirectLinks(from: object, to: winner, replacing: false)
      context.policyEffects?.recordSuccessor(of: object, winner)
      return try remove(object)
    }
    context.policyEffects?.recordRefresh(of: object)
    if wholly { return context.refresh(object, mergeChanges: false) }
    let slots = conflict.constraint.compactMap { path in
      object.binding.slot(named: FetchExpression.names(in: path)[0])
    }
    // What is derived is as it was when what it is derived from is.
    for slot in object.binding.sources(of: slots).sorted() {
      if object.isToMany(slot) {
        let former = try object.storedMembers(slot)
        try object.setMembers(slot, try former.compactMap { try object.session?.object(at: $0) })
      } else if object.binding.traits[slot].attributeType != nil {
        try object.setAttribute(slot, object.storedValue(slot))
      } else {
        let former = object.storedReference(slot)
        try object.setOne(slot, former.flatMap { try object.session?.object(at: $0) })
      }
    }
  }

  /// Removes a new object. Relationships are cleared first, so that no delete rule has an effect.
  private func remove(_ object: ManagedObject) throws {
    for slot in object.binding.relationshipSlots {
      if object.isToMany(slot) {
        try object.setMembers(slot, [])
      } else {
        try object.setOne(slot, nil)
      }
    }
    context.policyEffects?.recordGone(object)
    context.delete(object)
    context.processPendingChanges()
  }

  // MARK: Merging of two objects

  /// Sets the values that a new object was given in the one that the store has, and removes the new
  /// one.
  private func put(_ new: ManagedObject, over stored: ManagedObject) throws {
    context.policyEffects?.recordRefresh(of: stored)
    for (slot, property) in new.binding.properties.enumerated() {
      if new.binding.traits[slot].isTransient { continue }
      switch property {
      case .attribute:
        let value = try new.attribute(slot)
        let isGiven = value.map { !($0 == new.binding.defaultValues[slot]) } ?? false
        if isGiven { try stored.setAttribute(slot, value) }
      case .relationship(let relationship) where relationship.inverse != nil: continue
      case .relationship(let relationship) where relationship.isToMany:
        let members = try new.members(slot)
        if members.isEmpty { continue }
        try new.setMembers(slot, [])
        let former = try stored.members(slot)
        let isFormer = Set(former)
        try stored.setMembers(slot, former + members.filter { !isFormer.contains($0) })
        leads.record(stored, slot)
      case .relationship:
        guard let destination = try new.one(slot) else { continue }
        try new.setOne(slot, nil)
        try stored.setOne(slot, destination)
        leads.record(stored, slot)
      }
    }
    try redirectLinks(from: new, to: stored, replacing: true)
    context.policyEffects?.recordSuccessor(of: new, stored)
    try remove(new)
  }
}

extension EntityBinding {
  /// The properties that these depend on: derived attributes on what they are derived from.
  fileprivate func sources(of slots: [Int]) -> Set<Int> {
    var sources: Set<Int> = []
    var seen: Set<Int> = []
    var rest = slots
    while let slot = rest.popLast() {
      guard seen.insert(slot).inserted, !traits[slot].isTransient else { continue }
      guard let derivation = derivations.first(where: { $0.slot == slot }) else {
        sources.insert(slot)
        continue
      }
      rest += derivation.paths.compactMap { $0.first.flatMap(self.slot(named:)) }
    }
    return sources
  }
}

extension MergePolicyType {
  /// Whether a new object whose values are not unique is written over the stored object that has
  /// them, and does not take its place.
  fileprivate var putsNewOverStored: Bool {
    switch self {
    case .mergeByPropertyObjectTrumpMergePolicyType: true
    case .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
      .overwriteMergePolicyType, .rollbackMergePolicyType:
      false
    }
  }
}
