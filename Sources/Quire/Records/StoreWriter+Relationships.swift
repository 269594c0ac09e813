import QuireModel

// The two sides of a relationship, where one is a field of a row and the other a tree of links.
extension StoreWriter {
  /// The link tree in which the destination of a to-one relationship lists its owners.
  func ownersLink(
    of slot: Int, of binding: EntityBinding, _ owner: Reference
  ) -> StoredEntity.Link? {
    guard let storage = entities.storage(of: owner) else { return nil }
    return inverseSlot(of: slot, of: binding, on: storage).flatMap { storage.link($0) }
  }

  /// The slot of the inverse relationship in an entity of the destination's family.
  func inverseSlot(of slot: Int, of binding: EntityBinding, on storage: EntityStorage) -> Int? {
    let trait = binding.traits[slot]
    if trait.inverseSlot >= 0, storage.binding.index == Int(trait.destination) {
      return Int(trait.inverseSlot)
    }
    return binding.relationship(slot).inverse.flatMap { storage.binding.slot(named: $0) }
  }

  /// Removes the links that mirror foreign keys of an object from the link trees of their
  /// destinations.
  ///
  /// - Parameters:
  ///   - slots: the slots of foreign keys; those that are not of relationships are skipped.
  ///   - owner: returns the destination in the row, given the slot and its field.
  func removeForeignLinks(
    of reference: Reference, _ storage: EntityStorage, _ slots: some Sequence<Int>,
    to owner: (_ slot: Int, _ field: Int) throws -> Reference?
  ) throws {
    let binding = storage.binding
    for slot in slots where binding.relationshipSlots.contains(slot) {
      let field = storage.fieldBySlot[slot]
      guard field >= 0, let owner = try owner(slot, field),
        let link = ownersLink(of: slot, of: binding, owner)
      else { continue }
      try removeLink(link, from: owner.key, to: reference)
    }
  }

  /// Removes an object's links on both sides, and its values outside of the row, before its row is
  /// removed.
  ///
  /// - Parameter foreignKey: called with each member that refers to the object by a field of its
  ///   own.
  func removeWhatRowHas(
    at reference: Reference, _ storage: EntityStorage,
    _ foreignKey: (RelationshipDescription, Reference) throws -> Void
  ) throws {
    let binding = storage.binding
    for slot in binding.relationshipSlots {
      guard let link = storage.link(slot) else { continue }
      for key in try linkKeys(link, of: reference.key) {
        guard let other = entities.storage(of: key.member),
          let inverse = inverseSlot(of: slot, of: binding, on: other)
        else { continue }
        if let back = other.link(inverse) {
          try removeLink(back, from: key.member.key, to: reference)
        } else {
          try foreignKey(binding.relationship(slot), key.member)
        }
      }
      try removeLinks(link, of: reference.key)
    }
    try removeExternal(at: reference, in: storage)
  }
}
