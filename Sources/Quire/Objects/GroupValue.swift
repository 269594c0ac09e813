import QuireModel

/// A type of a property that has a smallest and a largest value: any of attributes, and its
/// optional.
public protocol AggregateValue {
  /// What there is where there is a value.
  associatedtype Present: ManagedAttribute
}

extension Optional: AggregateValue where Wrapped: AggregateValue {
  public typealias Present = Wrapped.Present
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

extension ManagedAttribute {
  /// What an aggregate came out as; `nil` where there is no value.
  static func present(_ value: PredicateValue?) throws -> Self? {
    guard let value else { return nil }
    if case .value(let attribute) = value, let shown = Self(attributeValue: attribute) {
      return shown
    }
    throw PersistenceError(
      .unacceptableValue, "an aggregate came out as \(value), which is no \(Self.self)")
  }
}
