import QuireModel

/// The changes that the actions of one group have made.
struct PerformedChanges {
  private struct Change {
    let object: ManagedObject
    var events: SnapshotEventType
  }

  private struct Redirection {
    let object: ManagedObject
    let slot: Int
    let former: ManagedObject?
  }

  private struct Addition {
    let member: ManagedObject
    let slot: Int
    let object: ManagedObject
  }

  /// In the order of their first changes.
  private var changes: [Change] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private var redirections: [Redirection] = []
  private var additions: [Addition] = []
  /// Objects that were deleted, or had left, and are back.
  private var returned: [ManagedObject] = []

  mutating func record(_ object: ManagedObject, _ event: SnapshotEventType) {
    if let place = places[ObjectIdentifier(object)] {
      changes[place].events.insert(event)
    } else {
      places[ObjectIdentifier(object)] = changes.count
      changes.append(Change(object: object, events: event))
    }
  }

  mutating func record(_ object: ManagedObject, _ slot: Int, formerly former: ManagedObject?) {
    redirections.append(Redirection(object: object, slot: slot, former: former))
  }

  mutating func record(additionOf member: ManagedObject, _ slot: Int, to object: ManagedObject) {
    additions.append(Addition(member: member, slot: slot, object: object))
  }

  mutating func record(returnOf object: ManagedObject) { returned.append(object) }

  /// Makes both sides of relationships agree, when all actions were performed: between two of them
  /// they need not. Another context may have changed one side in the store since they were
  /// registered: then a to-one side that the actions have set decides, and a member that they have
  /// added. What an object that is back refers to refers back to it, unless it refers to another
  /// one.
  func makeAgree(in context: ManagedObjectContext) throws {
    for change in redirections {
      let object = change.object
      guard context.isPresent(object) else { continue }
      let relationship = object.binding.relationship(change.slot)
      if let former = change.former, context.isPresent(former),
        try object.rawOne(change.slot) !== former,
        let inverse = object.inverseSlot(of: relationship, on: former)
      {
        try former.cut(inverse, from: object)
      }
      try object.makeAgree(change.slot)
    }
    for addition in additions where context.isPresent(addition.object) {
      let (object, member) = (addition.object, addition.member)
      guard context.isPresent(member), try object.holds(member, addition.slot) else { continue }
      try object.makeAgree(addition.slot, with: member)
    }
    for object in returned where context.isPresent(object) {
      for slot in object.binding.relationshipSlots { try object.makeAgree(slot) }
    }
  }

  func callHooks(in context: ManagedObjectContext) {
    for change in changes where change.object.context == nil || change.object.context === context {
      change.object.callAwake(after: change.events)
    }
  }

  /// Makes objects clean that equal their rows.
  func cleanUp(in context: ManagedObjectContext) {
    for change in changes {
      let object = change.object
      guard object.context === context, object.isUpdated, object.isAsStored else { continue }
      object.setPending(nil)
      object.keepTransientSlots()
    }
  }
}

extension ManagedObjectContext {
  fileprivate func isPresent(_ object: ManagedObject) -> Bool {
    object.context === self && !object.isDeleted
  }
}

// Agreement of both sides of a relationship, after one was changed alone.
extension ManagedObject {
  /// Removes this object from the inverses of its relationships, so that no object refers here any
  /// more and no rule denies the deletion.
  final func removeInverses() throws {
    guard let context else { return }
    for slot in binding.relationshipSlots {
      let relationship = binding.relationship(slot)
      for destination in try context.destinations(of: self, slot) {
        if let inverse = inverseSlot(of: relationship, on: destination) {
          try destination.cut(inverse, from: self)
        }
        if relationship.deleteRule == .deny { try cut(slot, from: destination) }
      }
    }
  }

  /// Ends all relationships, on both sides, also where one side alone refers to the other.
  final func endRelationships() throws {
    for slot in binding.storedRelationshipSlots {
      for destination in try rawDestinations(slot) {
        try cut(slot, from: destination)
        if let inverse = inverseSlot(of: slot, on: destination) {
          try destination.cut(inverse, from: self)
        }
      }
    }
  }

  /// Makes the destinations of a slot refer back here. Those that refer to another object are
  /// removed.
  fileprivate final func makeAgree(_ slot: Int) throws {
    guard let context else { return }
    for destination in try rawDestinations(slot) where context.isPresent(destination) {
      try makeAgree(slot, with: destination)
    }
  }

  fileprivate final func makeAgree(_ slot: Int, with destination: ManagedObject) throws {
    let relationship = binding.relationship(slot)
    guard let inverse = inverseSlot(of: relationship, on: destination) else { return }
    if destination.isToMany(inverse) {
      if try !destination.holds(self, inverse) { try destination.pendingAdd(self, inverse) }
      return
    }
    let present = try destination.rawOne(inverse)
    if present === self { return }
    if let present, context?.isPresent(present) == true {
      try cut(slot, from: destination)
    } else {
      try destination.put(self, in: inverse)
    }
  }
}
