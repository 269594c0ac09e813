import Foundation
import Quire
import QuireModel

// Values as Core Data has them, with Foundation's classes, and as Quire has them.

/// A number of Swift's types as an `NSNumber`; anything else as it is.
func cocoaNumber(_ value: Any) -> Any {
  switch value {
  case let flag as Bool: return NSNumber(value: flag)
  case let number as Int: return NSNumber(value: number)
  case let number as Double: return NSNumber(value: number)
  case let number as Float: return NSNumber(value: number)
  case let number as Decimal: return NSDecimalNumber(decimal: number)
  default: return value
  }
}

/// A value of Foundation's classes as Quire takes it.
func plainValue(_ value: Any?) -> Any? {
  guard let value = unwrapped(value) else { return nil }
  switch value {
  case is NSNull: return nil
  case let set as NSSet:
    return objects(set.allObjects).map { Set($0) } ?? Set(plainMembers(set.allObjects).hashable)
  case let list as NSOrderedSet: return objects(list.array) ?? plainMembers(list.array)
  case let set as RelationshipSet: return Set(set.members.set)
  case let list as RelationshipOrderedSet: return list.members.array
  case let list as NSArray: return objects(list.map { $0 }) ?? plainMembers(list.map { $0 })
  case let dictionary as NSDictionary:
    return dictionary.reduce(into: [String: Any]()) { result, pair in
      if let name = pair.key as? String { result[name] = plainValue(pair.value) }
    }
  case let number as NSNumber: return plainNumber(number)
  case let text as NSString: return text as String
  case let date as NSDate: return date as Date
  case let data as NSData: return data as Data
  case let uuid as NSUUID: return uuid as UUID
  case let url as NSURL: return url as URL
  default: return value
  }
}

private func objects(_ list: [Any]) -> [ManagedObject]? {
  var result: [ManagedObject] = []
  for member in list {
    guard let object = member as? ManagedObject else { return nil }
    result.append(object)
  }
  return result
}

private func plainMembers(_ list: [Any]) -> [Any] { list.compactMap { plainValue($0) } }

extension [Any] {
  fileprivate var hashable: [AnyHashable] { compactMap { $0 as? AnyHashable } }
}

/// A number as Swift's type of it.
private func plainNumber(_ number: NSNumber) -> Any {
  if let decimal = number as? NSDecimalNumber { return decimal.decimalValue }
  switch UInt8(bitPattern: Int8(number.objCType.pointee)) {
  case UInt8(ascii: "f"): return number.floatValue
  case UInt8(ascii: "d"): return number.doubleValue
  case UInt8(ascii: "Q"): return number.uint64Value
  default: return number.intValue
  }
}

/// A value out of an optional in an `Any`.
func unwrapped(_ value: Any?) -> Any? {
  guard let value else { return nil }
  if let optional = value as? any AnyOptional { return optional.content.flatMap { unwrapped($0) } }
  return value
}

private protocol AnyOptional {
  var content: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var content: Any? { map { $0 } }
}

/// An argument of a predicate; `nil` for no value.
///
/// - Throws: when no predicate can compare with such a value.
func predicateArgument(_ value: Any?) throws -> (any PredicateConvertible)? {
  guard let value = unwrapped(value) else { return nil }
  switch value {
  case is NSNull: return nil
  case let entity as NSEntityDescription: return entity.name
  case let expression as NSExpression: return try predicateArgument(expression.constantValue)
  case let set as RelationshipSet: return set.members.set
  case let list as RelationshipOrderedSet: return list.members.array
  case let value as any PredicateConvertible: return value
  case let members as any Sequence: return try members.predicateValue
  default: break
  }
  switch plainValue(value) {
  case let value as any PredicateConvertible: return value
  case let members as any Sequence: return try members.predicateValue
  default: break
  }
  throw PersistenceError(
    .unacceptableValue,
    "a predicate cannot compare with \(value), which is of type \(type(of: value))")
}

extension Sequence {
  /// The members as a predicate compares with them.
  fileprivate var predicateValue: PredicateValue {
    get throws { .collection(try map { try predicateArgument($0)?.predicateValue }) }
  }
}
