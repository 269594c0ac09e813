// Checks of a schema on which everything else relies. A file made by other means may violate them.
extension StoreSchema {
  /// Checks that the numbers of entities and links are unique, and so are their names: otherwise an
  /// object could be read as one of another entity.
  static func check(
    _ entities: [StoredEntity], _ lastEntity: UInt16, _ lastLink: UInt16
  ) throws(PersistenceError) {
    var numbers: Set<UInt16> = []
    var names: Set<String> = []
    var linkNumbers: Set<UInt16> = []
    // The highest number is that of unsaved objects, the lowest that of values outside of rows.
    guard lastEntity < Reference.temporaryEntity else {
      throw damaged("has given the entity number \(lastEntity), which no entity can have")
    }
    for entity in entities {
      guard (1...max(1, lastEntity)).contains(entity.number), numbers.insert(entity.number).inserted
      else {
        throw damaged(
          "has \(entity.name) under the number \(entity.number), which is another's or not given")
      }
      guard names.insert(entity.name).inserted else { throw damaged("has \(entity.name) twice") }
      guard entity.keySpace > 0 else {
        throw damaged("says that \(entity.name) has no key space")
      }
      for link in entity.links {
        guard link.number > 0, link.number <= lastLink, linkNumbers.insert(link.number).inserted
        else {
          throw damaged(
            "has the links of \(entity.name).\(link.relationship) under the number \(link.number), "
              + "which is another's or not given")
        }
      }
      var properties: Set<String> = []
      for name in entity.layout.fields.map(\.name) + entity.links.map(\.relationship) {
        guard properties.insert(name).inserted else {
          throw damaged("has \(entity.name).\(name) twice")
        }
      }
    }
  }
}

extension EntityStorage {
  /// Checks that rows and links of the store have exactly the properties of the model's entity: a
  /// property without a field would lose its values, and a field of another kind would be misread.
  func check() throws(PersistenceError) {
    let traits = binding.traits
    for (field, slot) in slotByField.enumerated() {
      guard slot >= 0, !traits[slot].isTransient, !traits[slot].isToMany,
        layout.fields[field].kind == kind(ofSlot: slot)
      else { throw misfit("field", layout.fields[field].name) }
    }
    for link in stored.links {
      guard let slot = binding.slot(named: link.relationship), !traits[slot].isTransient,
        traits[slot].isToMany, traits[slot].isOrdered == link.isOrdered
      else { throw misfit("link tree", link.relationship) }
    }
    // Names are unique, so that equal counts mean equal sets of properties.
    let count = traits.indices.count { !traits[$0].isTransient && kind(ofSlot: $0) != nil }
    guard count == slotByField.count + stored.links.count else {
      throw StoreSchema.damaged("has no field or link tree for all properties of \(stored.name)")
    }
  }

  /// - Returns: `nil` for an attribute without a type, of which nothing is stored.
  private func kind(ofSlot slot: Int) -> FieldKind? {
    guard let type = binding.traits[slot].attributeType else { return .reference }
    return FieldKind(type)
  }

  private func misfit(_ what: String, _ property: String) -> PersistenceError {
    StoreSchema.damaged(
      "has a \(what) \(stored.name).\(property) that is not what the model says of that property")
  }
}
