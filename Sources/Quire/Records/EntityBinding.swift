import QuireModel

/// An entity as rows and objects see it: its properties by slot.
///
/// A slot is a small number that stands for a property in everything that happens at run time.
/// Slots follow the entity's properties: attributes first, then relationships, inherited ones
/// before own.
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
  let hasTransientAttributes: Bool
  /// The values of new objects, by slot; `nil` where they have none.
  let defaultValues: [AttributeValue?]
  /// The slots of typed properties.
  let accessors = SlotCache()
  private let slots: [String: Int]

  init(_ entity: EntityDescription, index: Int) {
    self.entity = entity
    self.index = index
    let (attributes, relationships) = (entity.attributes, entity.relationships)
    let count = attributes.count + relationships.count
    var properties: [Property] = []
    properties.reserveCapacity(count)
    var traits: [Trait] = []
    traits.reserveCapacity(count)
    var defaultValues: [AttributeValue?] = []
    defaultValues.reserveCapacity(count)
    var slots: [String: Int] = Dictionary(minimumCapacity: count)
    var hasTransientAttributes = false
    // By places, since descriptions are large: a loop over them would copy each.
    for place in attributes.indices {
      let isTransient = attributes[place].isTransient
      if isTransient { hasTransientAttributes = true }
      slots[attributes[place].name] = properties.count
      properties.append(.attribute(attributes[place]))
      traits.append(
        Trait(
          attributeType: attributes[place].type, isToMany: false, isTransient: isTransient))
      defaultValues.append(attributes[place].defaultValue)
    }
    for place in relationships.indices {
      slots[relationships[place].name] = properties.count
      properties.append(.relationship(relationships[place]))
      traits.append(
        Trait(
          attributeType: nil, isToMany: relationships[place].isToMany,
          isTransient: relationships[place].isTransient))
      defaultValues.append(nil)
    }
    self.properties = properties
    self.traits = traits
    self.hasTransientAttributes = hasTransientAttributes
    self.defaultValues = defaultValues
    self.slots = slots
  }

  func slot(named name: String) -> Int? { slots[name] }

  var relationshipSlots: Range<Int> { entity.attributes.count..<properties.count }

  /// The slot must be one of ``relationshipSlots``.
  func relationship(_ slot: Int) -> RelationshipDescription {
    entity.relationships[slot - entity.attributes.count]
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
