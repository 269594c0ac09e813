import QuireModel

/// A type of a property that has a smallest and a largest value: a type of attributes, or its
/// optional.
public protocol AggregateValue {
  /// The type without optional: that of a smallest or largest value, if there is one.
  associatedtype Present: ManagedAttribute
}

extension Optional: AggregateValue where Wrapped: AggregateValue {
  public typealias Present = Wrapped.Present
}

/// A type of a property by which objects are grouped: a type of attributes, an object, or the
/// optional of one of these.
public protocol GroupValue {
  /// The value of a group, or of a column, as this type.
  ///
  /// - Parameters:
  ///   - value: the value as a query has found it; `nil` for the group of objects without a value.
  ///   - context: makes the object, where the groups are by a to-one relationship.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when the value cannot be shown as this
  ///   type, or an object is missing and the type is not optional.
  static func groupValue(_ value: PredicateValue?, in context: ManagedObjectContext) throws -> Self
}

extension ManagedAttribute {
  /// The common value of a group; ``ManagedValue/empty`` for the group of objects without a value,
  /// as a property that is not optional shows it.
  public static func groupValue(
    _ value: PredicateValue?, in context: ManagedObjectContext
  ) throws -> Self { try present(value) ?? empty }
}

extension ManagedObject: GroupValue {
  public static func groupValue(
    _ value: PredicateValue?, in context: ManagedObjectContext
  ) throws -> Self {
    guard case .object(let identity)? = value, let id = identity.objectID,
      let object = context.object(with: id)
    else {
      throw PersistenceError(
        .unacceptableValue,
        "some objects have no \(Self.self) there: group by an optional property, or leave them out"
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

extension ManagedAttribute {
  /// The result of an aggregate as this type; `nil` where there is no value.
  static func present(_ value: PredicateValue?) throws -> Self? {
    guard let value else { return nil }
    if case .value(let attribute) = value, let shown = Self(attributeValue: attribute) {
      return shown
    }
    throw PersistenceError(
      .unacceptableValue, "an aggregate came out as \(value), which is no \(Self.self)")
  }
}
