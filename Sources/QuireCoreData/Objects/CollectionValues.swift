import Foundation
import Quire
import QuireModel

// Key-value coding of collections: the values of all members, and collection operators.

/// The value at the end of a path, as key-value coding has it.
///
/// A sum that 64 bits do not hold is a decimal, and texts count as the numbers that they begin
/// with, where Quire throws: `@sum` and `@avg` have an answer in Foundation.
func valueAtPath(_ path: String, of object: Any) throws -> Any? {
  let names = FetchExpression.names(in: path)
  do {
    return try value(at: names, of: object)
  } catch let error as PersistenceError where error.code == .invalidExpression {
    guard let operatorIndex = names.firstIndex(where: { ["@sum", "@avg"].contains($0) }) else {
      throw error
    }
    let (before, after) = (Array(names[..<operatorIndex]), Array(names[(operatorIndex + 1)...]))
    let union = after.isEmpty ? [] : ["@unionOfObjects"] + after
    guard let owners = members(of: try value(at: before, of: object)),
      let values = members(of: try value(at: before + union, of: object)),
      let sum = NumberSum(values)
    else { throw error }
    return names[operatorIndex] == "@sum" ? sum.total : sum.average(of: owners.count)
  }
}

private func value(at names: [String], of object: Any) throws -> Any? {
  if names.isEmpty { return object }
  if let object = object as? ManagedObject {
    return try object.value(forKeyPath: names.joined(separator: "."))
  }
  return try FetchExpression.keyPath(names).expressionValue(with: plainValue(object))
}

/// The members of a collection of any type; `nil` for any other value.
private func members(of value: Any?) -> [Any]? {
  switch value {
  case let list as [Any]: list
  case let set as Set<AnyHashable>: set.map(\.base)
  case let set as NSSet: set.allObjects
  case let list as NSArray: list.map { $0 }
  case let list as NSOrderedSet: list.array
  case let set as RelationshipSet: set.allObjects
  case let list as RelationshipOrderedSet: list.array
  default: nil
  }
}

/// The sum of numbers of any type: a decimal of whole numbers and decimals, else a double.
private struct NumberSum {
  private var exact = Decimal(0)
  private var rounded = 0.0
  private var isExact = true
  /// A decimal that is too large is no number.
  private var hasDecimal: Bool { isExact && !exact.isNaN }

  /// - Returns: `nil` if one of the values is nothing that Foundation adds.
  init?(_ values: [Any]) {
    for value in values {
      switch plainValue(value) {
      case nil: continue
      case let flag as Bool: add(Decimal(flag ? 1 : 0))
      case let number as Decimal: add(number)
      case let number as Int: add(Decimal(number))
      case let number as Double: add(number)
      case let number as Float: add(Double(number))
      case let text as String: add(NSString(string: text).doubleValue)
      default: return nil
      }
    }
  }

  private mutating func add(_ number: Decimal) {
    exact += number
    rounded += NSDecimalNumber(decimal: number).doubleValue
  }

  private mutating func add(_ number: Double) {
    isExact = false
    rounded += number
  }

  var total: Any { hasDecimal ? exact as Any : rounded as Any }

  func average(of count: Int) -> Any {
    if count == 0 { return 0.0 }
    return hasDecimal ? exact / Decimal(count) as Any : rounded / Double(count) as Any
  }
}

// MARK: - Collections

/// The values of a collection's members at the end of a path; `nil` for those without one.
private func memberValues(
  _ members: some Sequence, _ path: String, _ file: StaticString, _ line: UInt
) -> [Any?] {
  members.map { valueOfMember($0, path, file, line) }
}

private func valueOfMember(
  _ member: Any, _ path: String, _ file: StaticString, _ line: UInt
) -> Any? {
  switch unwrapped(member) {
  case nil, is NSNull: return nil
  case let object as NSManagedObject: return object.value(forKeyPath: path, file: file, line: line)
  case let member?:
    return raising(file, line) { try valueAtPath(path, of: member).map { cocoaNumber($0) } }
  }
}

/// Whether a path begins with an operator, which is asked of the collection itself.
private func isOfCollection(_ path: String) -> Bool { path.hasPrefix("@") }

private func valueOfCollection(
  _ members: [Any], _ path: String, _ file: StaticString, _ line: UInt
) -> Any? {
  raising(file, line) { try valueAtPath(path, of: members).map { cocoaNumber($0) } }
}

