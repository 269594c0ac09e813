import QuireModel

/// Checks objects by the rules of their entities, and collects all errors, so that a program can
/// show everything that is wrong with a form.
struct Validation {
  private(set) var errors: [PersistenceError] = []

  /// - Throws: the only error, or ``PersistenceError/Code/validationMultipleErrors`` with all.
  func finish() throws {
    if errors.count == 1 { throw errors[0] }
    if errors.count > 1 {
      var error = PersistenceError(
        .validationMultipleErrors, "\(errors.count) things are wrong with the objects to save")
      error.detailedErrors = errors
      throw error
    }
  }

  /// As ``finish()``, for a save: an only error that the program's own validation has thrown is
  /// thrown unchanged.
  func finishSave() throws {
    if errors.count == 1, errors[0].isForeign, let error = errors[0].underlying { throw error }
    try finish()
  }

  /// Calls `body`, which validates an object or a property, and collects its errors. Facts that a
  /// ``PersistenceError`` lacks are added; other errors become the ``PersistenceError/underlying``
  /// of one.
  ///
  /// - Throws: errors that are not about the object, such as of a store that cannot be read.
  mutating func collect(
    _ object: ManagedObject, _ slot: Int? = nil, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch {
      try keep(error, object, slot)
    }
  }

  /// Collects the error of an object or property.
  @inline(never)
  private mutating func keep(_ error: any Error, _ object: ManagedObject, _ slot: Int?) throws {
    do {
      throw error
    } catch var error as PersistenceError {
      guard error.code.isOfValidation else { throw error }
      if error.detailedErrors.isEmpty {
        error.entityName = error.entityName ?? object.entity.name
        error.objectID = error.objectID ?? object.objectID
        error.key = error.key ?? slot.map { object.binding.name(of: $0) }
        errors.append(error)
      } else {
        errors += error.detailedErrors
      }
    } catch {
      let key = slot.map { object.binding.name(of: $0) }
      let name = object.entity.name + (key.map { ".\($0)" } ?? "")
      var known = PersistenceError(
        .managedObjectValidation, "\(name) is not accepted", underlying: error)
      known.isForeign = true
      known.entityName = object.entity.name
      known.objectID = object.objectID
      known.key = key
      errors.append(known)
    }
  }

  /// Checks the properties of an object that is written: all of a new one; of another one those
  /// that were set, transient ones, and whether required destinations still exist.
  mutating func validateForSave(_ object: ManagedObject) throws {
    // Only a subclass may override `validateValue(_:forKey:)`.
    let hasOwnClass = type(of: object) != ManagedObject.self
    if hasOwnClass, let context = object.context {
      for slot in 0..<object.ofArena({ $0.slotCount }) where object.mayBeInvalid(slot) {
        try collect(object, slot) { try object.validateContent(of: slot, in: context) }
      }
    } else if hasOwnClass {
      for slot in object.binding.properties.indices where object.mayBeInvalid(slot) {
        try collect(object, slot) { try object.validateContent(of: slot) }
      }
    } else {
      for slot in object.binding.ruledSlots where object.mayBeInvalid(slot) {
        check(object, slot, try object.attribute(slot))
      }
    }
    for slot in object.ofArena({ $0.binding.limitedSlots }) {
      let trait = object.binding.traits[slot]
      let isTouched = object.mayBeInvalid(slot)
      if isTouched && hasOwnClass { continue }
      if !trait.isToMany {
        checkDestination(object, slot, try object.one(slot))
      } else if isTouched {
        // An unchanged one was validated when it was saved, and may have many members.
        checkCount(object, slot, of: try object.members(slot))
      }
    }
  }

  /// Checks a value of an attribute, which need not be the object's own.
  mutating func check(_ object: ManagedObject, _ slot: Int, _ value: AttributeValue?) {
    object.binding.rules[slot]?.check(value) { failure in
      fail(failure.code, object, failure.key, failure.words, failure.value)
    }
  }

  /// Checks the destination of a required to-one relationship.
  mutating func checkDestination(
    _ object: ManagedObject, _ slot: Int, _ destination: ManagedObject?
  ) {
    if destination == nil || destination?.isDeleted == true {
      let name = object.binding.name(of: slot)
      fail(.validationMissingMandatoryProperty, object, name, "has no destination")
    }
  }

  mutating func checkCount(
    _ object: ManagedObject, _ slot: Int, of members: some Sequence<ManagedObject>
  ) {
    checkCount(
      members.count { !$0.isDeleted }, object.binding.relationship(slot),
      Subject(entityName: object.entity.name, objectID: object.objectID))
  }

