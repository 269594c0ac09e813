import QuireModel

/// Where a property of a destination object gets its value from.
public struct PropertyMapping: Sendable {
  /// The name of the destination's property.
  public var name: String
  /// `nil` leaves the property as it is in a new object: at its default.
  public var valueExpression: MappingExpression?
  public var userInfo: [String: String] = [:]

  public init(_ name: String, valueExpression: MappingExpression? = nil) {
    self.name = name
    self.valueExpression = valueExpression
  }

  /// A mapping whose value is computed in Swift.
  public init(
    _ name: String, _ value: @escaping @Sendable (MappingArguments) throws -> Any?
  ) {
    self.init(name, valueExpression: .closure(value))
  }

  /// The value of a source's property, or what a path of keys leads to.
  public init(_ name: String, source keyPath: String) {
    self.init(name, valueExpression: .source(keyPath))
  }

  /// The destinations of what a source's relationship leads to, as another mapping made them.
  public init(_ name: String, destinationsOf keyPath: String, in entityMappingName: String) {
    self.init(
      name, valueExpression: .destinations(of: keyPath, entityMappingName: entityMappingName))
  }
}

/// How a value is computed while a mapping is carried out.
public enum MappingExpression: Sendable {
  /// In Core Data's language, with the variables `$manager`, `$source`, `$destination`,
  /// `$entityMapping`, `$propertyMapping` and `$entityPolicy`.
  case expression(FetchExpression)
  /// What a path of keys leads to from the source object: `$source.name`.
  case source(String)
  /// What became of the objects that a path leads to from the source, in the mapping of that name.
  case destinations(of: String, entityMappingName: String)
  /// What became of the objects that a relationship of the source leads to, in whatever mappings:
  /// those that the destination's relationship may lead to, and that no other object has already
  /// where it may lead to each once only. What inferred mappings say.
  case relationship(String)
  case closure(@Sendable (MappingArguments) throws -> Any?)
}

/// What a value of a mapping may be computed from.
public struct MappingArguments {
  public let manager: MigrationManager
  public let entityMapping: EntityMapping
  /// `nil` when the expression is the one that finds the sources.
  public let propertyMapping: PropertyMapping?
  public let entityPolicy: EntityMigrationPolicy
  public let source: ManagedObject?
  public let destination: ManagedObject?
}
