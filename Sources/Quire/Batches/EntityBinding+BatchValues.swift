import QuireModel

// The properties that batch requests may set, and their values.
extension EntityBinding {
  /// The slot of a property that batch requests can set.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` if there is none of the name;
  ///   ``PersistenceError/Code/unacceptableValue`` if it cannot be set.
  func batchSlot(named name: String) throws -> Int {
    guard let slot = slot(named: name) else {
      var error = PersistenceError(
        .undefinedKey, "the entity \(entity.name) has no property \(name)")
      error.entityName = entity.name
      error.key = name
      throw error
    }
    let trait = traits[slot]
    func refuse(_ words: String) -> PersistenceError {
      error(about: slot, .unacceptableValue, words)
    }
    if trait.isToMany {
      throw refuse("refers to many, and batch requests set attributes and to-one relationships")
    }
    if trait.isTransient { throw refuse("is transient, and batch requests are about stores") }
    if trait.isDerived { throw refuse("is derived, and the store works it out") }
    return slot
  }

  /// A value converted to the type of a slot's attribute.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` if that is impossible.
  func attributeValue(_ value: Any, _ slot: Int) throws -> AttributeValue {
    // The most frequent types, without reading the attribute's description. Comparing a type is
    // faster than casting to it.
    switch traits[slot].attributeType {
    case .string?:
      if type(of: value) == String.self, let text = value as? String { return .string(text) }
    case .integer16?, .integer32?, .integer64?:
      if type(of: value) == Int.self, let number = value as? Int {
        return .integer(Int64(number))
      }
    case .double?:
      if type(of: value) == Double.self, let number = value as? Double { return .double(number) }
    default: break
    }
    return try convertedValue(value, slot)
  }

  @inline(never)
  private func convertedValue(_ value: Any, _ slot: Int) throws -> AttributeValue {
    if traits[slot].attributeType == .transformable {
      return try transformedAttribute(value, slot)
    }
    guard case .attribute(let attribute) = properties[slot],
      let converted = AttributeValue.converted(value, for: attribute)
    else {
      throw error(
        about: slot, .unacceptableValue,
        "cannot be \(PersistenceError.briefDescription(of: value)), which is of type "
          + "\(type(of: value))")
    }
    return converted
  }

  /// The ID of a to-one relationship's new destination.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` if the value is neither an ID nor an
  ///   object, or is of another entity.
  func destinationID(_ value: Any, _ slot: Int) throws -> ManagedObjectID {
    let id = value as? ManagedObjectID ?? (value as? ManagedObject)?.objectID
    var ancestor = id?.entity
    while let level = ancestor, level.name != relationship(slot).destination {
      ancestor = level.parent
    }
    guard let id, ancestor != nil else {
      throw error(
        about: slot, .unacceptableValue,
        "cannot refer to \(PersistenceError.briefDescription(of: value)), which is of type "
          + "\(type(of: value)): set it to the ID of an object of \(relationship(slot).destination)"
      )
    }
    return id
  }
}

extension BatchWrite {
  /// The reference of a to-one relationship's new destination.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` if it is of another
  ///   store, or was never saved; ``PersistenceError/Code/managedObjectReferentialIntegrity`` if it
  ///   does not exist.
  func destination(_ id: ManagedObjectID, _ binding: EntityBinding, _ slot: Int) throws -> Reference
  {
    guard let found = session.context.reference(for: id), found.session === session else {
      throw binding.error(
        about: slot, .managedObjectExternalRelationship,
        id.permanent.isTemporaryID
          ? "cannot refer to \(id), which was never saved: save it first"
          : "cannot refer to \(id), which is of another store")
    }
    guard try writer.contains(found.reference) else {
      throw binding.error(
        about: slot, .managedObjectReferentialIntegrity,
        "cannot refer to \(id): there is no such object in the store")
    }
    return found.reference
  }
}
