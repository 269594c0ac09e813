import QuireModel

/// An object whose properties can be asked for by name.
///
/// Managed objects are the principal ones. Key paths lead from one such object to the next, and on
/// through what properties hold, as in Cocoa:
///
/// - A dictionary has its values for keys.
/// - An array or a set is asked member by member: `artists.name` is the names of all artists, of an
///   array an array, of a set a set. Where members lead to collections, it is a collection of
///   collections. Absent values are dropped.
/// - A ``CollectionOperator`` asks the collection itself: `artworks.@sum.price`.
/// - Texts, numbers and dates answer what ``FetchExpression`` can call on them without arguments,
///   such as `length` and `stringValue`.
/// - From an absent value every name leads to an absent value.
/// - `self` is whatever it is asked of.
///
/// A set whose members do not all conform to `Hashable` is an array.
public protocol KeyValueCoding: AnyObject {
  /// The value of a property; `nil` is the absence of one.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is no such property.
  func value(forKey key: String) throws -> Any?

  /// Changes a property.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is no such property, or it cannot
  ///   be changed by name, which is so unless the type implements this.
  func setValue(_ value: Any?, forKey key: String) throws
}

extension KeyValueCoding {
  public func setValue(_ value: Any?, forKey key: String) throws {
    throw PersistenceError.undefinedKey(key, of: self, message: "has no property \(key) to change")
  }

  /// The value at the end of a path of names between dots; ``KeyValueCoding`` says how it goes.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` where a name leads nowhere;
  ///   ``PersistenceError/Code/invalidExpression`` when a collection operator has no answer.
  public func value(forKeyPath path: String) throws -> Any? {
    // A single name is the most usual path.
    if isName(path), !path.isEmpty, path != "self" {
      return flattened(try value(forKey: path))
    }
    return try KeyValue(self).value(at: FetchExpression.names(in: path)[...]).plain
  }

  private func isName(_ path: String) -> Bool {
    let isSign = { (byte: UInt8) in byte == UInt8(ascii: ".") || byte == UInt8(ascii: "@") }
    return path.utf8.withContiguousStorageIfAvailable { !$0.contains(where: isSign) }
      ?? !path.utf8.contains(where: isSign)
  }

  /// Changes the property at the end of a path.
  ///
  /// Behind an array or a set the property of every member is changed, behind a composite attribute
  /// one of its elements. Behind an absent value nothing is, as in Cocoa.
  ///
  /// - Throws: what ``setValue(_:forKey:)`` throws, and ``PersistenceError/Code/undefinedKey`` when
  ///   the path goes through something that has no properties to change.
  public func setValue(_ value: Any?, forKeyPath path: String) throws {
    try set(value, at: FetchExpression.names(in: path)[...])
  }

  /// The values of some properties by name, absent ones too.
  public func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Any?] {
    var values: [String: Any?] = [:]
    for key in keys { values.updateValue(try value(forKey: key), forKey: key) }
    return values
  }

  /// Changes several properties, in the order of their names, up to the first that throws.
  public func setValuesForKeys(_ values: [String: Any?]) throws {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      try setValue(value, forKey: key)
    }
  }
}

// MARK: - Changes at the end of a path

extension KeyValueCoding {
  private func set(_ value: Any?, at names: ArraySlice<String>) throws {
    guard let name = names.first else { return }
    let rest = names.dropFirst()
    if rest.isEmpty { return try setValue(value, forKey: name) }
    guard let next = flattened(try self.value(forKey: name)) else { return }
    if let object = next as? any KeyValueCoding { return try object.set(value, at: rest) }
    if let elements = next as? [String: Any] {
      return try setValue(try Self.replacing(elements, value, at: rest), forKey: name)
    }
    guard let collection = next as? any PlainCollection else {
      throw PersistenceError.undefinedKey(
        rest.first ?? "", of: next, message: "has no properties to change")
    }
    for member in collection.plainMembers {
      guard let object = flattened(member) as? any KeyValueCoding else {
        throw PersistenceError.undefinedKey(
          rest.first ?? "", of: member as Any, message: "has no properties to change")
      }
      try object.set(value, at: rest)
    }
  }

  private static func replacing(
    _ elements: [String: Any], _ value: Any?, at names: ArraySlice<String>
  ) throws -> [String: Any] {
    guard let name = names.first else { return elements }
    var elements = elements
    let rest = names.dropFirst()
    if rest.isEmpty {
      elements[name] = flattened(value)
    } else if let inner = elements[name] as? [String: Any] {
      elements[name] = try replacing(inner, value, at: rest)
    } else if let other = elements[name] {
      throw PersistenceError.undefinedKey(
        rest.first ?? "", of: other, message: "has no properties to change")
    }
    return elements
  }
}

extension PersistenceError {
  /// - Parameter message: what is wrong with the object, without its name.
  package static func undefinedKey(
    _ key: String, of object: Any, message: String
  ) -> PersistenceError {
    var error = PersistenceError(
      .undefinedKey, "\(briefDescription(of: object)) of type \(type(of: object)) \(message)")
    error.key = key
    return error
  }

  /// A few words for a value that may be of any size.
  static func briefDescription(of value: Any) -> String {
    let text = String(describing: value)
    return text.utf8.count <= 60 ? text : text.prefix(50) + "…"
  }
}
