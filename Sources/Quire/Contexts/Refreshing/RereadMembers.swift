import QuireModel

/// Objects whose rows are read again, and the changed objects that have them as members.
///
/// An owner may have got or lost a member here whose row said so already, as it was read before
/// another save changed it (``ManagedObject/forEachUnwrittenMember(_:_:)``). When the row is read
/// again, the owner has to follow it, or no save could write the two.
struct RereadMembers {
  private struct Membership {
    let member: ManagedObject
    let slot: Int
    let owner: ManagedObject
  }

  private let context: ManagedObjectContext
  private let members: [ManagedObject]
  /// By the rows before.
  private let former: [Membership]

  /// To be made before the rows are replaced. Costs nothing in a context without changed objects.
  init(_ objects: [ManagedObject], of context: ManagedObjectContext) {
    self.context = context
    guard !context.changes.updated.isEmpty else {
      (members, former) = ([], [])
      return
    }
    members = objects.filter { $0.context === context && $0.hasRow && $0.isStored }
    former = members.flatMap { member in
      Self.memberships(of: member) { member.storedReference($0) }
    }
  }

  private static func memberships(
    of member: ManagedObject, _ destination: (Int) -> Reference?
  ) -> [Membership] {
    guard let session = member.session else { return [] }
    return member.binding.storedRelationshipSlots.compactMap { slot in
      guard !member.isToMany(slot), let reference = destination(slot),
        let owner = session.registered(reference), owner.isUpdated, owner.hasSlots,
        let inverse = member.inverseSlot(of: slot, on: owner), owner.isToMany(inverse)
      else { return nil }
      return Membership(member: member, slot: slot, owner: owner)
    }
  }

  /// To be called when all rows were replaced.
  func makeOwnersAgree() throws {
    if members.isEmpty { return }
    // Undoing the owner's own change restores this, too.
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    for item in former { try makeAgree(item) }
    for member in members where member.context === context {
      guard let storage = member.storage,
        let row = try member.session?.currentView().row(member.reference)
      else { continue }
      let present = Self.memberships(of: member) { slot in
        storage.fieldBySlot[slot] >= 0 ? row.reference(storage.fieldBySlot[slot]) : nil
      }
      for item in present { try makeAgree(item) }
    }
  }

  private func makeAgree(_ item: Membership) throws {
    let (member, owner) = (item.member, item.owner)
    guard member.context === context, owner.context === context, owner.isUpdated, owner.hasSlots,
      !member.isDeleted, !member.hasSlots || !member.isToBeWritten(item.slot),
      let inverse = member.inverseSlot(of: item.slot, on: owner),
      let field = member.storage?.fieldBySlot[item.slot], field >= 0,
      let row = try member.session?.currentView().row(member.reference)
    else { return }
    let isMember = row.reference(field) == owner.reference
    if try owner.holds(member, inverse) == isMember { return }
    if isMember {
      try owner.pendingAdd(member, inverse)
    } else {
      try owner.pendingRemove(member, inverse)
    }
  }
}
