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
    /// Whether a destination may be gone without this side having been told: there is no inverse,
    /// or the inverse asks for no action, or it is not stored and knows of no destination when its
    /// object is deleted.
    var canDangle = false
    /// Whether this is the other side of a to-one relationship, whose row says it all. An order is
    /// the owner's own.
    var isForeignKeyOfOthers = false
    var isOrdered = false
    /// Whether no more than this side of the relationship has to be right for a store to be.
    var isOneSided = true
    /// Whether the store works the attribute out: what it is set to is never saved.
    var isDerived = false
    /// Whether large values may be kept outside of their rows.
    var isExternal = false
    /// Whether there are numbers of destinations that are not allowed.
    var limitsCount = false
    /// Whether the type holds less than its values may say.
    var hasWidth = false
    /// What there is to check beyond the type.
    var check = Check.nothing
    /// Of a relationship the index of the entity that it leads to; -1 where that is unknown.
    var destination: Int32 = -1
    /// The slot of the inverse in that very entity; -1 where there is none. Subentities may have it
    /// elsewhere.
    var inverseSlot: Int32 = -1
    /// What becomes of destinations; nothing of what attributes have.
    var deleteRule = DeleteRule.noAction
  }

  enum Check: Sendable {
    case nothing
    /// That there is a value.
    case presence
    case rule
  }

  let entity: EntityDescription
  /// The entity's place among the entities of its model.
  let index: Int
  let properties: [Property]
  /// By slot.
  let traits: [Trait]
  let hasTransientProperties: Bool
  let hasOrderedRelationships: Bool
  /// The values of new objects, by slot; `nil` where they have none.
  let defaultValues: [AttributeValue?]
  // Sound: written in `init` alone, and freed with the binding. No slot leads to an object; they
  // are values.
  /// The slots of new objects, where whoever copies them counts nothing else.
  nonisolated(unsafe) let newSlots: UnsafeMutableBufferPointer<ManagedObject.Slot>
  /// What values must be beyond their type, by the slots of attributes; `nil` for anything.
  let rules: [AttributeRule?]
  /// The slots of attributes that have a rule.
  let ruledSlots: [Int]
  /// The slots of stored relationships that do not allow any number of destinations.
  let limitedSlots: [Int]
  /// The transformers of transformable attributes, by slot, as far as they are registered.
  let transformers: [Int: any ValueTransformer]
  /// How derived attributes are worked out, each behind those that it reads.
  let derivations: [Derivation]
  /// The slots of typed properties.
  let accessors = SlotCache()
  /// The relationships that a store keeps.
  let storedRelationshipSlots: [Int]
  /// Those of them that lead to one object, which leads back to no more than one.
  let oneToOneSlots: [Int]
  /// Whether there are any, for those who ask of each of many objects.
  let hasOneToOnes: Bool
  /// The places of the relationships in the entity, in the order of their slots.
  private let relationshipPlaces: [Int]
  private let names: NameTable

  /// - Parameters:
  ///   - model: knows the inverses; an entity without one has none that count.
  ///   - entityNames: of the model's entities, in their order.
  init(
    _ entity: EntityDescription, index: Int, in model: ManagedObjectModel? = nil,
    _ entityNames: NameTable? = nil, _ transformers: ValueTransformers = [:]
  ) {
    self.entity = entity
    self.index = index
    let (attributes, relationships) = (entity.attributes, entity.relationships)
    let attributePlaces = attributes.indices.sorted { attributes[$0].name < attributes[$1].name }
    relationshipPlaces = relationships.indices.sorted {
      relationships[$0].name < relationships[$1].name
    }
    let count = attributes.count + relationships.count
    var properties: [Property] = []
    properties.reserveCapacity(count)
    var traits: [Trait] = []
    traits.reserveCapacity(count)
    var defaultValues: [AttributeValue?] = []
    defaultValues.reserveCapacity(count)
    var names: [String] = []
    names.reserveCapacity(count)
    // By places, since descriptions are large: a loop over them would copy each.
    for place in attributePlaces {
      properties.append(.attribute(attributes[place]))
      traits.append(
        Trait(
          attributeType: attributes[place].type, isToMany: false,
          isTransient: attributes[place].isTransient,
          isDerived: attributes[place].isDerived,
          isExternal: attributes[place].allowsExternalBinaryDataStorage,
          hasWidth: attributes[place].type.integerRange != nil))
      defaultValues.append(attributes[place].initialValue)
      names.append(attributes[place].name)
    }
    var storedRelationshipSlots: [Int] = []
    var oneToOneSlots: [Int] = []
    for place in relationshipPlaces {
      let relationship = relationships[place]
      let inverse = model?.inverse(of: relationship)
      if !relationship.isTransient {
        storedRelationshipSlots.append(properties.count)
        if !relationship.isToMany, let inverse = inverse?.relationship,
          !inverse.isToMany, !inverse.isTransient
        {
          oneToOneSlots.append(properties.count)
        }
      }
      properties.append(.relationship(relationship))
      var trait = Trait(relationship, inverse: inverse?.relationship)
      if let index = entityNames?[relationship.destination],
        let destination = model?.entities[index]
      {
        trait.destination = Int32(index)
        trait.inverseSlot = relationship.inverse.map { destination.slot(ofRelationship: $0) } ?? -1
      }
      traits.append(trait)
      defaultValues.append(nil)
      names.append(relationship.name)
    }
    self.properties = properties
    slotCount = count
    relationshipSlots = attributes.count..<count
    self.defaultValues = defaultValues
    newSlots = .allocate(capacity: count)
    for (slot, value) in defaultValues.enumerated() {
      newSlots.initializeElement(at: slot, to: value.map { .value($0) } ?? .unchanged)
    }
    hasTransientProperties = traits.contains(where: \.isTransient)
    hasOrderedRelationships = traits.contains(where: \.isOrdered)
    self.storedRelationshipSlots = storedRelationshipSlots
    self.oneToOneSlots = oneToOneSlots
    hasOneToOnes = !oneToOneSlots.isEmpty
    self.names = NameTable(names)
    // What is worked out when it is saved cannot be checked before.
    let rules = attributePlaces.map {
      attributes[$0].isDerived ? nil : AttributeRule(attributes[$0])
    }
    self.rules = rules
    ruledSlots = rules.indices.filter { rules[$0] != nil }
    for (slot, rule) in rules.enumerated() {
      traits[slot].check = rule.map { $0.asksForValueAlone ? .presence : .rule } ?? .nothing
    }
    limitedSlots = traits.indices.filter { traits[$0].limitsCount && !traits[$0].isTransient }
    for slot in limitedSlots { traits[slot].check = .rule }
    self.traits = traits
    var transformersBySlot: [Int: any ValueTransformer] = [:]
    for (slot, place) in attributePlaces.enumerated()
    where traits[slot].attributeType == .transformable {
      transformersBySlot[slot] = attributes[place].valueTransformerName.flatMap { transformers[$0] }
    }
    self.transformers = transformersBySlot
    derivations = Derivation.ordered(
      attributePlaces.enumerated().compactMap { slot, place in
        traits[slot].isDerived ? (slot, attributes[place]) : nil
      }, of: entity)
  }

  deinit {
    newSlots.deinitialize()
    newSlots.deallocate()
  }

  func slot(named name: String) -> Int? { names[name] }

  let slotCount: Int

  func name(of slot: Int) -> String { names.name(at: slot) }

  /// What a transient attribute has in an object that was read from a store, until it is set: of a
  /// required one the default, as an object without it could not be saved.
  func transientDefault(_ slot: Int) -> AttributeValue? {
    guard case .attribute(let attribute) = properties[slot], attribute.isTransient,
      !attribute.isOptional
    else { return nil }
    return defaultValues[slot]
  }

  let relationshipSlots: Range<Int>

  /// The slot must be one of ``relationshipSlots``.
  func relationship(_ slot: Int) -> RelationshipDescription {
    entity.relationships[relationshipPlaces[slot - relationshipSlots.lowerBound]]
  }
}

