import QuireModel

/// The source of the value of a destination object's property.
public struct PropertyMapping: Sendable {
  /// The name of the destination's property.
  public var name: String
  /// `nil` to keep the default of a new object.
  public var valueExpression: MappingExpression?
  /// Texts of the application's own by its own keys, for policies to read.
  public var userInfo: [String: String] = [:]

  /// - Parameter name: the property of the destination entity that the value is for.
  public init(_ name: String, valueExpression: MappingExpression? = nil) {
    self.name = name
    self.valueExpression = valueExpression
  }

  /// A mapping with a value computed in Swift.
  public init(
    _ name: String, _ value: @escaping @Sendable (MappingArguments) throws -> Any?
  ) {
    self.init(name, valueExpression: .closure(value))
  }

  /// A mapping with the value of a source's property or key path.
  public init(_ name: String, source keyPath: String) {
    self.init(name, valueExpression: .source(keyPath))
  }

  /// A mapping with the objects that another mapping has made from the source's destinations at a
  /// key path.
  public init(_ name: String, destinationsOf keyPath: String, in entityMappingName: String) {
    self.init(
      name, valueExpression: .destinations(of: keyPath, entityMappingName: entityMappingName))
  }
}

/// The computation of a value in a mapping.
public enum MappingExpression: Sendable {
  /// An expression in Core Data's language, with the variables `$manager`, `$source`,
  /// `$destination`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`.
  case expression(FetchExpression)
  /// The value at a key path of the source object: `$source.name`.
  case source(String)
  /// The objects that the mapping with a name has made from the objects at a key path of the
  /// source.
  case destinations(of: String, entityMappingName: String)
  /// The objects that any mappings have made from the destinations of a relationship of the source,
  /// as far as the destination's relationship may have them, and no other object has them already
  /// where they can have only one owner. Used by inferred mappings.
  case relationship(String)
  /// What a function in Swift makes of the source object and of what goes with it. An error that it
  /// throws ends the migration.
  case closure(@Sendable (MappingArguments) throws -> Any?)
}

/// The values from which a value of a mapping may be computed.
public struct MappingArguments {
  /// The manager that carries the mapping out.
  public let manager: MigrationManager
  /// The mapping that the expression is part of.
  public let entityMapping: EntityMapping
  /// `nil` in the expression that finds the source objects.
  public let propertyMapping: PropertyMapping?
  /// The policy that carries the entity mapping out.
  public let entityPolicy: EntityMigrationPolicy
  /// The source object, of the manager's source context; `nil` where there is none.
  public let source: ManagedObject?
  /// The destination object, of the manager's destination context; `nil` where it is not made yet.
  public let destination: ManagedObject?
}
