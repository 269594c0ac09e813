import QuireModel

// The two sides of a relationship, where one is a field of a row and the other a tree of links.
extension StoreWriter {
  /// The link tree in which the destination of a to-one relationship lists those that lead to it.
  func ownersLink(
    of slot: Int, of binding: EntityBinding, _ owner: Reference
  ) -> StoredEntity.Link? {
    guard let storage = entities.storage(of: owner) else { return nil }
    return inverseSlot(of: slot, of: binding, on: storage).flatMap { storage.link($0) }
  }

  /// The slot of the relationship that leads back from an object of an entity.
  func inverseSlot(of slot: Int, of binding: EntityBinding, on storage: EntityStorage) -> Int? {
    let trait = binding.traits[slot]
    if trait.inverseSlot >= 0, storage.binding.index == Int(trait.destination) {
      return Int(trait.inverseSlot)
    }
    return binding.relationship(slot).inverse.flatMap { storage.binding.slot(named: $0) }
  }

  /// Removes the entries that stored foreign keys of an object have in the trees of their owners.
  ///
  /// - Parameters:
  ///   - slots: those that are no relationships are passed over.
  ///   - owner: what the row has in a slot, and in its field.
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

  /// Removes the links that an object has, on both sides, and its values outside of rows: before
  /// its row goes.
  ///
  /// - Parameter foreignKey: told of members that lead to the object by a field of their own.
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
