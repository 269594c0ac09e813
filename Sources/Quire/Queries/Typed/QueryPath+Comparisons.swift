import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Comparisons of paths with values and with each other. What each means with absent values is what
// ``Key`` says.

extension QueryPath where Value: AggregateValue {
  /// The value is `value`; also where neither is there.
  public static func == (path: QueryPath, value: Value.Present?) -> FetchPredicate {
    path.key == FetchExpression(value)
  }
  /// The value is not `value`.
  public static func != (path: QueryPath, value: Value.Present?) -> FetchPredicate {
    path.key != FetchExpression(value)
  }

  /// The value is `value`; also where neither is there.
  public static func == (value: Value.Present?, path: QueryPath) -> FetchPredicate {
    path == value
  }
  /// The value is not `value`.
  public static func != (value: Value.Present?, path: QueryPath) -> FetchPredicate {
    path != value
  }

  /// Two values are equal.
  public static func == <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key == other.key }
  /// Two values are not equal.
  public static func != <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key != other.key }

  /// The value is one of `values`. Nothing is one of none.
  public func `in`(_ values: some Sequence<Value.Present>) -> FetchPredicate { key.in(values) }
}

extension QueryPath where Value: AggregateValue, Value.Present: Comparable {
  /// The value is less than `value`. Absent values are neither less nor greater than anything.
  public static func < (path: QueryPath, value: Value.Present) -> FetchPredicate {
    path.key < value
  }
  /// The value is less than `value` or equal to it.
  public static func <= (path: QueryPath, value: Value.Present) -> FetchPredicate {
    path.key <= value
  }
  /// The value is greater than `value`.
  public static func > (path: QueryPath, value: Value.Present) -> FetchPredicate {
    path.key > value
  }
  /// The value is greater than `value` or equal to it.
  public static func >= (path: QueryPath, value: Value.Present) -> FetchPredicate {
    path.key >= value
  }

  /// The value is greater than `value`.
  public static func < (value: Value.Present, path: QueryPath) -> FetchPredicate { path > value }
  /// The value is greater than `value` or equal to it.
  public static func <= (value: Value.Present, path: QueryPath) -> FetchPredicate { path >= value }
  /// The value is less than `value`.
  public static func > (value: Value.Present, path: QueryPath) -> FetchPredicate { path < value }
  /// The value is less than `value` or equal to it.
  public static func >= (value: Value.Present, path: QueryPath) -> FetchPredicate { path <= value }

  /// One value is less than another.
  public static func < <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key < other.key }
  /// One value is less than another or equal to it.
  public static func <= <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key <= other.key }
  /// One value is greater than another.
  public static func > <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key > other.key }
  /// One value is greater than another or equal to it.
  public static func >= <Other: AggregateValue>(
    path: QueryPath, other: QueryPath<Other>
  ) -> FetchPredicate where Other.Present == Value.Present { path.key >= other.key }

  /// The value is within a range, both of whose bounds belong to it.
  public func `in`(_ range: ClosedRange<Value.Present>) -> FetchPredicate {
    key.between(range.lowerBound, and: range.upperBound)
  }

  /// The value is within a range, whose upper bound does not belong to it. Of members, write
  /// `any { $0.price.in(1..<2) }`.
  public func `in`(_ range: Range<Value.Present>) -> FetchPredicate {
    let key = single("in(\(range))")
    return key >= range.lowerBound && key < range.upperBound
  }
}

// MARK: Texts

extension QueryPath where Value: AggregateValue, Value.Present == String {
  /// The text is `text`, compared with options.
  public func equals(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.equals(text, options)
  }
  /// The text begins with `text`.
  public func beginsWith(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.beginsWith(text, options)
  }
  /// The text ends with `text`.
  public func endsWith(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.endsWith(text, options)
  }
  /// The text contains `text`.
  public func contains(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.contains(text, options)
  }
  /// - Parameter pattern: see `FetchPredicate.Operator.like`.
  public func like(_ pattern: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.like(pattern, options)
  }
  /// - Parameter pattern: see `FetchPredicate.Operator.matches`.
  public func matches(_ pattern: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    key.matches(pattern, options)
  }
  /// The text is there and has no characters.
  public var isEmpty: FetchPredicate { key == "" }
  /// The number of UTF-16 units of the text.
  public var length: QueryPath<Int> { QueryPath<Int>(key.length) }
}

// MARK: Objects

