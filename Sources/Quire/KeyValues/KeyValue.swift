import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value within the evaluation of a key path.
///
/// Collections keep absent values and repetitions as members until an operator removes them:
/// predicates compare both, and averages count both.
enum KeyValue {
  /// A plain value, or a collection whose members were not needed yet.
  case one(Any?)
  case array([KeyValue])
  case set([KeyValue])

  init(_ value: Any?) { self = .one(flattened(value)) }

  // MARK: Names

  func value(at names: ArraySlice<String>) throws -> KeyValue {
    var value = self
    var rest = names
    while let name = rest.popFirst() {
      if let operation = CollectionOperator(rawValue: name) {
        return try value.applying(operation, to: rest)
      }
      value = try value.value(for: name)
    }
    return value
  }

  func value(for name: String) throws -> KeyValue {
    if name == "self" { return self }
    switch self {
    case .array(let members): return .array(try members.map { try $0.value(for: name) })
    case .set(let members): return .set(try members.map { try $0.value(for: name) })
    case .one(nil): return self
    case .one(let value?):
      if let object = value as? any KeyValueCoding {
        return KeyValue(try object.value(forKey: name))
      }
      if let dictionary = value as? any PlainDictionary {
        return KeyValue(dictionary.plainValue(for: name))
      }
      if value is any PlainCollection { return try expanded.value(for: name) }
      if let entity = value as? EntityDescription {
        if name == "name" { return .one(entity.name) }
        return try KeyValue(entity.name).value(for: name)
      }
      do {
        return KeyValue(try BuiltInSelector(name).call(on: value, []))
      } catch let error as PersistenceError where error.code == .unrecognizedSelector {
        throw PersistenceError.undefinedKey(name, of: value, message: "has no property \(name)")
      }
    }
  }

  // MARK: Collections

  /// A collection by its members; any other value unchanged.
  var expanded: KeyValue {
    guard case .one(let value?) = self, let collection = value as? any PlainCollection else {
      return self
    }
    let members = collection.plainMembers.map(KeyValue.init)
    return collection.isOrdered ? .array(members) : .set(members)
  }

  /// The members of a collection; `nil` for other values.
  var members: [KeyValue]? {
    switch expanded {
    case .array(let members), .set(let members): members
    case .one: nil
    }
  }

  /// The members, with nested collections replaced by their members.
  var flatMembers: [KeyValue]? { members?.flatMap { $0.flatMembers ?? [$0] } }

  var isAbsent: Bool { if case .one(nil) = self { true } else { false } }

  // MARK: As a plain value

  var plain: Any? {
    switch self {
    case .one(let value): return value
    case .array(let members): return members.compactMap(\.plain)
    case .set(let members):
      let distinct = KeyValue.distinct(members)
      let plain = distinct.compactMap(\.hashable)
      return plain.count == distinct.count
        ? Set(plain) as Any : distinct.compactMap(\.plain) as Any
    }
  }

  /// The plain value as a member of a set.
  private var hashable: AnyHashable? {
    if case .array(let members) = self {
      let values = members.filter { !$0.isAbsent }
      let plain = values.compactMap(\.hashable)
      return plain.count == values.count ? AnyHashable(plain) : nil
    }
    return plain as? AnyHashable
  }

  /// The values that are not absent, each once, in the order of their first occurrence.
  static func distinct(_ values: [KeyValue]) -> [KeyValue] {
    var seen: Set<AnyHashable> = []
    return values.filter { value in
      if value.isAbsent { return false }
      guard let key = value.identity else { return true }
      return seen.insert(key).inserted
    }
  }

  /// The identity of the value; `nil` if it cannot be compared.
  var identity: AnyHashable? {
    hashable ?? (try? predicateValue).map { AnyHashable($0) }
  }

  // MARK: As a value that predicates compare

  /// Nested collections are flattened, as on rows.
  var predicateValue: PredicateValue? {
    get throws {
      switch self {
      case .one(nil): return nil
      case .array(let members), .set(let members):
        return .collection(
          try members.flatMap { member -> [PredicateValue?] in
            let value = try member.predicateValue
            if case .collection(let values)? = value { return values }
            return [value]
          })
      case .one(let value?):
        return if value is any PlainCollection {
          try expanded.predicateValue
        } else {
          try PredicateValue(plain: value)
        }
      }
    }
  }

