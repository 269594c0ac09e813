import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is made of many objects: their number, or one value of the values of a property.
///
/// ```swift
/// let rows = try context.aggregate(
///   Artwork.self, .count, .sum(\.price), .maximum(\.year), groupedBy: \.artist)
/// for (artist, (count, sum, latest)) in rows { … }
/// ```
///
/// A property is a typed one of the class, or one at the end of to-one relationships: then the
/// class has to be written, `.maximum(\Artwork.artist?.born)`. Others are named by a ``Key``, with
/// the type that comes out. Behind a to-many relationship (`Key("tags.word")`) the values of all
/// its objects count.
///
/// Objects without a value are passed over: an average is that of the values there are. That is so
/// in SQL, too, and not with `@avg` in a key path, for which Foundation says that an absent value
/// is 0. Sums of integers are exact, or an error; decimals are added as decimals.
public struct Aggregate<Object: ManagedObject, Value> {
  /// What the aggregate is made of.
  enum Source {
    case objects
    case key([String])
    /// Finds the names of a key path.
    case property((PropertyNaming) throws -> [String])
  }

  let function: AggregateFunction
  let source: Source
  let result: (PredicateValue?) throws -> Value

  init(
    _ function: AggregateFunction, _ source: Source,
    _ result: @escaping (PredicateValue?) throws -> Value
  ) {
    (self.function, self.source, self.result) = (function, source, result)
  }

  fileprivate init<Property>(
    _ function: AggregateFunction, _ property: KeyPath<Object, Property>,
    _ result: @escaping (PredicateValue?) throws -> Value
  ) {
    self.init(function, .property { try $0.names(of: property) }, result)
  }

  fileprivate init(
    _ function: AggregateFunction, _ key: Key,
    _ result: @escaping (PredicateValue?) throws -> Value
  ) {
    guard case .keyPath(let names) = key.expression, key.modifier == .direct, !names.isEmpty else {
      // Told when the names are asked for.
      self.init(function, .property { _ in throw unusable(key) }, result)
      return
    }
    self.init(function, .key(names), result)
  }
}

private func unusable(_ key: Key) -> PersistenceError {
  PersistenceError(
    .invalidExpression,
    "an aggregate is made of what a key path leads to, but \(key.expression) is none, or has any or all"
  )
}

extension Aggregate where Value == Int {
  /// How many objects there are.
  public static var count: Aggregate { Aggregate(.count, .objects, integer) }

  /// How many objects have a value.
  public static func valueCount<Property>(_ property: KeyPath<Object, Property>) -> Aggregate {
    Aggregate(.count, property, integer)
  }

  public static func valueCount(_ key: Key) -> Aggregate { Aggregate(.count, key, integer) }

  /// How many different values there are.
  public static func distinctCount<Property>(_ property: KeyPath<Object, Property>) -> Aggregate {
    Aggregate(.distinctCount, property, integer)
  }

  public static func distinctCount(_ key: Key) -> Aggregate {
    Aggregate(.distinctCount, key, integer)
  }
}

private func integer(_ value: PredicateValue?) throws -> Int { try Int.sum(of: value) }

extension Aggregate {
  /// The sum of the values; 0 of none.
  public static func sum<Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>
  ) -> Aggregate where Value == Number.Sum { Aggregate(.sum, property, Number.sum) }

  /// The sum of what a key leads to, as a type that holds it.
  public static func sum<Number: AggregateNumber>(
    _ key: Key, as type: Number.Type
  ) -> Aggregate where Value == Number.Sum { Aggregate(.sum, key, Number.sum) }

  /// The average of the values; `nil` where there is none.
  public static func average<Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>
  ) -> Aggregate where Value == Number.Mean? { Aggregate(.average, property, Number.Mean.present) }

  /// The average of what a key leads to; `nil` where there is nothing.
  public static func average<Number: AggregateNumber>(
    _ key: Key, as type: Number.Type
  ) -> Aggregate where Value == Number.Mean? { Aggregate(.average, key, Number.Mean.present) }

  /// The smallest value; `nil` where there is none.
  public static func minimum<Property: AggregateValue>(
    _ property: KeyPath<Object, Property>
  ) -> Aggregate where Value == Property.Present? {
    Aggregate(.minimum, property, Property.Present.present)
  }

  /// The smallest of what a key leads to; `nil` where there is nothing.
  public static func minimum<Attribute: ManagedAttribute>(
    _ key: Key, as type: Attribute.Type
  ) -> Aggregate where Value == Attribute? { Aggregate(.minimum, key, Attribute.present) }

  /// The largest value; `nil` where there is none.
  public static func maximum<Property: AggregateValue>(
    _ property: KeyPath<Object, Property>
  ) -> Aggregate where Value == Property.Present? {
    Aggregate(.maximum, property, Property.Present.present)
  }

  /// The largest of what a key leads to; `nil` where there is nothing.
  public static func maximum<Attribute: ManagedAttribute>(
    _ key: Key, as type: Attribute.Type
  ) -> Aggregate where Value == Attribute? { Aggregate(.maximum, key, Attribute.present) }
}

