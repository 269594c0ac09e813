import QuireModel

/// Checks the objects of a save against the rules of their entities.
///
/// All errors are collected: a person who fills in a form wants to know everything that is wrong
/// with it.
struct Validation {
  private(set) var errors: [PersistenceError] = []

  /// - Throws: the one error there is, or one that holds them all.
  func finish() throws(PersistenceError) {
    if errors.count == 1 { throw errors[0] }
    if errors.count > 1 {
      var error = PersistenceError(
        .validationMultipleErrors, "\(errors.count) things are wrong with the objects to save")
      error.detailedErrors = errors
      throw error
    }
  }

  mutating func validateForSave(_ object: ManagedObject) throws {
    for (slot, attribute) in object.entity.attributes.enumerated() where !attribute.isTransient {
      let value = try object.attribute(slot)
      if value == nil, !attribute.isOptional {
        fail(.validationMissingMandatoryProperty, object, attribute.name, "has no value")
      }
      if let value, let error = object.rangeError(value, attribute) { errors.append(error) }
    }
    for slot in object.binding.relationshipSlots {
      let relationship = object.binding.relationship(slot)
      if relationship.isTransient { continue }
      if relationship.isToMany {
        try validateCount(object, slot, relationship)
      } else if !relationship.isOptional {
        let destination = try object.one(slot)
        if destination == nil || destination?.isDeleted == true {
          fail(.validationMissingMandatoryProperty, object, relationship.name, "leads nowhere")
        }
      }
    }
  }

  private mutating func validateCount(
    _ object: ManagedObject, _ slot: Int, _ relationship: RelationshipDescription
  ) throws {
    if relationship.isOptional && relationship.maxCount == 0 && relationship.minCount == 0 {
      return
    }
    // What was not touched was valid when it was saved, and may be long.
    if !object.isInserted {
      guard !object.slots.isEmpty, case .many = object.slots[slot] else { return }
    }
    let count = try object.members(slot).filter { !$0.isDeleted }.count
    if count == 0 && relationship.isOptional { return }
    if count == 0 && relationship.minCount == 0 {
      fail(.validationMissingMandatoryProperty, object, relationship.name, "leads nowhere")
    } else if count < relationship.minCount {
      fail(
        .validationRelationshipLacksMinimumCount, object, relationship.name,
        "has \(count) objects of at least \(relationship.minCount)")
    } else if relationship.maxCount > 0 && count > relationship.maxCount {
      fail(
        .validationRelationshipExceedsMaximumCount, object, relationship.name,
        "has \(count) objects of at most \(relationship.maxCount)")
    }
  }

  mutating func validateForDelete(
    _ object: ManagedObject, in context: ManagedObjectContext
  ) throws {
    for slot in object.binding.relationshipSlots {
      let relationship = object.binding.relationship(slot)
      guard relationship.deleteRule == .deny else { continue }
      let remaining = try context.destinations(of: object, slot).filter { !$0.isDeleted }.count
      if remaining > 0 {
        fail(
          .validationRelationshipDeniedDelete, object, relationship.name,
          "still leads to \(remaining) objects, so the object cannot be deleted")
      }
    }
  }

  private mutating func fail(
    _ code: PersistenceError.Code, _ object: ManagedObject, _ key: String, _ what: String
  ) {
    var error = PersistenceError(code, "\(object.entity.name).\(key) \(what)")
    error.entityName = object.entity.name
    error.objectID = object.objectID
    error.key = key
    errors.append(error)
  }
}
