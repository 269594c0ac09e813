import Foundation
import Quire
import QuireModel

// Key-value coding, which does not throw.
//
// Each function has the location of its call among its arguments, so that a message names the
// program's own file and line. As a value, and for a protocol of the program's, there are the same
// functions without these arguments, in `FunctionValues.swift`.

extension NSManagedObject {
  /// The value of a property: an `NSSet` or an `NSOrderedSet` of objects for a to-many
  /// relationship, an `NSNumber` for a number or a flag, else a value of Swift's type.
  public func value(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    raising(file, line) {
      let value = try (self as ManagedObject).value(forKey: key)
      // What a class answers for a key of its own stays as it is.
      return hasProperty(key) ? cocoaValue(value, key) : value
    }
  }

  /// Sets a property; of a relationship, the other side as well.
  ///
  /// A number that the attribute cannot hold is refused by the next save, as in Core Data.
  ///
  /// - Parameter value: as ``value(forKey:file:line:)`` returns it, or of Swift's types.
  public func setValue(
    _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) {
      // What a class takes for a key of its own stays as it is.
      try setValueCheckedBySave(hasProperty(key) ? plainValue(value) : value, forKey: key)
    }
  }

  /// The value at the end of a path of names, with collection operators.
  public func value(
    forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    if !path.contains(where: { $0 == "." || $0 == "@" }) {
      return value(forKey: path, file: file, line: line)
    }
    let value = raising(file, line) { cocoaValue(try valueAtPath(path, of: self), nil) }
    // What an ordered relationship refers to has an order, and each value once; results of
    // operators, such as @unionOfObjects, are arrays.
    guard let values = value as? [Any], !path.contains("@") else { return value }
    let set = NSMutableOrderedSet()
    for value in values { set.add(value) }
    return set
  }

  /// Sets the property at the end of a path of names.
  public func setValue(
    _ value: Any?, forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    if !path.contains(".") { return setValue(value, forKey: path, file: file, line: line) }
    raising(file, line) {
      try (self as ManagedObject).setValue(plainValue(value), forKeyPath: path)
    }
  }

  /// The values of some properties; `NSNull` for those without a value.
  public func dictionaryWithValues(
    forKeys keys: [String], file: StaticString = #fileID, line: UInt = #line
  ) -> [String: Any] {
    Dictionary(
      keys.map { ($0, value(forKey: $0, file: file, line: line) ?? NSNull()) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Sets several properties.
  public func setValuesForKeys(
    _ values: [String: Any], file: StaticString = #fileID, line: UInt = #line
  ) {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      setValue(value, forKey: key, file: file, line: line)
    }
  }

  /// The value of a property, without the rest of what an accessor does.
  public func primitiveValue(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    raising(file, line) { cocoaValue(try (self as ManagedObject).primitiveValue(forKey: key), key) }
  }

  /// Sets a property, without the rest of what an accessor does.
  public func setPrimitiveValue(
    _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) {
      try (self as ManagedObject).setPrimitiveValue(plainValue(value), forKey: key)
    }
  }

  /// The unordered to-many relationship of a name, to be changed in place.
  public func mutableSetValue(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> RelationshipSet {
    RelationshipSet(
      raising(file, line) { try (self as ManagedObject).mutableSetValue(forKey: key) })
  }

  /// The ordered relationship of a name, to be changed in place.
  public func mutableOrderedSetValue(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> RelationshipOrderedSet {
    RelationshipOrderedSet(
      raising(file, line) { try (self as ManagedObject).mutableOrderedSetValue(forKey: key) })
  }

  private func hasProperty(_ key: String) -> Bool {
    let entity = entityFacts
    return entity.attribute(named: key) != nil || entity.relationship(named: key) != nil
      || entity.fetchedProperty(named: key) != nil || key == "objectID" || key == "entity"
  }

  /// A value of Quire's key-value coding as Core Data's returns it.
  ///
  /// - Parameter key: the property that it is of; `nil` at the end of a path.
  func cocoaValue(_ value: Any?, _ key: String?) -> Any? {
    switch value {
    case nil: return nil
    case let members as Set<ManagedObject>: return NSSet(array: Array(members))
    case let members as [ManagedObject]:
      let isOrdered = key.flatMap { entityFacts.relationship(named: $0) } != nil
      return isOrdered ? NSOrderedSet(array: members) : members
    case is EntityDescription: return entity
    case let value?: return cocoaNumber(value)
    }
  }
}
