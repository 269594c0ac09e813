import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Key-value coding: properties by name, values as `Any`. Key paths come with the protocol.
extension PropertyReading {
  /// The value of a property, as its usual Swift type.
  ///
  /// Integers of any width are `Int`; a to-many relationship is a `Set<ManagedObject>`, an ordered
  /// one an array. A fetched property is the array that its request has found at its first use
  /// since the object was read or refreshed. `objectID` is the ID, and `entity` the
  /// `EntityDescription`, where no property has that name.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property, and
  ///   what reading the store throws.
  public func value(forKey key: String) throws -> Any? { try keyedValue(key) }

  /// Sets a property, and for a relationship the inverse too.
  ///
  /// Any integer type is accepted for an integer attribute, any number for a floating-point or
  /// decimal one, any set or array of objects for a to-many relationship.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when the value is of another type;
  ///   ``PersistenceError/Code/validationNumberTooLarge`` or its counterpart when an integer is out
  ///   of its attribute's range. The object is then unchanged.
  public func setValue(_ value: Any?, forKey key: String) throws { try setKeyedValue(value, key) }
}

extension ManagedObject {
  /// The value of a property: what ``PropertyReading/value(forKey:)`` returns.
  final func keyedValue(_ key: String) throws -> Any? {
    guard let slot = binding.slot(named: key) else {
      if let property = entity.fetchedProperty(named: key) { return try fetchedObjects(property) }
      if key == FetchExpression.objectIDName { return objectID }
      if key == FetchExpression.entityName { return entity }
      return try askedValue(forUndefinedKey: key)
    }
    recordAccess(to: slot)
    let trait = binding.traits[slot]
    if trait.attributeType != nil { return try plainAttribute(attribute(slot), slot) }
    if !trait.isToMany { return try one(slot) }
    switch binding.properties[slot] {
    case .attribute: return nil
    case .relationship(let relationship):
      let members = try members(slot)
      if members.isEmpty { try checkRow() }
      return plainMembers(members, relationship)
    }
  }

  private func askedValue(forUndefinedKey key: String) throws -> Any? {
    let question = UndefinedKeyQuestion()
    let answer = try UndefinedKeyQuestion.$current.withValue(question) {
      try self.value(forUndefinedKey: key)
    }
    if question.isUnanswered { _ = try slot(for: key) }
    return answer
  }

  /// Sets a property: what ``PropertyReading/setValue(_:forKey:)`` does.
  final func setKeyedValue(_ value: Any?, _ key: String) throws {
    guard let slot = binding.slot(named: key) else {
      if entity.fetchedProperty(named: key) != nil { throw fetchedPropertyError(key) }
      let question = UndefinedKeyQuestion()
      try UndefinedKeyQuestion.$current.withValue(question) {
        try setValue(value, forUndefinedKey: key)
      }
      if question.isUnanswered { _ = try self.slot(for: key) }
      return
    }
    let trait = binding.traits[slot]
    if trait.attributeType != nil, value == nil { return try setAttribute(slot, nil) }
    // The most common types, without conversion.
    switch trait.attributeType {
    case .string?:
      if let text = value as? String { return try setAttribute(slot, .string(text)) }
    case .double?:
      if let number = value as? Double { return try setAttribute(slot, .double(number)) }
    case .date?:
      if let date = value as? Date { return try setAttribute(slot, .date(date)) }
    case .boolean?:
      if let flag = value as? Bool { return try setAttribute(slot, .boolean(flag)) }
    case .integer64?:
      if let number = value as? Int { return try setAttribute(slot, .integer(Int64(number))) }
    case .integer32?:
      if let number = value as? Int, Int32(exactly: number) != nil {
        return try setAttribute(slot, .integer(Int64(number)))
      }
    case .integer16?:
      if let number = value as? Int, Int16(exactly: number) != nil {
        return try setAttribute(slot, .integer(Int64(number)))
      }
    case .transformable?:
      let bytes = try flattened(value).map { try transformedAttribute($0, slot) }
      return try setAttribute(slot, bytes)
    case nil where !trait.isToMany:
      if let object = value as? ManagedObject { return try setOne(slot, object) }
    default: break
    }
    switch binding.properties[slot] {
    case .attribute(let attribute):
      guard let value = flattened(value) else { return try setAttribute(slot, nil) }
      guard let converted = AttributeValue.converted(value, for: attribute) else {
        throw unacceptable(value, for: key)
      }
      if let error = rangeError(converted, attribute) { throw error }
      try setAttribute(slot, converted)
    case .relationship(let relationship) where relationship.isToMany:
      try setMembers(slot, try objects(in: flattened(value), for: relationship))
    case .relationship:
      let value = flattened(value)
      let object = value as? ManagedObject
      if object == nil, let value { throw unacceptable(value, for: key) }
      try setOne(slot, object)
    }
  }