extension EntityDescription {
  /// The slot that a relationship has in the entity's binding; -1 when there is no such one.
  fileprivate func slot(ofRelationship name: String) -> Int32 {
    var slot = attributes.count
    var isThere = false
    for place in relationships.indices {
      if relationships[place].name < name { slot += 1 }
      if relationships[place].name == name { isThere = true }
    }
    return isThere ? Int32(slot) : -1
  }
}

extension AttributeDescription {
  fileprivate var isDerived: Bool { derivationExpression != nil && !isTransient }
}

extension EntityBinding.Trait {
  fileprivate init(_ relationship: RelationshipDescription, inverse: RelationshipDescription?) {
    isToMany = relationship.isToMany
    isOrdered = relationship.isToMany && relationship.isOrdered
    // A one-to-many without an order is the rows' foreign keys, and what a save makes of them. Of
    // all others a store keeps both sides.
    isOneSided =
      relationship.isTransient
      || !relationship.isOrdered
        && inverse.map { $0.isToMany != relationship.isToMany && !$0.isOrdered }
          // Of an object that is in no context yet, nobody knows the inverse but by its name.
          ?? (relationship.inverse == nil)
    limitsCount = relationship.limitsCount
    isTransient = relationship.isTransient
    canDangle = inverse.map { $0.deleteRule == .noAction || $0.isTransient } ?? true
    isForeignKeyOfOthers =
      !relationship.isOrdered && inverse.map { !$0.isToMany && !$0.isTransient } ?? false
    deleteRule = relationship.deleteRule
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
