import QuireModel

/// The delete rules of the deleted objects of a context, applied when changes are processed and not
/// by ``ManagedObjectContext/delete(_:)``: until then the relationships of a deleted object are
/// whole, as ``ManagedObject/prepareForDeletion()`` finds them.
///
/// A rule changes the other ends alone: the deleted object keeps what it refers to, so that its
/// deletion can be taken back (``ManagedObject/restoreOtherEnds(_:)``).
struct DeleteRules {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Applies the rules of objects that were deleted since the last call. Does nothing within a
  /// call, which goes on until no object is left.
  func apply() {
    guard context.activity != .applyingDeleteRules else { return }
    guard let first = context.changes.takeUndecided() else { return }
    context.during(.applyingDeleteRules) {
      process(first)
      // Rules may delete more objects, which are appended.
      while let object = context.changes.takeUndecided() { process(object) }
    }
  }

  /// Applies the rules of one object, after its hook.
  func process(_ object: ManagedObject) {
    guard isUndecided(object) else { return }
    object.prepareForDeletion()
    // The hook may have taken the deletion back, or dropped the object.
    guard isUndecided(object) else { return }
    do {
      try propagate(object)
    } catch {
      context.report(error)
    }
    guard isUndecided(object) else { return restoreOtherEnds(of: object) }
    object.state.insert(.propagated)
    context.hidingCount &+= 1
    if !object.isStored { context.drop(object) }
  }

  private func isUndecided(_ object: ManagedObject) -> Bool {
    object.context === context && object.isDeleted && !object.state.contains(.propagated)
  }

  /// Restores what the rules had cleared of an object whose deletion was taken back while they were
  /// applied.
  private func restoreOtherEnds(of object: ManagedObject) {
    guard object.isLive(in: context) else { return }
    do {
      try object.restoreOtherEnds(object.keptLinks())
    } catch {
      context.report(error)
    }
  }

  /// Applies the rules of one object. Ends when a hook of an object that is read takes the deletion
  /// back, or drops the object.
  func propagate(_ object: ManagedObject) throws {
    for slot in object.binding.relationshipSlots {
      let given = object.ofArena { $0.binding.traits[slot].deleteRule }
      var rule = given
      // No object may go on referring to one that was never stored, should it be inserted again.
      if !object.isStored, !rule.deletesDestinations { rule = .nullify }
      switch rule {
      case .noAction, .deny: continue
      case .nullify:
        for destination in try object.destinations(slot) {
          let inverse = object.inverseSlot(of: slot, on: destination)
          if let inverse { _ = try destination.makeReady(inverse) }
          guard object.context === context, object.isDeleted else { return }
          if let inverse { try destination.removeInverse(inverse, to: object) }
          // Cleared on this side too: otherwise the rule would deny the deletion if it were redone
          // after the object was saved.
          if given.deniesDeletion { try object.removeInverse(slot, to: destination) }
        }
      case .cascade:
        for destination in try object.destinations(slot) {
          guard object.context === context, object.isDeleted else { return }
          context.delete(destination)
        }
      }
    }
  }
}
