/// One-to-one relationships with objects whose deletion was undone after it was saved, as far as
/// they rest on rows that the deletion has left as they were.
///
/// Such a row says what the object that is back says, so its own object has no change. Another save
/// may have led it elsewhere meanwhile: then, when the row is read again, it gets one.
struct ReturnedEnds {
  private struct End {
    let object: ManagedObject
    let slot: Int
    let returned: ManagedObject
    let inverse: Int
  }

  private var ends: [End] = []

  /// To be made before rows of objects are replaced.
  init(_ objects: [ManagedObject], in context: ManagedObjectContext) {
    guard !context.changes.inserted.isEmpty, context.changes.mayHaveRelationships else { return }
    for object in objects
    where object.context === context && object.hasRow
      && object.ofArena({ $0.binding.hasOneToOnes })
    {
      for slot in object.binding.oneToOneSlots {
        guard let (returned, inverse) = object.returnedEnd(slot) else { continue }
        ends.append(End(object: object, slot: slot, returned: returned, inverse: inverse))
      }
    }
  }

  /// To be called when the rows were replaced.
  ///
  /// - Parameter keepsChanges: whether the relationship stays; otherwise the store's does.
  func agree(keepsChanges: Bool, in context: ManagedObjectContext) throws {
    if ends.isEmpty { return }
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    for end in ends {
      guard end.object.context === context, end.returned.isSet(to: end.object, end.inverse)
      else { continue }
      try end.object.fulfil()
      if keepsChanges, !end.object.isDeleted {
        try end.returned.referBack(from: end.object, end.inverse, prevails: true)
      } else {
        try end.object.agree(end.slot, with: end.returned)
      }
    }
  }
}
