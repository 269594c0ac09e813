import QuireModel

// What others have saved since the objects of a save were read. Which conflicts that makes is found
// afterwards, by `ManagedObjectContext+Conflicts.swift`: the transaction may be half written here.
extension SaveOperation {
  /// The save cannot be written: there are conflicts.
  struct Outdated: Error {}

  /// The save cannot be written: two objects would have values that a constraint forbids.
  struct Duplicates: Error {}

  func checkVersion(of object: ManagedObject, _ writer: StoreWriter) throws {
    if object.isOutdated(try writer.version(at: object.reference) ?? 0) { isOutdated = true }
  }

  /// Looks whether the former place of an object whose deletion was undone is still free.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectMerge`` when another context has undone the
  ///   deletion as well: there is nothing that could be merged with this object.
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

  /// What the other end of a one-to-one relationship is to say when a save is written.
  struct Counterpart {
    let reference: Reference
    let field: Int
    /// Where the save has changed the relationship, or deleted the object.
    let object: Reference
    /// Whether the other end leads there.
    let leads: Bool
  }

  /// Notes where the row of a deleted object leads, before it goes.
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

  /// Notes where changed one-to-one relationships of an object have led, and where they lead.
  func recordCounterparts(
    of object: ManagedObject, _ slots: [Int], _ storage: EntityStorage, _ reference: Reference
  ) {
    for slot in slots where storage.fieldBySlot[slot] >= 0 {
      guard case .one(let destination) = object.slots[slot] else { continue }
      let relationship = object.binding.relationship(slot)
      let new = destination.flatMap { remains($0) ? finalReference($0) : nil }
      let old = object.hasRow ? object.storedReference(slot) : nil
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

  /// Looks whether all of them, as this save leaves them, say what the objects of the save say.
  ///
  /// A context may have one end as it is and the other as it was: others have led it elsewhere
  /// since it was read, and this context may have merged that without a word. Written, the two
  /// would contradict each other for ever.
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
  /// - Parameter version: of the row that the store has now; 0 when it has none.
  final func isOutdated(_ version: UInt32) -> Bool {
    if version == 0 { return true }
    // An object whose row was never read has no version that could be outdated.
    let isUnread = !hasRow && (isDeleted || !hasChanges)
    return !isUnread && version != self.version
  }
}
