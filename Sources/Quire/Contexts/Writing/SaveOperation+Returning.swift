import QuireModel

// One-to-one relationships of objects whose deletion was undone.
extension SaveOperation {
  /// The relationships of returning objects that have no destination, and what their rows would be
  /// found by: the relationship at the other end.
  private struct OpenEnd: Hashable {
    let entity: String
    let inverse: String
  }

  /// Lets objects whose deletion was undone refer back to those whose rows refer to them by a
  /// one-to-one relationship.
  ///
  /// Where the delete rule is to take no action, such rows go on referring to a deleted object. One
  /// of them may be another context's work, of which this object was not told before it was
  /// deleted: both ends would contradict each other in the store from now on.
  ///
  /// Called while a save is prepared, as it may make objects. No other context can lead anything to
  /// these objects any more, so the newest state has all that does.
  ///
  /// - Complexity: one pass over the rows of the entity at the other end, if there is such a
  ///   relationship: it has no index.
  func leadBackToOthers() throws {
    guard hasReturned, store.incremental == nil else { return }
    var open: [OpenEnd: [Reference: (object: ManagedObject, slot: Int)]] = [:]
    for item in inserted where item.object.isPersistent {
      let object = item.object
      for slot in object.binding.oneToOneSlots where item.storage.fieldBySlot[slot] >= 0 {
        let relationship = object.binding.relationship(slot)
        guard relationship.deleteRule.leavesOtherEnds, let inverse = relationship.inverse,
          try object.one(slot) == nil
        else { continue }
        let end = OpenEnd(entity: relationship.destination, inverse: inverse)
        open[end, default: [:]][object.reference] = (object, slot)
      }
    }
    if open.isEmpty { return }
    let view = try session.newestState()
    for (end, objects) in open {
      for case let storage? in entities.byIndex
      where storage.binding.entity.isKind(named: end.entity) {
        guard let slot = storage.binding.slot(named: end.inverse) else { continue }
        for (other, object, own) in try rows(of: storage, leadingBy: slot, to: objects, view) {
          guard try object.one(own) == nil, let destination = try destination(at: other, slot)
          else { continue }
          try object.putPrimitive(.one(destination), in: own)
        }
      }
    }
  }

  /// The rows that refer to objects by a to-one relationship.
  private func rows(
    of storage: EntityStorage, leadingBy slot: Int,
    to objects: [Reference: (object: ManagedObject, slot: Int)], _ view: StoreView
  ) throws -> [(row: Reference, object: ManagedObject, slot: Int)] {
    let field = storage.fieldBySlot[slot]
    guard field >= 0, let tree = try view.rows(of: storage) else { return [] }
    var found: [(Reference, ManagedObject, Int)] = []
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let row = Reference(entity: storage.stored.number, key: try cursor.key)
      if let reference = try view.row(row)?.reference(field), let end = objects[reference] {
        found.append((row, end.object, end.slot))
      }
      isInside = try cursor.next()
    }
    withExtendedLifetime(cursor) {}
    return found
  }

  /// The object of a row that refers here, unless this save deletes it or leads it elsewhere.
  private func destination(at reference: Reference, _ slot: Int) throws -> ManagedObject? {
    let object = try session.object(at: reference)
    if object.isDeleted || object.isUpdated && object.isToBeWritten(slot) { return nil }
    return object
  }
}
