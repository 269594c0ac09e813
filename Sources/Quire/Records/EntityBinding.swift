import QuireModel

/// An entity as rows and objects see it: its properties by slot.
///
/// A slot is a small number that stands for a property in everything that happens at run time.
/// Attributes come first, then relationships, each in the order of their names. Models that are
/// equal but for the order of their declarations have equal slots, so that an object made with one
/// can be inserted into a context of the other.
final class EntityBinding: Sendable {
  enum Property: Sendable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)
  }

  /// What is asked of a property again and again, without its description's many parts.
  struct Trait: Sendable {
    /// `nil` for a relationship.
    var attributeType: AttributeType?
    var isToMany: Bool
    var isTransient: Bool
  }

  let entity: EntityDescription
  /// The entity's place among the entities of its model.
  let index: Int
  let properties: [Property]
  /// By slot.
  let traits: [Trait]
  let hasTransientProperties: Bool
  /// The values of new objects, by slot; `nil` where they have none.
  let defaultValues: [AttributeValue?]
  /// The slots of typed properties.
  let accessors = SlotCache()
  private let relationships: [RelationshipDescription]
  private let slots: [String: Int]

  init(_ entity: EntityDescription, index: Int) {
    self.entity = entity
    self.index = index
    relationships = entity.relationships.sorted { $0.name < $1.name }
    properties =
      entity.attributes.sorted { $0.name < $1.name }.map(Property.attribute)
      + relationships.map(Property.relationship)
    traits = properties.map { property in
      switch property {
      case .attribute(let attribute):
        Trait(
          attributeType: attribute.type, isToMany: false, isTransient: attribute.isTransient)
      case .relationship(let relationship):
        Trait(
          attributeType: nil, isToMany: relationship.isToMany,
          isTransient: relationship.isTransient)
      }
    }
    hasTransientProperties = traits.contains(where: \.isTransient)
    defaultValues = properties.map { property in
      if case .attribute(let attribute) = property { attribute.defaultValue } else { nil }
    }
    var slots: [String: Int] = [:]
    for (slot, property) in properties.enumerated() { slots[property.name] = slot }
    self.slots = slots
  }

  func slot(named name: String) -> Int? { slots[name] }

  var relationshipSlots: Range<Int> {
    properties.count - relationships.count..<properties.count
  }

  /// The slot must be one of ``relationshipSlots``.
  func relationship(_ slot: Int) -> RelationshipDescription {
    relationships[slot - (properties.count - relationships.count)]
  }
}

extension EntityBinding.Property {
  var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }
}

/// A model with its entities by slot.
final class ModelBinding: Sendable {
  let model: ManagedObjectModel
  /// In the order of the model's entities.
  let entities: [EntityBinding]
  /// What the schema of a store of this model says about hashes.
  let hashBytes: [UInt8]
  private let indexes: [String: Int]

  init(_ model: ManagedObjectModel) {
    self.model = model
    entities = model.entities.enumerated().map { EntityBinding($1, index: $0) }
    hashBytes = StoreSchema.hashBytes(of: model)
    indexes = .init(uniqueKeysWithValues: entities.map { ($0.entity.name, $0.index) })
  }

  func entity(named name: String) -> EntityBinding? { indexes[name].map { entities[$0] } }
}
