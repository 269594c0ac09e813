/// The changes between two models: what was kept, added, removed and renamed, and which of it
/// cannot be migrated without a mapping.
///
/// Things are matched by renaming identifier and then by name. Properties are compared as entities
/// have them, inherited ones included, so that one that moved up or down a hierarchy was kept.
/// Everything that enters a ``VersionHash`` is compared and nothing else, so that the difference is
/// empty exactly when the models have the same hashes.
///
/// A difference prints as a report:
///
/// ```
/// entities: 12 kept, 1 changed, 1 added, 0 removed
/// ~ Album (was Collection)
///     + attribute slug: string, required, default "untitled"
///     ~ relationship cover: refers to Image instead of Artwork, its values are dropped
/// + Image
/// ```
public struct ModelDifference: Sendable {
  /// The model that stores have.
  public let source: ManagedObjectModel
  /// The model that they are to have.
  public let destination: ManagedObjectModel
  /// One change for every entity of the destination, by name, then for every removed entity, by
  /// name.
  public let entities: [EntityChange]
  /// Changes for which no mapping can be inferred, however few objects there are.
  public let obstacles: [Obstacle]
  /// Changes for which no mapping can be inferred if the obstacle's source entity has objects of
  /// its own.
  public let conditionalObstacles: [Obstacle]

  private let indexBySource: [String: Int]
  private let indexByDestination: [String: Int]

  /// Compares two models.
  ///
  /// - Complexity: O(*n*) in the entities of both models and their properties.
  public init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    let comparison = ModelComparison(source, destination)
    let entities = comparison.changes()
    self.source = source
    self.destination = destination
    self.entities = entities
    indexBySource = .init(
      uniqueKeysWithValues: entities.enumerated().compactMap { index, change in
        change.source.map { ($0.name, index) }
      })
    indexByDestination = .init(
      uniqueKeysWithValues: entities.enumerated().compactMap { index, change in
        change.destination.map { ($0.name, index) }
      })
    obstacles = entities.flatMap(Obstacle.certain(in:))
    conditionalObstacles = entities.flatMap(Obstacle.conditional(in:))
  }

  /// The obstacles to a migration between two models: certain ones, and those that only matter if
  /// there are objects. Faster than a whole difference, for code that compares many versions.
  package static func obstacles(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> (certain: [Obstacle], conditional: [Obstacle]) {
    ModelComparison(source, destination).obstacles()
  }

  /// Whether both models store their objects in the same way.
  public var isEmpty: Bool { entities.allSatisfy { $0.kind == .kept } }

  /// Whether a mapping can be inferred, apart from the ``conditionalObstacles``.
  public var isInferable: Bool { obstacles.isEmpty }

  /// The change of an entity of the source; `nil` if it has no such entity.
  public func change(ofSource name: String) -> EntityChange? {
    indexBySource[name].map { entities[$0] }
  }

  /// The change that led to an entity of the destination; `nil` if it has no such entity.
  public func change(toDestination name: String) -> EntityChange? {
    indexByDestination[name].map { entities[$0] }
  }
}

/// The changes of an entity between two models. Immutable.
public final class EntityChange: Sendable {
  /// What became of an entity as a whole.
  public enum Kind: String, Hashable, Sendable { case kept, changed, added, removed }

  /// `nil` for an added entity.
  public let source: EntityDescription?
  /// `nil` for a removed entity.
  public let destination: EntityDescription?
  /// What became of the entity: ``Kind/changed`` if it has another name or hash.
  public let kind: Kind
  /// Whether it has another name.
  public let isRenamed: Bool
  /// Whether the entity has another parent, which a renamed one is not.
  public let parentChanged: Bool
  /// Whether it became abstract, or ceased to be.
  public let abstractChanged: Bool
  /// Whether it has another ``Entity/versionHashModifier``.
  public let modifierChanged: Bool
  /// All attributes of either side, also those that were kept: the destination's in its order, then
  /// the removed ones. Empty for an added or removed entity.
  public let attributes: [AttributeChange]
  /// All relationships of either side, in the order of ``attributes``.
  public let relationships: [RelationshipChange]

  init(
    source: EntityDescription?, destination: EntityDescription?, kind: Kind,
    isRenamed: Bool = false, parentChanged: Bool = false, abstractChanged: Bool = false,
    modifierChanged: Bool = false, attributes: [AttributeChange] = [],
    relationships: [RelationshipChange] = []
  ) {
    self.source = source
    self.destination = destination
    self.kind = kind
    self.isRenamed = isRenamed
    self.parentChanged = parentChanged
    self.abstractChanged = abstractChanged
    self.modifierChanged = modifierChanged
    self.attributes = attributes
    self.relationships = relationships
  }

  /// The name in the destination, or in the source for a removed entity.
  public var name: String { (destination ?? source)?.name ?? "" }
}

