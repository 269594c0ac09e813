import QuireStorage

/// What one save has changed in one store, by the final references of its objects.
package struct SavedChanges: Sendable {
  struct Update: Sendable {
    let reference: Reference
    /// The properties that differ from what they were, in order.
    let slots: [Int]
  }

  let entities: StoreEntities
  /// The commit that the save was.
  let commit: CommitNumber
  let inserted: [Reference]
  /// Objects whose row or links the save has written; not those that were set to what they were.
  let updated: [Update]
  let deleted: [Reference]
  /// The number of the transaction in the store's history, if that tells of the save.
  let historyNumber: Int64?

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
  package var commitNumber: CommitNumber { commit }
  package var insertedIDs: Set<ManagedObjectID> { objectIDs(of: inserted) }
  package var deletedIDs: Set<ManagedObjectID> { objectIDs(of: deleted) }
  /// The names of the changed properties of each updated object.
  package var updatedProperties: [(id: ManagedObjectID, names: [String])] {
    updated.compactMap { update in
      guard let storage = entities.storage(of: update.reference),
        let id = objectID(update.reference)
      else { return nil }
      return (id, update.slots.map { storage.binding.properties[$0].name })
    }
  }

  private func objectIDs(of references: [Reference]) -> Set<ManagedObjectID> {
    var ids = Set<ManagedObjectID>(minimumCapacity: references.count)
    for reference in references {
      if let id = objectID(reference) { ids.insert(id) }
    }
    return ids
  }

  private func objectID(_ reference: Reference) -> ManagedObjectID? {
    entities.storage(of: reference).map {
      ManagedObjectID(entity: $0.binding.entity, store: $0.identity, key: reference.key)
    }
  }
}
