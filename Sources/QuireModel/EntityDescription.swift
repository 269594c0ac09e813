/// An entity of a model, resolved: what it declares and what it inherits.
///
/// Immutable and shared; two entities are the same when their version hashes are.
public final class EntityDescription: Sendable {
  /// The entity as it was declared.
  public let declaration: Entity
  public let parent: EntityDescription?
  /// The names of the direct subentities, in order.
  public let subentityNames: [String]
  /// All attributes, inherited ones first, each level in the order of its declaration.
  public let attributes: [AttributeDescription]
  /// All relationships, inherited ones first, each level in the order of its declaration.
  public let relationships: [RelationshipDescription]
  /// All uniqueness constraints, inherited ones first.
  public let uniquenessConstraints: [[String]]
  /// Identifies the parts of the entity that decide how its objects are stored.
  public let versionHash: VersionHash

  private let attributeIndexes: [String: Int]
  private let relationshipIndexes: [String: Int]

  init(
    _ declaration: Entity, parent: EntityDescription?, subentityNames: [String],
    versionHash: VersionHash
  ) {
    self.declaration = declaration
    self.parent = parent
    self.subentityNames = subentityNames
    self.versionHash = versionHash
    attributes = (parent?.attributes ?? []) + declaration.attributes
    relationships = (parent?.relationships ?? []) + declaration.relationships
    uniquenessConstraints =
      (parent?.uniquenessConstraints ?? []) + declaration.uniquenessConstraints
    // Names are unique within a resolved entity: the model has checked that.
    attributeIndexes = .init(
      uniqueKeysWithValues: attributes.enumerated().map { ($1.name, $0) })
    relationshipIndexes = .init(
      uniqueKeysWithValues: relationships.enumerated().map { ($1.name, $0) })
  }

  public var name: String { declaration.name }
  public var isAbstract: Bool { declaration.isAbstract }
  public var managedObjectClassName: String? { declaration.managedObjectClassName }
  /// The name under which earlier versions are searched for this entity.
  public var renamingIdentifier: String { declaration.renamingIdentifier ?? name }
  public var userInfo: [String: String] { declaration.userInfo }

  /// The top of the hierarchy this entity belongs to: itself when it has no parent.
  public var root: EntityDescription { parent?.root ?? self }

  public func attribute(named name: String) -> AttributeDescription? {
    attributeIndexes[name].map { attributes[$0] }
  }

  public func relationship(named name: String) -> RelationshipDescription? {
    relationshipIndexes[name].map { relationships[$0] }
  }

  /// The place of a relationship among ``relationships``.
  func index(ofRelationship name: String) -> Int? { relationshipIndexes[name] }

  public var attributesByName: [String: AttributeDescription] {
    attributeIndexes.mapValues { attributes[$0] }
  }

  public var relationshipsByName: [String: RelationshipDescription] {
    relationshipIndexes.mapValues { relationships[$0] }
  }

  /// Whether this entity is `other` or one of its descendants.
  public func isKindOf(entity other: EntityDescription) -> Bool {
    name == other.name || (parent?.isKindOf(entity: other) ?? false)
  }
}

extension EntityDescription: Hashable {
  public static func == (left: EntityDescription, right: EntityDescription) -> Bool {
    left === right || (left.name == right.name && left.versionHash == right.versionHash)
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(versionHash) }
}

extension EntityDescription: CustomStringConvertible {
  public var description: String { name }
}

extension EntityDescription {
  /// An entity that belongs to no model and has no property.
  package convenience init(unresolved name: String) {
    let entity = Entity(name)
    self.init(
      entity, parent: nil, subentityNames: [],
      versionHash: VersionHash(of: entity, lineage: [entity]))
  }
}
