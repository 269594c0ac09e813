import QuireModel

// One-to-one relationships of objects whose deletion was undone.
extension SaveOperation {
  /// Relationships of returning objects, by what rows refer to them by: the relationship at the
  /// other end.
  private struct OtherEnd: Hashable {
    let entity: String
    let inverse: String
  }

  /// A row that refers to a returning object, which need not refer back.
  private struct LeadingRow {
    let reference: Reference
    let slot: Int
    let version: UInt32
    let object: ManagedObject
  }

  /// Makes objects whose deletion was undone agree with those whose rows refer to them by a
  /// one-to-one relationship: they refer back, or if they refer elsewhere, the others lose them.
  ///
  /// Where the delete rule is to take no action, such rows go on referring to a deleted object. One
  /// of them may be another context's work, of which this object was not told before it was
  /// deleted: both ends would contradict each other in the store from now on.
  ///
  /// Called while a save is prepared, as it may make objects and change them. No other context can
  /// lead anything to these objects any more, so the newest state has all that does.
  ///
  /// - Complexity: one pass over the rows of the entity at the other end, if there is such a
  ///   relationship: it has no index.
  func agreeWithOthers() throws {
    guard hasReturned, store.incremental == nil else { return }
    var returned: [OtherEnd: [Reference: ManagedObject]] = [:]
    for item in inserted where item.object.isPersistent {
      let object = item.object
      for slot in object.binding.oneToOneSlots where item.storage.fieldBySlot[slot] >= 0 {
        let relationship = object.binding.relationship(slot)
        guard relationship.deleteRule.leavesOtherEnds, let inverse = relationship.inverse else {
          continue
        }
        let end = OtherEnd(entity: relationship.destination, inverse: inverse)
        returned[end, default: [:]][object.reference] = object
      }
    }
    if returned.isEmpty { return }
    let state = try session.newestState()
    var rows: [LeadingRow] = []
    for (end, objects) in returned {
      for case let storage? in entities.byIndex
      where storage.binding.entity.isKind(named: end.entity) {
        guard let slot = storage.binding.slot(named: end.inverse) else { continue }
        rows += try self.rows(of: storage, leadingBy: slot, to: objects, state)
      }
    }
    if rows.isEmpty { return }
    // A save moves a query generation on.
    if session.pinnedView != nil { session.pinnedView = state }
    _ = try session.latestView()
    for row in rows { try agree(row) }
  }

  private func agree(_ row: LeadingRow) throws {
    let (object, context) = (row.object, session.context)
    let other = try session.object(at: row.reference)
    if !other.hasChanges, other.hasRow, other.version != row.version {
      context.refresh(other, mergeChanges: true)
    }
    try other.fulfil()
    // A hook may have dropped one of them, or has led it elsewhere.
    guard object.isLive(in: context), other.isLive(in: context),
      !other.isUpdated || !other.isToBeWritten(row.slot)
    else { return }
    context.undoRecording?.isPaused = true
    defer { context.undoRecording?.isPaused = false }
    try other.agree(row.slot, with: object)
  }

  /// The rows that refer to objects by a to-one relationship.
  private func rows(
    of storage: EntityStorage, leadingBy slot: Int, to objects: [Reference: ManagedObject],
    _ view: StoreView
  ) throws -> [LeadingRow] {
    let field = storage.fieldBySlot[slot]
    guard field >= 0, let tree = try view.rows(of: storage) else { return [] }
    var found: [LeadingRow] = []
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: storage.stored.number, key: try cursor.key)
      if let row = try view.row(reference), let destination = row.reference(field),
        let object = objects[destination]
      {
        found.append(
          LeadingRow(reference: reference, slot: slot, version: row.version, object: object))
      }
      isInside = try cursor.next()
    }
    withExtendedLifetime(cursor) {}
    return found
  }
}