/// The changes of an attribute of an entity between two models. Immutable.
public final class AttributeChange: Sendable {
  /// One thing that changed of an attribute.
  public enum Facet: Hashable, Sendable {
    /// Only the destination has it.
    case added
    /// Only the source has it.
    case removed
    /// It has another name.
    case renamed
    /// Its values are of another type.
    case typeChanged(from: AttributeType, to: AttributeType)
    /// The elements of a composite changed.
    case elementsChanged
    /// It need not have a value any more.
    case becameOptional
    /// Objects without a value get the default.
    case becameRequired(default: AttributeValue?)
    /// It is stored no longer, or it was not stored before.
    case transientChanged(isTransient: Bool)
    /// It has another ``AttributeDescription/versionHashModifier``.
    case modifierChanged
  }

  /// `nil` for an added attribute.
  public let source: AttributeDescription?
  /// `nil` for a removed attribute.
  public let destination: AttributeDescription?
  /// Empty when the attribute was kept as it was.
  public let facets: [Facet]
  /// The changes of the elements of a composite that both sides have: those of the destination in
  /// its order, then the removed ones.
  public let elements: [AttributeChange]

  init(
    source: AttributeDescription?, destination: AttributeDescription?, facets: [Facet],
    elements: [AttributeChange] = []
  ) {
    self.source = source
    self.destination = destination
    self.facets = facets
    self.elements = elements
  }

  /// The name in the destination, or in the source for a removed attribute.
  public var name: String { (destination ?? source)?.name ?? "" }
  /// Whether nothing of the attribute changed.
  public var isKept: Bool { facets.isEmpty }
}

extension AttributeChange {
  /// The conversion of the stored values, if they are numbers and now have another type.
  public var numberConversion: NumberConversion? {
    guard let source, let destination, !source.isTransient, !destination.isTransient else {
      return nil
    }
    return NumberConversion(from: source.type, to: destination.type)
  }
}

extension AttributeChange: Hashable {
  public static func == (left: AttributeChange, right: AttributeChange) -> Bool {
    left === right
      || left.source == right.source && left.destination == right.destination
        && left.facets == right.facets && left.elements == right.elements
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(destination)
  }
}

/// The changes of a relationship of an entity between two models. Immutable.
public final class RelationshipChange: Sendable {
  /// One thing that changed of a relationship.
  public enum Facet: Hashable, Sendable {
    /// Only the destination has it.
    case added
    /// Only the source has it.
    case removed
    /// It has another name.
    case renamed
    /// It referred to one object and may refer to many.
    case toOneToToMany
    /// It could refer to many objects and refers to one.
    case toManyToToOne
    /// Its destinations have an order now, or had one before.
    case orderedChanged(isOrdered: Bool)
    /// The new destination accepts none of the old one's objects: the values are dropped.
    case destinationChanged(from: String, to: String)
    /// The new destination accepts some of the objects that the old one accepted: links to others
    /// are dropped.
    case destinationNarrowed(from: String, to: String)
    /// The new destination is another entity, but it accepts all objects of the old one.
    case destinationWidened(from: String, to: String)
    /// Another relationship of the destination refers back, or none, or one where there was none.
    case inverseChanged(from: String?, to: String?)
    /// It may have other numbers of destinations.
    case countsChanged
    /// It need not have a destination any more.
    case becameOptional
    /// It needs a destination now.
    case becameRequired
    /// It is stored no longer, or it was not stored before.
    case transientChanged(isTransient: Bool)
    /// It has another ``RelationshipDescription/versionHashModifier``.
    case modifierChanged
  }

  /// `nil` for an added relationship.
  public let source: RelationshipDescription?
  /// `nil` for a removed relationship.
  public let destination: RelationshipDescription?
  /// Empty when the relationship was kept as it was. Renaming its destination does not change it.
  public let facets: [Facet]

  init(
    source: RelationshipDescription?, destination: RelationshipDescription?, facets: [Facet]
  ) {
    self.source = source
    self.destination = destination
    self.facets = facets
  }

  /// The name in the destination, or in the source for a removed relationship.
  public var name: String { (destination ?? source)?.name ?? "" }
  /// Whether nothing of the relationship changed.
  public var isKept: Bool { facets.isEmpty }

  /// Whether objects the source refers to are still referred to in the destination, all or some of
  /// them.
  public var keepsValues: Bool {
    guard let source, let destination, !source.isTransient, !destination.isTransient else {
      return false
    }
    return !facets.contains { if case .destinationChanged = $0 { true } else { false } }
  }
}

extension RelationshipChange: Hashable {
  public static func == (left: RelationshipChange, right: RelationshipChange) -> Bool {
    left === right
      || left.source == right.source && left.destination == right.destination
        && left.facets == right.facets
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(destination)
  }
}
