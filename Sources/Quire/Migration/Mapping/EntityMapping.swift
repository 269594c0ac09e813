import QuireModel

/// What a mapping does with the objects of its source entity. The raw values are Core Data's.
public enum EntityMappingType: UInt, Sendable {
  /// Treated as ``transformEntityMappingType``.
  case undefinedEntityMappingType = 0
  /// A policy decides.
  case customEntityMappingType = 1
  /// The destination entity is new: it gets no objects, unless a policy makes some.
  case addEntityMappingType = 2
  /// The source entity goes, with its objects.
  case removeEntityMappingType = 3
  /// Each object becomes one with the same values.
  case copyEntityMappingType = 4
  /// Each object becomes one whose values the property mappings say.
  case transformEntityMappingType = 5
}

/// How the objects of one entity of the source become objects of the destination.
public struct EntityMapping: Sendable {
  /// By which other mappings refer to this one; Core Data's default is `SourceToDestination`.
  public var name: String
  public var mappingType: EntityMappingType
  public var sourceEntityName: String?
  /// The hash that the source entity must have; any when `nil`.
  public var sourceEntityVersionHash: VersionHash?
  public var destinationEntityName: String?
  public var destinationEntityVersionHash: VersionHash?
  public var attributeMappings: [PropertyMapping] = []
  public var relationshipMappings: [PropertyMapping] = []
  /// Which objects of the source entity are meant; all of them when `nil`, without those of
  /// subentities.
  public var sourceExpression: MappingExpression?
  /// The policy that carries the mapping out; ``EntityMigrationPolicy`` itself when there is none.
  public var entityMigrationPolicy: EntityMigrationPolicy.Type?
  /// The name of the policy, to be found among ``MappingModel/migrationPolicies``; looked at when
  /// ``entityMigrationPolicy`` is `nil`.
  public var entityMigrationPolicyClassName: String?
  public var userInfo: [String: String] = [:]

  /// - Parameters:
  ///   - source: the source entity's name; `nil` for a mapping that adds.
  ///   - destination: the destination entity's name; `nil` for one that removes, or whose policy
  ///     decides.
  ///   - name: made of both names when `nil`.
  public init(
    from source: String? = nil, to destination: String? = nil,
    _ mappingType: EntityMappingType = .undefinedEntityMappingType, name: String? = nil
  ) {
    self.name = name ?? EntityMapping.defaultName(from: source, to: destination)
    self.mappingType = mappingType
    sourceEntityName = source
    destinationEntityName = destination
  }

  private static func defaultName(from source: String?, to destination: String?) -> String {
    switch (source, destination) {
    case (let source?, let destination?): "\(source)To\(destination)"
    case (let source?, nil): source
    case (nil, let destination?): destination
    case (nil, nil): ""
    }
  }
}