  /// Sets a property as Core Data's key-value coding does: a number that its attribute cannot hold
  /// is refused by the next save.
  ///
  /// An integer out of its attribute's range is the object's value until then. Any other number is
  /// not taken: the context keeps the error, as for a typed property.
  ///
  /// - Throws: what ``setValue(_:forKey:)`` throws of values that are no numbers.
  package final func setValueCheckedBySave(_ value: Any?, forKey key: String) throws {
    do {
      try setKeyedValue(value, key)
    } catch let error as PersistenceError {
      guard let value = flattened(value), PlainNumber(value) != nil,
        let slot = binding.slot(named: key),
        case .attribute(let attribute) = binding.properties[slot], attribute.type.isNumber,
        let context
      else { throw error }
      guard let converted = AttributeValue.converted(value, for: attribute) else {
        return context.report(error)
      }
      try setAttribute(slot, converted)
    }
  }

  /// The name of the property of a slot, for types of properties that other modules declare.
  package final func propertyName(ofSlot slot: Int) -> String { binding.properties[slot].name }

  /// The members of a to-many relationship as key-value coding shows them.
  final func plainMembers(
    _ members: [ManagedObject], _ relationship: RelationshipDescription
  ) -> Any {
    relationship.isOrdered ? members as Any : Set(members) as Any
  }

  final func objects(
    in value: Any?, for relationship: RelationshipDescription
  ) throws -> [ManagedObject] {
    switch value {
    case nil: return []
    case let objects as [ManagedObject]: return objects
    // A set has no order; that of the keys makes the result repeatable.
    case let objects as Set<ManagedObject>:
      return objects.sorted { $0.reference < $1.reference }
    case let objects as MutableMembers: return objects.sorted { $0.reference < $1.reference }
    case let objects as MutableOrderedMembers: return objects.array
    case let value?: throw unacceptable(value, for: relationship.name)
    }
  }

  /// The error for an integer that is out of its attribute's range, if it is.
  final func rangeError(
    _ value: AttributeValue, _ attribute: AttributeDescription
  ) -> PersistenceError? {
    guard case .integer(let number) = value, let range = attribute.type.integerRange,
      !range.contains(number)
    else { return nil }
    var error = PersistenceError(
      number > range.upperBound ? .validationNumberTooLarge : .validationNumberTooSmall,
      "\(entity.name).\(attribute.name) is \(number); it holds \(range.lowerBound) to "
        + "\(range.upperBound)")
    error.entityName = entity.name
    error.key = attribute.name
    error.objectID = objectID
    error.rejectedValue = value
    return error
  }
}

/// A question for the value of a key that the model does not have, which may come from anywhere: a
/// class whose own hook ends the program says instead that it has no answer.
///
/// `@unchecked Sendable`: a task-local value has to be; it is used within one call, by the thread
/// that makes it.
package final class UndefinedKeyQuestion: @unchecked Sendable {
  @TaskLocal package static var current: UndefinedKeyQuestion?
  package var isUnanswered = false
}