  /// The value at the end of a path, as predicates compare it.
  ///
  /// It is the value that a row has there: `@count` after several collections counts the members of
  /// each of the last, while key-value coding counts those of the first.
  ///
  /// - Parameter ofEachOnce: whether it makes no difference how often a value is in a collection.
  func comparedValue(at names: [String], ofEachOnce: Bool = false) throws -> PredicateValue? {
    if ofEachOnce, let value = try valueOfEachOnce(at: names) { return try value.predicateValue }
    let path = names.dropLast()
    guard names.last == FetchExpression.countOperator, !path.isEmpty,
      !path.contains(where: { CollectionOperator(rawValue: $0) != nil })
    else { return try value(at: names[...]).predicateValue }
    return try value(at: path).counts.predicateValue
  }

  /// The number of members of each of the last collections.
  var counts: KeyValue {
    get throws {
      switch self {
      case .array(let members), .set(let members): .array(try members.map { try $0.counts })
      case .one: try applying(.count, to: [])
      }
    }
  }

  init(_ value: PredicateValue?) {
    switch value {
    case nil: self = .one(nil)
    case .value(let value)?: self = .one(value.plainValue)
    case .object(let identity)?: self = .one(identity.base)
    case .collection(let members)?: self = .array(members.map { KeyValue($0) })
    }
  }
}

extension PredicateValue {
  /// - Throws: ``PersistenceError/Code/invalidExpression`` for a value that predicates cannot
  ///   compare.
  init?(plain value: Any) throws {
    switch value {
    case let value as any PredicateConvertible:
      guard let value = value.predicateValue else { return nil }
      self = value
    case let elements as [String: Any]:
      var composite: [String: AttributeValue] = [:]
      for (name, element) in elements {
        guard case .value(let value)? = try PredicateValue(plain: element) else { continue }
        composite[name] = value
      }
      self = .value(.composite(composite))
    default:
      guard type(of: value) is AnyObject.Type else {
        throw PersistenceError(
          .invalidExpression,
          "\(PersistenceError.briefDescription(of: value)) of type \(type(of: value)) is nothing that "
            + "an expression can compare or compute with")
      }
      self = .object(OpaqueIdentity(ObjectIdentifier(value as AnyObject)))
    }
  }
}

// MARK: - Collections of any type

/// An array or a set with members of any type.
protocol PlainCollection {
  var plainMembers: [Any?] { get }
  var isOrdered: Bool { get }
}

extension Array: PlainCollection {
  var plainMembers: [Any?] { self }
  var isOrdered: Bool { true }
}

extension Set: PlainCollection {
  var plainMembers: [Any?] {
    // Members of `AnyHashable` show the values that they wrap.
    if Element.self == AnyHashable.self { return map { ($0 as AnyHashable).base } }
    return Array(self)
  }
  var isOrdered: Bool { false }
}

/// A dictionary with values of any type.
protocol PlainDictionary {
  func plainValue(for name: String) -> Any?
  var plainKeys: [Any] { get }
  var plainValues: [Any?] { get }
}

extension Dictionary: PlainDictionary {
  func plainValue(for name: String) -> Any? {
    guard let key = name as? Key else { return nil }
    return flattened(self[key])
  }
  var plainKeys: [Any] { Array(keys) }
  var plainValues: [Any?] { Array(values) }
}

// MARK: - Optionals

/// The value inside nested optionals; `nil` if there is none.
func flattened(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // Testing a conformance takes ten times as long as comparing types.
  let type = type(of: value)
  if type == String.self || type == Int.self || type == Double.self || type == Date.self
    || type == Bool.self || type is AnyClass
  {
    return value
  }
  guard let optional = value as? any OptionalProtocol else { return value }
  return flattened(optional.content)
}

private protocol OptionalProtocol {
  var content: Any? { get }
}

extension Optional: OptionalProtocol {
  fileprivate var content: Any? { self }
}