  mutating func checkCount(
    _ count: Int, _ relationship: RelationshipDescription, _ subject: Subject
  ) {
    // Whether an empty relationship is allowed is decided by `isOptional`, or else by `minCount`.
    if count == 0 && relationship.isOptional { return }
    if count < relationship.minCount {
      fail(
        .validationRelationshipLacksMinimumCount, subject, relationship.name,
        "has \(PersistenceError.objects(count)) of at least \(relationship.minCount)")
    } else if relationship.maxCount > 0 && count > relationship.maxCount {
      fail(
        .validationRelationshipExceedsMaximumCount, subject, relationship.name,
        "has \(PersistenceError.objects(count)) of at most \(relationship.maxCount)")
    }
  }

  /// Checks the deny rules of a deleted object whose class may have overridden validation without
  /// calling `super`. Without the rules the store would get dangling references.
  mutating func requireDenyRules(of object: ManagedObject) throws {
    if type(of: object) == ManagedObject.self { return }
    let isKnown = errors.contains {
      $0.code == .validationRelationshipDeniedDelete && $0.objectID == object.objectID
    }
    if !isKnown { try validateForDelete(object) }
  }

  mutating func validateForDelete(_ object: ManagedObject) throws {
    if object.context == nil { return }
    for slot in object.binding.relationshipSlots {
      guard object.ofArena({ $0.binding.traits[slot].deleteRule.deniesDeletion }) else { continue }
      let remaining = try object.destinations(slot).filter { !$0.isDeleted }.count
      if remaining > 0 {
        fail(
          .validationRelationshipDeniedDelete, object, object.binding.name(of: slot),
          "still refers to \(PersistenceError.objects(remaining)), so the object cannot be deleted")
      }
    }
  }

  private mutating func fail(
    _ code: PersistenceError.Code, _ object: ManagedObject, _ key: String, _ what: String,
    _ value: AttributeValue? = nil
  ) {
    fail(
      code, Subject(entityName: object.entity.name, objectID: object.objectID), key, what, value)
  }

  /// The subject of an error, where there may be no object in memory.
  struct Subject {
    let entityName: String
    /// `nil` for an object that is not stored yet.
    let objectID: ManagedObjectID?
    /// The position of a new object among those of a batch request.
    var position: Int?
  }

  mutating func fail(
    _ code: PersistenceError.Code, _ subject: Subject, _ key: String, _ what: String,
    _ value: AttributeValue? = nil
  ) {
    let position = subject.position.map { "of object \($0) of the batch request " } ?? ""
    var error = PersistenceError(code, "\(subject.entityName).\(key) \(position)\(what)")
    error.entityName = subject.entityName
    error.objectID = subject.objectID
    error.key = key
    error.rejectedValue = value
    errors.append(error)
  }
}

extension PersistenceError.Code {
  /// Whether an error is one of validation.
  fileprivate var isOfValidation: Bool { (1550..<1700).contains(rawValue) }
}

extension ManagedObject {
  /// Checks the model's rules for an object that is written.
  final func validateForSave() throws {
    var validation = Validation()
    try validation.validateForSave(self)
    try validation.finish()
  }

  /// Checks the model's rules for an object that is deleted.
  final func validateDeletion() throws {
    var validation = Validation()
    try validation.validateForDelete(self)
    try validation.finish()
  }

  /// Checks the model's rules for a value that a property may get.
  final func checkRules(of value: Any?, forKey key: String) throws {
    let slot = try slot(for: key)
    var validation = Validation()
    let trait = binding.traits[slot]
    if trait.attributeType != nil {
      guard let rule = binding.rules[slot] else { return }
      if let value, rule.takesAny(Swift.type(of: value)) { return }
      validation.check(self, slot, try attributeValue(value, for: slot))
    } else {
      guard trait.limitsCount, !trait.isTransient else { return }
      let value = flattened(value)
      switch value {
      case let members as MutableMembers where trait.isToMany:
        validation.checkCount(self, slot, of: try members.object.members(members.slot))
      case let members as MutableOrderedMembers where trait.isToMany:
        validation.checkCount(self, slot, of: try members.object.members(members.slot))
      case let value where trait.isToMany:
        let members = try objects(in: value, for: binding.relationship(slot))
        validation.checkCount(self, slot, of: members)
      default:
        validation.checkDestination(self, slot, value as? ManagedObject)
      }
    }
    try validation.finish()
  }
}

extension AttributeRule {
  /// Checks the content of a slot by the rule.
  func check(_ object: ManagedObject, _ slot: Int) throws {
    if asksForValueAlone, object.isSetToValue(slot) { return }
    var validation = Validation()
    validation.check(object, slot, try object.attribute(slot))
    try validation.finish()
  }
}
