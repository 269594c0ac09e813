import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An aggregate over many objects: their number, or one value computed from the values of a
/// property.
///
/// ```swift
/// let rows = try context.aggregate(
///   Artwork.self, .count, .sum(\.price), .maximum(\.year), groupedBy: \.artist)
/// for (artist, (count, sum, latest)) in rows { … }
/// ```
///
/// A property is given as a key path of the class, also behind to-one relationships; the class must
/// then be written out: `.maximum(\Artwork.artist?.born)`. Anything else is given as a `Key`,
/// with the type of the result. Behind a to-many relationship (`Key("tags.word")`) the values of
/// all its objects count.
///
/// Objects without a value are skipped, so that an average is that of the values present, as in
/// SQL. (`@avg` in a key path takes an absent value for 0, as Foundation does.) Sums of integers
/// are exact or an error; decimals are added as decimals.
public struct Aggregate<Object: ManagedObject, Value> {
  /// The values that are aggregated.
  enum Source {
    case objects
    case key([String])
    /// A typed key path, which the closure translates into names of properties.
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
      // The initialiser cannot throw; the error is thrown when the aggregate is used.
      self.init(function, .property { _ in throw unusable(key) }, result)
      return
    }
    self.init(function, .key(names), result)
  }
}

private func unusable(_ key: Key) -> PersistenceError {
  PersistenceError(
    .invalidExpression,
    "an aggregate takes a key path without ANY or ALL, and \(key.expression) is none"
  )
}

extension Aggregate where Value == Int {
  /// The number of objects.
  public static var count: Aggregate { Aggregate(.count, .objects, integer) }

  /// The number of values; objects without one do not count.
  public static func valueCount<Property>(_ property: KeyPath<Object, Property>) -> Aggregate {
    Aggregate(.count, property, integer)
  }

  /// How many of the objects have a value at the end of the key's path.
  public static func valueCount(_ key: Key) -> Aggregate { Aggregate(.count, key, integer) }

  /// The number of different values.
  public static func distinctCount<Property>(_ property: KeyPath<Object, Property>) -> Aggregate {
    Aggregate(.distinctCount, property, integer)
  }

  /// How many different values the objects have at the end of the key's path.
  public static func distinctCount(_ key: Key) -> Aggregate {
    Aggregate(.distinctCount, key, integer)
  }
}

private func integer(_ value: PredicateValue?) throws -> Int { try Int.sum(of: value) }

extension Aggregate {
  /// The sum of the values; 0 if there are none.
  public static func sum<Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>
  ) -> Aggregate where Value == Number.Sum { Aggregate(.sum, property, Number.sum) }

  /// The sum of the values at a key path, with the number type that they have.
  public static func sum<Number: AggregateNumber>(
    _ key: Key, as type: Number.Type
  ) -> Aggregate where Value == Number.Sum { Aggregate(.sum, key, Number.sum) }

  /// The average of the values; `nil` if there are none.
  public static func average<Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>
  ) -> Aggregate where Value == Number.Mean? { Aggregate(.average, property, Number.Mean.present) }

  /// The average of the values at a key path; `nil` if there are none.
  public static func average<Number: AggregateNumber>(
    _ key: Key, as type: Number.Type
  ) -> Aggregate where Value == Number.Mean? { Aggregate(.average, key, Number.Mean.present) }

  /// The smallest value; `nil` if there is none.
  public static func minimum<Property: AggregateValue>(
    _ property: KeyPath<Object, Property>
  ) -> Aggregate where Value == Property.Present? {
    Aggregate(.minimum, property, Property.Present.present)
  }

  /// The smallest value at a key path; `nil` if there is none.
  public static func minimum<Attribute: ManagedAttribute>(
    _ key: Key, as type: Attribute.Type
  ) -> Aggregate where Value == Attribute? { Aggregate(.minimum, key, Attribute.present) }

  /// The largest value; `nil` if there is none.
  public static func maximum<Property: AggregateValue>(
    _ property: KeyPath<Object, Property>
  ) -> Aggregate where Value == Property.Present? {
    Aggregate(.maximum, property, Property.Present.present)
  }

  /// The largest value at a key path; `nil` if there is none.
  public static func maximum<Attribute: ManagedAttribute>(
    _ key: Key, as type: Attribute.Type
  ) -> Aggregate where Value == Attribute? { Aggregate(.maximum, key, Attribute.present) }
}

// MARK: - Values

/// A type of numbers that can be summed up, and its optional: integers make an `Int`, doubles and
/// floats a `Double`, decimals a `Decimal`.
public protocol AggregateNumber {
  /// What a sum is: a type that more numbers fit in.
  associatedtype Sum: ManagedAttribute
  /// The type of an average.
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
    // The sum of no values is the integer 0, whatever the type of the property.
    if case .value(.integer(0))? = value { return Sum.empty }
    return try Sum.present(value) ?? Sum.empty
  }
}
