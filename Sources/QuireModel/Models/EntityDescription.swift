/// An entity of a model, resolved: what it declares and what it inherits.
///
/// Immutable and shared; two entities are the same when their version hashes are.
public final class EntityDescription: Sendable {
  /// The entity as it was declared.
  public let declaration: Entity
  /// The entity whose properties this one inherits; `nil` for none.
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

  private let table: EntityTable
  private let attributeIndexes: [String: Int]
  private let relationshipIndexes: [String: Int]

  init(
    _ declaration: Entity, parent: EntityDescription?, _ table: EntityTable
  ) {
    self.declaration = declaration
    self.parent = parent
    self.table = table
    subentityNames = table.children[declaration.name] ?? []
    versionHash =
      table.versionHashes[declaration.name]
      ?? VersionHash(of: declaration, lineage: [declaration])
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

  /// The name, unique in the model.
  public var name: String { declaration.name }
  /// Whether there are no objects of this entity, only of its subentities.
  public var isAbstract: Bool { declaration.isAbstract }
  /// The name of the class of its objects; `nil` when the model names none.
  public var managedObjectClassName: String? { declaration.managedObjectClassName }
  /// The name under which earlier versions are searched for this entity.
  public var renamingIdentifier: String { declaration.renamingIdentifier ?? name }
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] { declaration.userInfo }

  /// The top of the hierarchy this entity belongs to: itself when it has no parent.
  public var root: EntityDescription { parent?.root ?? self }

  /// The attribute of that name, inherited ones included; `nil` when there is none.
  ///
  /// - Complexity: O(1).
  public func attribute(named name: String) -> AttributeDescription? {
    attributeIndexes[name].map { attributes[$0] }
  }

  /// The relationship of that name, inherited ones included; `nil` when there is none.
  ///
  /// - Complexity: O(1).
  public func relationship(named name: String) -> RelationshipDescription? {
    relationshipIndexes[name].map { relationships[$0] }
  }

  /// The position of a relationship among ``relationships``.
  func index(ofRelationship name: String) -> Int? { relationshipIndexes[name] }

  /// All attributes by name, inherited ones included.
  ///
  /// - Complexity: O(*n*): the dictionary is made anew; ``attribute(named:)`` finds one without it.
  public var attributesByName: [String: AttributeDescription] {
    attributeIndexes.mapValues { attributes[$0] }
  }

  /// All relationships by name, inherited ones included.
  ///
  /// - Complexity: O(*n*): the dictionary is made anew; ``relationship(named:)`` finds one without
  ///   it.
  public var relationshipsByName: [String: RelationshipDescription] {
    relationshipIndexes.mapValues { relationships[$0] }
  }

  /// Whether this entity is `other` or one of its descendants.
  public func isKindOf(entity other: EntityDescription) -> Bool {
    name == other.name || (parent?.isKindOf(entity: other) ?? false)
  }
}

// MARK: - Subentities

/// The declarations of a model, shared by its entities: values, so that parents and children do not
/// hold each other.
final class EntityTable: Sendable {
  let declarations: [String: Entity]
  let versionHashes: [String: VersionHash]
  /// The names of the direct subentities, by the name of the parent.
  let children: [String: [String]]

  init(
    declarations: [String: Entity] = [:], versionHashes: [String: VersionHash] = [:],
    children: [String: [String]] = [:]
  ) {
    self.declarations = declarations
    self.versionHashes = versionHashes
    self.children = children
  }
}

extension EntityDescription {
  /// The direct subentities, by name.
  ///
  /// - Complexity: O(*n*) in the subentities and their properties: they are resolved anew.
  public var subentities: [EntityDescription] {
    subentityNames.compactMap { table.declarations[$0] }.map {
      EntityDescription($0, parent: self, table)
    }
  }

  /// The direct subentities; see ``subentities``.
  public var subentitiesByName: [String: EntityDescription] {
    .init(uniqueKeysWithValues: subentities.map { ($0.name, $0) })
  }
}

// MARK: - Inherited facts that are seldom used

extension EntityDescription {
  /// All fetched properties, inherited ones first.
  public var fetchedProperties: [FetchedPropertyDescription] {
    (parent?.fetchedProperties ?? []) + declaration.fetchedProperties
  }

  /// The fetched property of that name, inherited ones included; `nil` when there is none.
  public func fetchedProperty(named name: String) -> FetchedPropertyDescription? {
    declaration.fetchedProperties.first { $0.name == name }
      ?? parent?.fetchedProperty(named: name)
  }

  /// All fetched properties by name, inherited ones included.
  public var fetchedPropertiesByName: [String: FetchedPropertyDescription] {
    .init(uniqueKeysWithValues: fetchedProperties.map { ($0.name, $0) })
  }

  /// All fetch indexes, inherited ones first. A subentity may have an index that is called like one
  /// of an ancestor; then it has both.
  public var indexes: [FetchIndexDescription] { (parent?.indexes ?? []) + declaration.indexes }

  /// All properties: attributes, then relationships, then fetched properties, inherited ones first
  /// in each.
  public var properties: [PropertyDescription] {
    attributes.map(PropertyDescription.attribute)
      + relationships.map(PropertyDescription.relationship)
      + fetchedProperties.map(PropertyDescription.fetchedProperty)
  }

  /// All properties by name, inherited ones included.
  public var propertiesByName: [String: PropertyDescription] {
    .init(uniqueKeysWithValues: properties.map { ($0.name, $0) })
  }

  /// The relationships, inherited ones too, whose destination is exactly this entity.
  public func relationships(
    forDestination entity: EntityDescription
  ) -> [RelationshipDescription] {
    relationships.filter { $0.destination == entity.name }
  }
}

/// Any property of an entity, and what all kinds have in common.
public enum PropertyDescription: Hashable, Sendable {
  /// A property that has a value.
  case attribute(AttributeDescription)
  /// A property that refers to other objects.
  case relationship(RelationshipDescription)
  /// A property that has what a request finds.
  case fetchedProperty(FetchedPropertyDescription)

  /// The name, unique among the properties of the entity.
  public var name: String { of(\.name, \.name, \.name) }
  /// Whether an object may be saved without a value.
  public var isOptional: Bool { of(\.isOptional, \.isOptional, \.isOptional) }
  /// Whether nothing of the property is stored. That is so of every fetched property.
  public var isTransient: Bool {
    switch self {
    case .attribute(let attribute): attribute.isTransient
    case .relationship(let relationship): relationship.isTransient
    case .fetchedProperty: true
    }
  }
  /// The name under which earlier versions are searched for the property.
  public var renamingIdentifier: String {
    of(\.renamingIdentifier, \.renamingIdentifier, \.renamingIdentifier) ?? name
  }
  /// Changes the version hash without any other change of the model; `nil` for none.
  public var versionHashModifier: String? {
    of(\.versionHashModifier, \.versionHashModifier, \.versionHashModifier)
  }
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] { of(\.userInfo, \.userInfo, \.userInfo) }

  private func of<Value>(
    _ attribute: KeyPath<AttributeDescription, Value>,
    _ relationship: KeyPath<RelationshipDescription, Value>,
    _ fetchedProperty: KeyPath<FetchedPropertyDescription, Value>
  ) -> Value {
    switch self {
    case .attribute(let description): description[keyPath: attribute]
    case .relationship(let description): description[keyPath: relationship]
    case .fetchedProperty(let description): description[keyPath: fetchedProperty]
    }
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
    self.init(Entity(name), parent: nil, EntityTable())
  }
}