extension QueryPath where Value: ToOneManagedValue {
  /// The object is that of an ID, or absent.
  public static func == (path: QueryPath, id: ManagedObjectID?) -> FetchPredicate {
    path.key == FetchExpression(id)
  }
  /// The object is not that of an ID, or not absent.
  public static func != (path: QueryPath, id: ManagedObjectID?) -> FetchPredicate {
    path.key != FetchExpression(id)
  }
  /// The object is one of some.
  public func `in`(_ ids: some Sequence<ManagedObjectID>) -> FetchPredicate { key.in(ids) }
  /// The object is one of some.
  public func `in`<Object: ManagedObject>(_ objects: some Sequence<Object>) -> FetchPredicate {
    key.in(objects.map(\.objectID))
  }
  /// The object is that of an ID.
  public static func == <Object>(path: QueryPath, id: TypedObjectID<Object>) -> FetchPredicate {
    path.key == id.objectID
  }
  /// The object is not that of an ID.
  public static func != <Object>(path: QueryPath, id: TypedObjectID<Object>) -> FetchPredicate {
    path.key != id.objectID
  }
}

extension QueryPath {
  /// The object is `object`, or absent.
  public static func == <Object: ManagedObject>(
    path: QueryPath, object: Object?
  ) -> FetchPredicate where Value == Object? { path.key == FetchExpression(object?.objectID) }
  /// The object is not `object`, or not absent.
  public static func != <Object: ManagedObject>(
    path: QueryPath, object: Object?
  ) -> FetchPredicate where Value == Object? { path.key != FetchExpression(object?.objectID) }
}

// The class is a parameter of the functions. With an operand of type `Value` in an extension for
// objects, Swift 6.3 accepts any operand behind a dynamic member, such as a dictionary, and treats
// it as an object (tested by `Tests/MustNotCompile/typed-queries.swift`).
extension QueryPath where Value == ManagedObject {
  /// The object is `object`.
  public static func == <Object: ManagedObject>(
    path: QueryPath<Object>, object: Object
  ) -> FetchPredicate { path.key == object.objectID }
  /// The object is not `object`.
  public static func != <Object: ManagedObject>(
    path: QueryPath<Object>, object: Object
  ) -> FetchPredicate { path.key != object.objectID }
}

// MARK: Codable values

extension QueryPath {
  /// There is no value: `$0.tags == nil` of a property that is kept as JSON. What is in such a
  /// value, no query sees.
  public static func == <Codable: TransformableValue>(
    path: QueryPath, absent: Never?
  ) -> FetchPredicate where Value == Codable? { path.key == FetchExpression(nilLiteral: ()) }
  /// There is a value.
  public static func != <Codable: TransformableValue>(
    path: QueryPath, absent: Never?
  ) -> FetchPredicate where Value == Codable? { path.key != FetchExpression(nilLiteral: ()) }
}

// MARK: IDs and addresses

extension QueryPath where Value == ManagedObjectID {
  /// The object's ID is `id`.
  public static func == (path: QueryPath, id: ManagedObjectID) -> FetchPredicate { path.key == id }
  /// The object's ID is not `id`.
  public static func != (path: QueryPath, id: ManagedObjectID) -> FetchPredicate { path.key != id }
  /// The object's ID is one of some.
  public func `in`(_ ids: some Sequence<ManagedObjectID>) -> FetchPredicate { key.in(ids) }
}

extension QueryPath where Value == URL? {
  /// The address is `url`; also where neither is there.
  public static func == (path: QueryPath, url: URL?) -> FetchPredicate {
    path.key == FetchExpression(url)
  }
  /// The address is not `url`.
  public static func != (path: QueryPath, url: URL?) -> FetchPredicate {
    path.key != FetchExpression(url)
  }
}

// MARK: Flags

extension QueryPath where Value: AggregateValue, Value.Present == Bool {
  /// The flag is not set: it is false, or absent.
  public static prefix func ! (path: QueryPath) -> FetchPredicate { !(path.key == true) }
  /// The flag is set, and a predicate is true.
  public static func && (path: QueryPath, predicate: FetchPredicate) -> FetchPredicate {
    path.key == true && predicate
  }
  /// A predicate is true, and the flag is set.
  public static func && (predicate: FetchPredicate, path: QueryPath) -> FetchPredicate {
    predicate && path.key == true
  }
  /// The flag is set, or a predicate is true.
  public static func || (path: QueryPath, predicate: FetchPredicate) -> FetchPredicate {
    path.key == true || predicate
  }
  /// A predicate is true, or the flag is set.
  public static func || (predicate: FetchPredicate, path: QueryPath) -> FetchPredicate {
    predicate || path.key == true
  }
  /// Both flags are set.
  public static func && (path: QueryPath, other: QueryPath) -> FetchPredicate {
    path.key == true && other.key == true
  }
  /// One of the flags is set, or both are.
  public static func || (path: QueryPath, other: QueryPath) -> FetchPredicate {
    path.key == true || other.key == true
  }
}

extension QueryPath {
  /// The key of one value. One of `any` or `all` members would be asked twice, or as a collection,
  /// and mean something else: the request then fails, and names what was asked.
  func single(_ what: String) -> Key {
    if key.modifier == .direct { return key }
    return Key(names: [
      UnfoundName.name(because: "\(what) is asked of members: write any { … } or all { … }")
    ])
  }
}
