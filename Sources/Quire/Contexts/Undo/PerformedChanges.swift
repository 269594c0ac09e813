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
  private var indexes: [ObjectIdentifier: Int] = [:]
  private var redirections: [Redirection] = []
  private var additions: [Addition] = []
  /// Objects that were deleted, or had left, and are back.
  private var returned: [ManagedObject] = []

  mutating func record(_ object: ManagedObject, _ event: SnapshotEventType) {
    if let index = indexes[ObjectIdentifier(object)] {
      changes[index].events.insert(event)
    } else {
      indexes[ObjectIdentifier(object)] = changes.count
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
    for change in redirections where change.object.isLive(in: context) {
      let object = change.object
      if let former = change.former, former.isLive(in: context),
        try object.rawOne(change.slot) !== former
      {
        try object.agree(change.slot, with: former)
      }
      try object.agree(change.slot)
    }
    for addition in additions
    where addition.object.isLive(in: context) && addition.member.isLive(in: context) {
      let (object, member) = (addition.object, addition.member)
      if try object.holds(member, addition.slot) {
        try object.referBack(from: member, addition.slot)
      }
    }
    for object in returned where object.isLive(in: context) {
      for slot in object.slotsDecidedElsewhereFirst { try object.agree(slot) }
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
