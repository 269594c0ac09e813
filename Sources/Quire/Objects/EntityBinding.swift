import QuireModel

/// An entity as objects see it: its properties by slot, and the class of its objects.
///
/// A slot is a small number that stands for a property in everything that happens at run time.
/// Slots follow the entity's properties: attributes first, then relationships, inherited ones
/// before own.
final class EntityBinding: Sendable {
  enum Property: Sendable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)
  }

  let entity: EntityDescription
  /// The entity's place among the entities of its model.
  let index: Int
  let properties: [Property]
  let objectClass: ManagedObject.Type
  private let slots: [String: Int]

  init(_ entity: EntityDescription, index: Int, objectClass: ManagedObject.Type) {
    self.entity = entity
    self.index = index
    self.objectClass = objectClass
    properties =
      entity.attributes.map(Property.attribute) + entity.relationships.map(Property.relationship)
    var slots: [String: Int] = [:]
    for (slot, property) in properties.enumerated() { slots[property.name] = slot }
    self.slots = slots
  }

  func slot(named name: String) -> Int? { slots[name] }

  var attributeSlots: Range<Int> { 0..<entity.attributes.count }
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

/// A model with the classes of its objects.
///
/// Classes belong to a coordinator's binding of a model, never to the process: two coordinators may
/// use the same class for different entities.
final class ModelBinding: Sendable {
  let model: ManagedObjectModel
  /// In the order of the model's entities.
  let entities: [EntityBinding]
  private let indexes: [String: Int]

  /// - Parameter classes: classes by entity name. An entity without one takes its nearest
  ///   ancestor's.
  init(_ model: ManagedObjectModel, classes: [String: ManagedObject.Type]) {
    self.model = model
    var indexes: [String: Int] = [:]
    var entities: [EntityBinding] = []
    for (index, entity) in model.entities.enumerated() {
      indexes[entity.name] = index
      var ancestor: EntityDescription? = entity
      while let level = ancestor, classes[level.name] == nil { ancestor = level.parent }
      entities.append(
        EntityBinding(
          entity, index: index,
          objectClass: ancestor.flatMap { classes[$0.name] } ?? ManagedObject.self))
    }
    self.entities = entities
    self.indexes = indexes
  }

  func entity(named name: String) -> EntityBinding? { indexes[name].map { entities[$0] } }

  /// The entity whose objects have exactly this class.
  func entity(of objectClass: ManagedObject.Type) -> EntityBinding? {
    let candidates = entities.filter { $0.objectClass == objectClass }
    // Subentities without a class of their own share their ancestor's: the ancestor is meant.
    return candidates.first { candidate in
      candidates.allSatisfy { $0.entity.isKindOf(entity: candidate.entity) }
    }
  }
}

extension EntityBinding {
  /// Stands for an entity that no model has, so that an object of it can exist until the error
  /// about it is thrown.
  static func unknown(named name: String) -> EntityBinding {
    EntityBinding(EntityDescription(unresolved: name), index: 0, objectClass: ManagedObject.self)
  }
}
