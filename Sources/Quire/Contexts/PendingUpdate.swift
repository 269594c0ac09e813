/// A changed object whose row or links a save has to write.
struct PendingUpdate {
  // Sound: whoever made it retains the object, as a save does with its updated objects.
  private let uncounted: Unmanaged<ManagedObject>
  /// The slots that differ from the row: found once, as every value is compared.
  let changedSlots: SlotSet

  /// - Returns: `nil` for an object of which a save has to write nothing.
  /// - Precondition: the object is retained for longer.
  init?(_ object: Unmanaged<ManagedObject>) {
    uncounted = object
    changedSlots = object._withUnsafeGuaranteedRef { $0.slotsToWrite }
    if changedSlots.isEmpty { return nil }
  }

  /// Whether anything but foreign keys of other objects has changed.
  var hasOwnChange: Bool {
    changedSlots.contains { slot in
      let trait = ofObject { $0.ofArena { $0.binding.traits[slot] } }
      return trait.attributeType != nil || !trait.isToMany || !trait.isForeignKeyOfOthers
    }
  }

  var object: ManagedObject { uncounted.takeUnretainedValue() }

  func ofObject<Result>(_ body: (ManagedObject) throws -> Result) rethrows -> Result {
    try uncounted._withUnsafeGuaranteedRef(body)
  }
}
