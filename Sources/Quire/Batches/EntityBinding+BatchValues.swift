import QuireModel

// What batch requests may set, and to what.
extension EntityBinding {
  /// The slot of a property that batch requests set.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is none of that name;
  ///   ``PersistenceError/Code/unacceptableValue`` for one that is not theirs to set.
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
      throw refuse("leads to many, and batch requests set attributes and to-one relationships")
    }
    if trait.isTransient { throw refuse("is transient, and batch requests are about stores") }
    if trait.isDerived { throw refuse("is derived, and the store works it out") }
    return slot
  }

  /// A value as the attribute of a slot keeps it.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when it is of another type.
  @inline(__always)
  func attributeValue(_ value: Any, _ slot: Int) throws -> AttributeValue {
    // What most values are, without a look at the attribute's description. A type is compared
    // before it is cast, as that takes longer.
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

  /// The object that a to-one relationship is to lead to.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when the value is no ID and no object,
  ///   or one of another entity.
  func destinationID(_ value: Any, _ slot: Int) throws -> ManagedObjectID {
    let id = value as? ManagedObjectID ?? (value as? ManagedObject)?.objectID
    var ancestor = id?.entity
    while let level = ancestor, level.name != relationship(slot).destination {
      ancestor = level.parent
    }
    guard let id, ancestor != nil else {
      throw error(
        about: slot, .unacceptableValue,
        "cannot lead to \(PersistenceError.briefDescription(of: value)), which is of type "
          + "\(type(of: value)): set it to the ID of an object of \(relationship(slot).destination)"
      )
    }
    return id
  }
}

extension BatchWrite {
  /// Where an object is that a to-one relationship is to lead to.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectExternalRelationship`` when it is of another
  ///   store, or was never saved; ``PersistenceError/Code/managedObjectReferentialIntegrity`` when
  ///   it is not there.
  func destination(_ id: ManagedObjectID, _ binding: EntityBinding, _ slot: Int) throws -> Reference
  {
    guard let place = session.context.place(for: id), place.session === session else {
      throw binding.error(
        about: slot, .managedObjectExternalRelationship,
        id.isTemporaryID
          ? "cannot lead to \(id), which was never saved: save it first"
          : "cannot lead to \(id), which is of another store")
    }
    guard try writer.contains(place.reference) else {
      throw binding.error(
        about: slot, .managedObjectReferentialIntegrity,
        "cannot lead to \(id): there is no such object in the store")
    }
    return place.reference
  }
}
