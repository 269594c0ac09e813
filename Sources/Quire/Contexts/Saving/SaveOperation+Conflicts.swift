import QuireModel

// Detection of changes that other contexts have saved since the objects of a save were read. The
// conflicts themselves are found afterwards, by `ManagedObjectContext+Conflicts.swift`, as the
// transaction may be half written here.
extension SaveOperation {
  /// Thrown when the save cannot be written because of conflicts.
  struct Outdated: Error {}

  /// Thrown when the save cannot be written because two objects would have values that must be
  /// unique.
  struct Duplicates: Error {}

  /// - Parameter isWritten: whether its row is to be written; otherwise it may have any version.
  func checkVersion(
    of object: ManagedObject, isWritten: Bool = true, _ writer: StoreWriter
  ) throws {
    let version = try writer.version(at: object.reference) ?? 0
    if version == 0 || isWritten && object.isOutdated(version) { isOutdated = true }
  }

  /// Checks that the former reference of an object whose deletion was undone is still free.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectMerge`` when another context has undone the
  ///   deletion as well. The two cannot be merged, as this object has no former values.
  func checkPlace(of object: ManagedObject, _ writer: StoreWriter) throws {
    if let current = try writer.version(at: object.reference) {
      throw placeTaken(object, current)
    }
  }

  func placeTaken(_ object: ManagedObject, _ current: UInt32) -> PersistenceError {
    let report = MergeConflict.Report(
      objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current))
    var error = PersistenceError(
      .managedObjectMerge, "an object whose deletion was undone is back in the store: \(report)")
    error.conflicts = [report]
    return error
  }

  /// The expected value of a to-one relationship after a save that has changed its inverse.
  struct Counterpart {
    let reference: Reference
    let field: Int
    /// The object whose relationship the save has changed, or that it has deleted.
    let object: Reference
    /// Whether the other end must lead to that object, or must not.
    let leads: Bool
  }

  /// Records the one-to-one destinations in the row of a deleted object, before it is removed.
  func recordCounterparts(of object: ManagedObject, _ writer: StoreWriter) throws {
    guard let storage = object.storage else { return }
    for slot in object.binding.oneToOneSlots where storage.fieldBySlot[slot] >= 0 {
      let relationship = object.binding.relationship(slot)
      guard relationship.deleteRule != .noAction,
        let reference = try writer.withRow(
          object.reference, { $0.reference(storage.fieldBySlot[slot]) }) ?? nil
      else { continue }
      record(reference, of: relationship, object.reference, leads: false)
    }
  }

  /// Records the former and the new destinations of an object's changed one-to-one relationships.
  func recordCounterparts(
    of object: ManagedObject, _ slots: [Int], _ storage: EntityStorage, _ reference: Reference
  ) {
    for slot in slots where storage.fieldBySlot[slot] >= 0 {
      guard case .one(let destination) = object.slots[slot] else { continue }
      let relationship = object.binding.relationship(slot)
      let new = destination.flatMap { remains($0) ? finalReference($0) : nil }
      let old = object.hasRow ? object.readReference(slot) : nil
      if let new { record(new, of: relationship, reference, leads: true) }
      if let old, old != new { record(old, of: relationship, reference, leads: false) }
    }
  }

  private func record(
    _ other: Reference, of relationship: RelationshipDescription, _ object: Reference, leads: Bool
  ) {
    guard let storage = entities.storage(of: other), let inverse = relationship.inverse,
      let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0
    else { return }
    counterparts.append(
      Counterpart(
        reference: other, field: storage.fieldBySlot[slot], object: object, leads: leads))
  }

  /// Checks that all of them agree with the objects of the save, in the rows after it.
  ///
  /// A context may have read one row of a one-to-one relationship before another save wrote it, and
  /// the other row after it. Written as they are, the two would contradict each other for ever.
  func checkCounterparts(_ writer: StoreWriter) throws {
    for counterpart in counterparts {
      let led = try writer.withRow(counterpart.reference) { $0.reference(counterpart.field) } ?? nil
      if (led == counterpart.object) != counterpart.leads { isOutdated = true }
    }
    counterparts = []
  }

  func throwIfOutdated() throws(Outdated) {
    if isOutdated { throw Outdated() }
  }
}

extension ManagedObject {
  /// Whether another save has written or removed the object's row since it was read here.
  ///
  /// - Parameter version: of the store's present row; 0 when it has none.
  final func isOutdated(_ version: UInt32) -> Bool {
    if version == 0 { return true }
    // An object whose row was never read has no version that could be outdated.
    let isUnread = !hasRow && (isDeleted || !hasChanges)
    return !isUnread && version != self.version
  }
}
