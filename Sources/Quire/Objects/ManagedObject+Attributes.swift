import QuireModel

extension PropertyReading {
  /// The present values of properties that differ from what was last fetched or saved, by name.
  ///
  /// A property that was changed back is not among them, nor are transient and derived ones.
  /// To-many relationships appear as sets or arrays of objects. What reading throws, the context
  /// throws from its next fetch or save.
  public func changedValues() -> [String: Any?] { presentChanges() }

  /// The values the object had when it was last fetched or saved, by name; nil values are left out.
  ///
  /// A new object has none. To-many relationships appear as sets or arrays of objects. A fault is
  /// read.
  ///
  /// - Parameter keys: the names of the properties; `nil` for all.
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property, and
  ///   what reading the store throws.
  public func committedValues(forKeys keys: [String]? = nil) throws -> [String: Any] {
    try storedValues(keys)
  }
}

extension ManagedObject {
  /// The value of an attribute slot, as changed here or as the row has it.
  final func attribute(_ slot: Int) throws -> AttributeValue? {
    if !slots.isEmpty, case .value(let value) = slots[slot] { return value }
    if !hasRow {
      if let successor { return try successor.attribute(self.slot(slot, in: successor)) }
      try fulfil()
      if !slots.isEmpty, case .value(let value) = slots[slot] { return value }
    }
    if let value = try storedValue(slot) { return value }
    return binding.traits[slot].isTransient ? binding.transientDefault(slot) : nil
  }

  /// Changes an attribute slot. The value must be of the attribute's type; its range is checked
  /// when the object is saved.
  final func setAttribute(_ slot: Int, _ value: AttributeValue?) throws {
    if let type = binding.traits[slot].attributeType, let value, !value.isOf(type) {
      throw unacceptable(value, for: binding.properties[slot].name)
    }
    try put(value, in: slot)
  }

  /// What ``PropertyReading/changedValues()`` returns.
  final func presentChanges() -> [String: Any?] {
    var changed: [String: Any?] = [:]
    for slot in changedSlots {
      let name = binding.properties[slot].name
      do {
        changed[name] = .some(try value(forKey: name))
      } catch {
        context?.report(error)
      }
    }
    return changed
  }

  /// What ``PropertyReading/committedValues(forKeys:)`` returns.
  final func storedValues(_ keys: [String]?) throws -> [String: Any] {
    var committed: [String: Any] = [:]
    try fulfil()
    for key in keys ?? binding.properties.map(\.name) {
      let slot = try self.slot(for: key)
      guard isPersistent else { continue }
      switch binding.properties[slot] {
      case .attribute: committed[key] = try plainAttribute(storedValue(slot), slot)
      case .relationship(let relationship) where relationship.isToMany:
        committed[key] = try plainMembers(
          storedMembers(slot).compactMap { try session?.object(at: $0) }, relationship)
      case .relationship:
        committed[key] = try storedReference(slot).flatMap { try session?.object(at: $0) }
      }
    }
    return committed
  }

  final func slot(for key: String) throws -> Int {
    guard let slot = binding.slot(named: key) else {
      if entity.fetchedProperty(named: key) != nil { throw fetchedPropertyError(key) }
      if let reason = UnfoundName.reason(in: key) { throw PersistenceError(.undefinedKey, reason) }
      var error = PersistenceError(
        .undefinedKey, "the entity \(entity.name) has no property \(key)")
      error.entityName = entity.name
      error.key = key
      throw error
    }
    return slot
  }

  final func unacceptable(_ value: Any, for key: String) -> PersistenceError {
    let text = (value as? ManagedObject)?.briefDescription ?? valueText(value)
    var error = PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(key) cannot be \(text), which is of type \(type(of: value))")
    error.entityName = entity.name
    error.key = key
    error.objectID = objectID
    return error
  }
}
