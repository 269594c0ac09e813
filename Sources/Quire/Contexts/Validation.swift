import QuireModel

/// Checks objects against the rules of their entities, and collects what is wrong.
///
/// All errors are collected: a person who fills in a form wants to know everything that is wrong
/// with it.
struct Validation {
  private(set) var errors: [PersistenceError] = []
  /// An error that somebody's own validation threw.
  private var foreignError: (any Error)?

  /// - Throws: the one error there is, or one that holds them all.
  func finish() throws {
    if errors.count == 1 { throw foreignError ?? errors[0] }
    if errors.count > 1 {
      var error = PersistenceError(
        .validationMultipleErrors, "\(errors.count) things are wrong with the objects to save")
      error.detailedErrors = errors
      throw error
    }
  }

  /// Runs what validates one object, and keeps what it finds. Of an error that is not ours only the
  /// first can be thrown as it is.
  ///
  /// - Throws: errors that say nothing about the object, such as of a store that cannot be read.
  mutating func collect(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PersistenceError {
      guard error.code.isOfValidation else { throw error }
      errors += error.detailedErrors.isEmpty ? [error] : error.detailedErrors
    } catch {
      foreignError = foreignError ?? error
      errors.append(PersistenceError(.managedObjectValidation, "\(error)"))
    }
  }

  mutating func validateForSave(_ object: ManagedObject) throws {
    for (slot, property) in object.binding.properties.enumerated() {
      guard case .attribute(let attribute) = property, !attribute.isTransient else { continue }
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

  mutating func validateForDelete(_ object: ManagedObject) throws {
    guard let context = object.context else { return }
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

extension PersistenceError.Code {
  /// Whether an error says that an object is not as the model wants it.
  fileprivate var isOfValidation: Bool { (1550..<1700).contains(rawValue) }
}

extension ManagedObject {
  /// The model's rules for an object that is written.
  final func validateForSave() throws {
    var validation = Validation()
    try validation.validateForSave(self)
    try validation.finish()
  }

  /// The model's rules for an object that goes.
  final func validateDeletion() throws {
    var validation = Validation()
    try validation.validateForDelete(self)
    try validation.finish()
  }
}
