import QuireModel

/// The effect of a mapping on the objects of its source entity. The raw values are those of Core
/// Data.
public enum EntityMappingType: UInt, Sendable {
  /// Treated as ``transformEntityMappingType``.
  case undefinedEntityMappingType = 0
  /// A policy decides.
  case customEntityMappingType = 1
  /// The destination entity is new: it gets no objects, unless a policy makes some.
  case addEntityMappingType = 2
  /// The source entity is removed, with its objects.
  case removeEntityMappingType = 3
  /// Each object becomes one with the same values and relationships: properties that both entities
  /// have under one name, and no property mapping, are copied.
  case copyEntityMappingType = 4
  /// Each object becomes one with the values of the property mappings.
  case transformEntityMappingType = 5
}

/// The mapping of one source entity's objects to objects of the destination.
public struct EntityMapping: Sendable {
  /// The name by which other mappings refer to this one; Core Data's default is
  /// `SourceToDestination`.
  public var name: String
  /// What is done with the objects of the source entity.
  public var mappingType: EntityMappingType
  /// The name of the entity whose objects are migrated; `nil` for a mapping that adds.
  public var sourceEntityName: String?
  /// The hash that the source entity must have; `nil` for any.
  public var sourceEntityVersionHash: VersionHash?
  /// The name of the entity whose objects are made; `nil` for a mapping that removes, or whose
  /// policy decides.
  public var destinationEntityName: String?
  /// The hash that the destination entity must have; any when `nil`.
  public var destinationEntityVersionHash: VersionHash?
  /// Where the attributes of a destination object get their values from. Those without a mapping
  /// keep their defaults, unless ``mappingType`` is to copy.
  public var attributeMappings: [PropertyMapping] = []
  /// Where the relationships of a destination object lead. Those without a mapping are left as they
  /// are, unless ``mappingType`` is to copy.
  public var relationshipMappings: [PropertyMapping] = []
  /// An expression for the source objects; `nil` for all of the entity, without those of
  /// subentities.
  public var sourceExpression: MappingExpression?
  /// The policy that executes the mapping; `nil` for ``EntityMigrationPolicy`` itself.
  public var entityMigrationPolicy: EntityMigrationPolicy.Type?
  /// The name of the policy in ``MappingModel/migrationPolicies``; used if
  /// ``entityMigrationPolicy`` is `nil`.
  public var entityMigrationPolicyClassName: String?
  /// Texts of the application's own by its own keys, for policies to read.
  public var userInfo: [String: String] = [:]

  /// - Parameters:
  ///   - source: the name of the source entity; `nil` for a mapping that adds.
  ///   - destination: the name of the destination entity; `nil` for a mapping that removes, or
  ///     whose policy decides.
  ///   - name: `nil` to combine both names.
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

extension EntityMapping {
  /// The mapping as it is carried out: where it copies, with a mapping of each property that both
  /// entities have and that it does not name.
  func copyingAll(
    from source: EntityDescription?, to destination: EntityDescription?
  ) -> EntityMapping {
    guard mappingType == .copyEntityMappingType, let source, let destination else { return self }
    var complete = self
    let named = Set((attributeMappings + relationshipMappings).map(\.name))
    for attribute in destination.attributes
    where !named.contains(attribute.name) && !attribute.isTransient
      && attribute.derivationExpression == nil
    {
      guard let former = source.attribute(named: attribute.name), !former.isTransient else {
        continue
      }
      complete.attributeMappings.append(PropertyMapping(attribute.name, source: attribute.name))
    }
    for relationship in destination.relationships
    where !named.contains(relationship.name) && !relationship.isTransient {
      guard let former = source.relationship(named: relationship.name), !former.isTransient else {
        continue
      }
      complete.relationshipMappings.append(
        PropertyMapping(relationship.name, valueExpression: .relationship(relationship.name)))
    }
    return complete
  }
}
