import QuireModel

// Objects that others have deleted and brought back.
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
          guard let inverse = object.inverseSlot(of: slot, on: member), member.isToMany(inverse)
          else { continue }
          try object.agree(slot, with: member)
        }
      }
    }
  }
}
