import QuireModel

// One-to-one relationships of objects whose deletion was undone.
extension SaveOperation {
  /// The relationships of returning objects that lead nowhere, and what their rows would be found
  /// by: the relationship at the other end.
  private struct OpenEnd: Hashable {
    let entity: String
    let inverse: String
  }

  /// Lets objects whose deletion was undone lead back to those whose rows lead to them by a
  /// one-to-one relationship.
  ///
  /// Where the delete rule is to take no action, such rows go on leading to a deleted object. One
  /// of them may be another context's work, of which this object was not told before it was
  /// deleted: both ends would contradict each other in the store from now on.
  ///
  /// - Complexity: one pass over the rows of the entity at the other end, if there is such a
  ///   relationship: it has no index.
  func leadBackToOthers(_ writer: StoreWriter) throws {
    var open: [OpenEnd: [Reference: (object: ManagedObject, slot: Int)]] = [:]
    for item in inserted where item.object.isPersistent {
      let object = item.object
      for slot in object.binding.oneToOneSlots where item.storage.fieldBySlot[slot] >= 0 {
        let relationship = object.binding.relationship(slot)
        guard relationship.deleteRule == .noAction, let inverse = relationship.inverse,
          try object.one(slot) == nil
        else { continue }
        let end = OpenEnd(entity: relationship.destination, inverse: inverse)
        open[end, default: [:]][object.reference] = (object, slot)
      }
    }
    for (end, objects) in open {
      for case let storage? in entities.byIndex
      where storage.binding.entity.isKind(named: end.entity) {
        try leadBack(objects, to: storage, end.inverse, writer)
      }
    }
  }

  private func leadBack(
    _ objects: [Reference: (object: ManagedObject, slot: Int)], to storage: EntityStorage,
    _ inverse: String, _ writer: StoreWriter
  ) throws {
    guard let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0 else {
      return
    }
    let portion = 1_000
    var first = Int64.min
    while true {
      let keys = try writer.keys(of: storage, from: first, limit: portion)
      for key in keys {
        let other = Reference(entity: storage.stored.number, key: key)
        guard
          let reference = try writer.withRow(other, { $0.reference(storage.fieldBySlot[slot]) })
            ?? nil,
          let (object, own) = objects[reference], try object.one(own) == nil,
          let destination = try destination(at: other, slot)
        else { continue }
        try object.putPrimitive(.one(destination), in: own)
      }
      guard keys.count == portion, let last = keys.last, last < .max else { return }
      first = last + 1
    }
  }

  /// The object of a row that leads here, unless this save deletes it or leads it elsewhere.
  private func destination(at reference: Reference, _ slot: Int) throws -> ManagedObject? {
    let object = try session.object(at: reference)
    if object.isDeleted || object.isUpdated && object.isChanged(slot) { return nil }
    return object
  }
}
