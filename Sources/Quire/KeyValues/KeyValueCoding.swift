import QuireModel

/// An object whose properties can be read by name.
///
/// Managed objects are the principal ones. A key path leads from one such object to the next, and
/// on through other values, as in Cocoa:
///
/// - A dictionary has values for keys.
/// - An array or a set is read member by member: `artists.name` is the names of all artists, an
///   array for an array, a set for a set. If members have collections, the result is a
///   collection of collections. Absent values are dropped.
/// - A `CollectionOperator` applies to the collection itself: `artworks.@sum.price`.
/// - Texts, numbers and dates have the functions without arguments that `FetchExpression` can
///   call, such as `length` and `stringValue`.
/// - Every name leads from an absent value to an absent value.
/// - `self` is the value itself.
///
/// A set whose members do not all conform to `Hashable` is given as an array.
public protocol KeyValueCoding: AnyObject {
  /// The value of a property; `nil` if it is absent.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is no such property.
  func value(forKey key: String) throws -> Any?

  /// Changes a property.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when there is no such property, or when it
  ///   cannot be set by name, which is the default implementation.
  func setValue(_ value: Any?, forKey key: String) throws
}

extension KeyValueCoding {
  /// Refuses: nothing can be changed by name unless the type says how.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` in any case.
  public func setValue(_ value: Any?, forKey key: String) throws {
    throw PersistenceError.undefinedKey(key, of: self, message: "has no property \(key) to change")
  }

  /// The value at the end of a key path, by the rules of ``KeyValueCoding``.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` if a name is not that of a property;
  ///   ``PersistenceError/Code/invalidExpression`` if a collection operator has no result.
  public func value(forKeyPath path: String) throws -> Any? {
    // A single name is the most frequent path.
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
  /// After an array or a set the property of every member is set, after a composite attribute one
  /// of its elements. After an absent value nothing is set, as in Cocoa.
  ///
  /// - Throws: what ``setValue(_:forKey:)`` throws; ``PersistenceError/Code/undefinedKey`` if the
  ///   path leads through a value whose properties cannot be set.
  public func setValue(_ value: Any?, forKeyPath path: String) throws {
    try set(value, at: FetchExpression.names(in: path)[...])
  }

  /// The values of some properties by name, absent ones included.
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
  /// - Parameter message: the mistake, without the name of the object.
  package static func undefinedKey(
    _ key: String, of object: Any, message: String
  ) -> PersistenceError {
    if let reason = UnfoundName.reason(in: key) { return PersistenceError(.undefinedKey, reason) }
    var error = PersistenceError(
      .undefinedKey, "\(briefDescription(of: object)) of type \(type(of: object)) \(message)")
    error.key = key
    return error
  }

  /// The description of a value, shortened if it is long.
  static func briefDescription(of value: Any) -> String {
    let text = String(describing: value)
    return text.utf8.count <= 60 ? text : text.prefix(50) + "…"
  }
}