// MARK: - Values

/// A type of a property that has a smallest and a largest value: any of attributes, and its
/// optional.
public protocol AggregateValue {
  /// What there is where there is a value.
  associatedtype Present: ManagedAttribute
}

extension Optional: AggregateValue where Wrapped: AggregateValue {
  public typealias Present = Wrapped.Present
}

/// A type of numbers that can be summed up, and its optional: integers make an `Int`, doubles and
/// floats a `Double`, decimals a `Decimal`.
public protocol AggregateNumber {
  associatedtype Sum: ManagedAttribute
  /// What an average is.
  associatedtype Mean: ManagedAttribute
}

extension Int: AggregateNumber {
  public typealias Sum = Int
  public typealias Mean = Double
}
extension Int16: AggregateNumber {
  public typealias Sum = Int
  public typealias Mean = Double
}
extension Int32: AggregateNumber {
  public typealias Sum = Int
  public typealias Mean = Double
}
extension Int64: AggregateNumber {
  public typealias Sum = Int
  public typealias Mean = Double
}
extension Double: AggregateNumber {
  public typealias Sum = Double
  public typealias Mean = Double
}
extension Float: AggregateNumber {
  public typealias Sum = Double
  public typealias Mean = Double
}
extension Decimal: AggregateNumber {
  public typealias Sum = Decimal
  public typealias Mean = Decimal
}
extension Optional: AggregateNumber where Wrapped: AggregateNumber {
  public typealias Sum = Wrapped.Sum
  public typealias Mean = Wrapped.Mean
}

extension AggregateNumber {
  fileprivate static func sum(of value: PredicateValue?) throws -> Sum {
    // The sum of nothing is an integer.
    if case .value(.integer(0))? = value { return Sum.empty }
    return try Sum.present(value) ?? Sum.empty
  }
}

extension ManagedAttribute {
  fileprivate static func present(_ value: PredicateValue?) throws -> Self? {
    guard let value else { return nil }
    if case .value(let attribute) = value, let shown = Self(attributeValue: attribute) {
      return shown
    }
    throw PersistenceError(
      .unacceptableValue, "an aggregate came out as \(value), which is no \(Self.self)")
  }
}

/// A type of a property by which objects are put into groups: any of attributes, an object, and the
/// optionals of these.
public protocol GroupValue {
  /// What the objects of a group have in common.
  static func groupValue(_ value: PredicateValue?, in context: ManagedObjectContext) throws -> Self
}

extension ManagedAttribute {
  /// Where there is no value a property that is not optional shows its empty one.
  public static func groupValue(
    _ value: PredicateValue?, in context: ManagedObjectContext
  ) throws -> Self { try present(value) ?? empty }
}

extension ManagedObject: GroupValue {
  public static func groupValue(
    _ value: PredicateValue?, in context: ManagedObjectContext
  ) throws -> Self {
    guard case .object(let identity)? = value, let id = identity.base as? ManagedObjectID,
      let object = context.object(with: id)
    else {
      throw PersistenceError(
        .unacceptableValue,
        "some objects lead to no \(Self.self): group by a property that is optional, or leave them out"
      )
    }
    guard let object = object as? Self else {
      throw PersistenceError(
        .unacceptableValue, "\(object.objectID) is a \(type(of: object)), not a \(Self.self)")
    }
    return object
  }
}

extension Optional: GroupValue where Wrapped: GroupValue {
  public static func groupValue(
    _ value: PredicateValue?, in context: ManagedObjectContext
  ) throws -> Wrapped? {
    try value.map { try Wrapped.groupValue($0, in: context) }
  }
}