extension RelationshipSet {
  /// The values of a property of all members.
  public func value(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any {
    value(forKeyPath: key, file: file, line: line) ?? NSNull()
  }

  /// The values of all members at the end of a path, or what an operator makes of them.
  public func value(
    forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    if isOfCollection(path) { return valueOfCollection(allObjects, path, file, line) }
    return NSSet(array: memberValues(self, path, file, line).compactMap { $0 })
  }

  /// Sets a property of all members.
  public func setValue(
    _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    for member in self { member.setValue(value, forKey: key, file: file, line: line) }
  }
}

extension RelationshipOrderedSet {
  /// The values of a property of all members, each once.
  public func value(
    forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any {
    value(forKeyPath: key, file: file, line: line) ?? NSNull()
  }

  /// The values of all members at the end of a path, or what an operator makes of them.
  public func value(
    forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    if isOfCollection(path) { return valueOfCollection(array, path, file, line) }
    return NSOrderedSet(array: memberValues(self, path, file, line).map { $0 ?? NSNull() })
  }

  /// Sets a property of all members.
  public func setValue(
    _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    for member in self { member.setValue(value, forKey: key, file: file, line: line) }
  }
}

#if !canImport(Darwin)
  // Foundation has these on Apple's platforms alone.

  extension NSArray {
    /// The values of a property of all members; `NSNull` for those without one.
    public func value(
      forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any {
      value(forKeyPath: key, file: file, line: line) ?? NSNull()
    }

    /// The values of all members at the end of a path, or what an operator makes of them.
    public func value(
      forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any? {
      if isOfCollection(path) { return valueOfCollection(map { $0 }, path, file, line) }
      return NSArray(array: memberValues(self, path, file, line).map { $0 ?? NSNull() })
    }

    /// Sets a property of all members, which are managed objects.
    public func setValue(
      _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) {
      setMembers(value, of: map { $0 }, key, file, line)
    }
  }

  extension NSSet {
    /// The values of a property of all members.
    public func value(
      forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any {
      value(forKeyPath: key, file: file, line: line) ?? NSNull()
    }

    /// The values of all members at the end of a path, or what an operator makes of them.
    public func value(
      forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any? {
      if isOfCollection(path) { return valueOfCollection(allObjects, path, file, line) }
      return NSSet(array: memberValues(allObjects, path, file, line).compactMap { $0 })
    }

    /// Sets a property of all members, which are managed objects.
    public func setValue(
      _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) {
      setMembers(value, of: allObjects, key, file, line)
    }
  }

  extension NSOrderedSet {
    /// The values of a property of all members, each once.
    public func value(
      forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any {
      value(forKeyPath: key, file: file, line: line) ?? NSNull()
    }

    /// The values of all members at the end of a path, or what an operator makes of them.
    public func value(
      forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any? {
      if isOfCollection(path) { return valueOfCollection(array, path, file, line) }
      return NSOrderedSet(array: memberValues(array, path, file, line).map { $0 ?? NSNull() })
    }

    /// Sets a property of all members, which are managed objects.
    public func setValue(
      _ value: Any?, forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) {
      setMembers(value, of: array, key, file, line)
    }
  }

  private func setMembers(
    _ value: Any?, of members: [Any], _ key: String, _ file: StaticString, _ line: UInt
  ) {
    for member in members {
      raising(file, line) {
        guard let object = member as? NSManagedObject else {
          throw PersistenceError(
            .undefinedKey, "a member of type \(type(of: member)) has no property \(key) to change")
        }
        object.setValue(value, forKey: key, file: file, line: line)
      }
    }
  }

  extension NSDictionary {
    /// The value of a key, or what an operator makes of the dictionary.
    public func value(
      forKey key: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any? {
      isOfCollection(key) ? valueOfMember(self, key, file, line) : object(forKey: key)
    }

    /// The value at the end of a path of keys.
    public func value(
      forKeyPath path: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Any? {
      valueOfMember(self, path, file, line)
    }
  }

  extension NSMutableDictionary {
    /// Sets the value of a key; `nil` removes it.
    public func setValue(_ value: Any?, forKey key: String) {
      guard let value = unwrapped(value) else { return removeObject(forKey: key) }
      setObject(value, forKey: NSString(string: key))
    }
  }
#endif
