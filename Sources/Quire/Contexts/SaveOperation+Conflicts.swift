import QuireModel

// What others have saved since the objects of a save were read. Which conflicts that makes is found
// afterwards, by `ManagedObjectContext+Conflicts.swift`: the transaction may be half written here.
extension SaveOperation {
  /// The save cannot be written: there are conflicts.
  struct Outdated: Error {}

  /// The save cannot be written: two objects would have values that a constraint forbids.
  struct Duplicates: Error {}

  func checkVersion(of object: ManagedObject, _ writer: StoreWriter) throws {
    let current = try writer.version(at: object.reference) ?? 0
    // An object whose row was never read has no version that could be outdated.
    let isUnread = !object.hasRow && current > 0 && (object.isDeleted || !object.hasChanges)
    if current == 0 || !isUnread && current != object.version { isOutdated = true }
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

  /// The other end of a one-to-one relationship of a deleted object.
  struct Counterpart {
    let reference: Reference
    /// The field that may lead to the object.
    let field: Int
    let deleted: Reference
  }

  /// Notes where the row of a deleted object leads, before it goes.
  func noteCounterparts(of object: ManagedObject, _ writer: StoreWriter) throws {
    guard let storage = object.storage else { return }
    for slot in object.binding.relationshipSlots where storage.fieldBySlot[slot] >= 0 {
      let relationship = object.binding.relationship(slot)
      guard relationship.deleteRule != .noAction, isOneToOne(object.binding.traits[slot]),
        let reference = try writer.withRow(
          object.reference, { $0.reference(storage.fieldBySlot[slot]) }) ?? nil,
        let field = oneToOneField(of: relationship, at: reference)
      else { continue }
      counterparts.append(
        Counterpart(reference: reference, field: field, deleted: object.reference))
    }
  }

  private func isOneToOne(_ trait: EntityBinding.Trait) -> Bool {
    guard trait.inverseSlot >= 0, let destination = entities.byIndex[Int(trait.destination)] else {
      return false
    }
    return !destination.binding.relationship(Int(trait.inverseSlot)).isToMany
  }

  private func oneToOneField(
    of relationship: RelationshipDescription, at reference: Reference
  ) -> Int? {
    guard let storage = entities.storage(of: reference), let inverse = relationship.inverse,
      let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0,
      !storage.binding.relationship(slot).isToMany
    else { return nil }
    return storage.fieldBySlot[slot]
  }

  /// Looks whether any of them, as this save leaves them, lead to what it deletes: another save has
  /// led them there, which this context may have merged without a word.
  func checkCounterparts(_ writer: StoreWriter) throws {
    for counterpart in counterparts {
      let led = try writer.withRow(counterpart.reference) { $0.reference(counterpart.field) } ?? nil
      if led == counterpart.deleted { isOutdated = true }
    }
    counterparts = []
  }

  func throwIfOutdated() throws(Outdated) {
    if isOutdated { throw Outdated() }
  }
}
