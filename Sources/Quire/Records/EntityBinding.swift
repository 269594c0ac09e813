import QuireModel

/// An entity prepared for rows and objects: its properties by slot.
///
/// A slot is a small number that represents a property at run time. Attributes come first, then
/// relationships, each sorted by name. Models that differ only in the order of declarations have
/// equal slots, so that an object made with one can be inserted into a context of the other.
final class EntityBinding: Sendable {
  enum Property: Sendable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)
  }

  /// The facts about a property that are often needed, without its large description.
  struct Trait: Sendable {
    /// `nil` for a relationship.
    var attributeType: AttributeType?
    var isToMany: Bool
    var isTransient: Bool
    /// Whether a destination can be deleted without this side being updated: there is no inverse,
    /// or the inverse takes no action, or it is transient and has no destinations when its object
    /// is deleted.
    var canDangle = false
    /// Whether this is the to-many inverse of a stored to-one relationship: rows of members say who
    /// is one.
    var isInverseOfToOne = false
    /// Whether those rows alone hold the links. They do not hold an order, which is stored at the
    /// owner.
    var isForeignKeyOfOthers = false
    var isOrdered = false
    /// Whether a change of this side alone leaves the store consistent.
    var isOneSided = true
    /// Whether the store computes the attribute, so that an assigned value is never saved.
    var isDerived = false
    /// Whether large values may be stored outside of their rows.
    var isExternal = false
    /// Whether the number of destinations is limited.
    var limitsCount = false
    /// Whether the type holds fewer numbers than an `Int64`.
    var hasWidth = false
    /// The checks to make beyond the type.
    var check = Check.nothing
    /// The index of a relationship's destination entity; -1 if it is not known.
    var destination: Int32 = -1
    /// The slot of the inverse in the destination entity itself; -1 if there is none. Subentities
    /// may have another slot for it.
    var inverseSlot: Int32 = -1
    /// The rule for destinations when an object is deleted; no action for attributes.
    var deleteRule = DeleteRule.noAction
  }

  enum Check: Sendable {
    case nothing
    /// There must be a value.
    case presence
    case rule
  }

  let entity: EntityDescription
  /// The index of the entity in its model.
  let index: Int
  let properties: [Property]
  /// By slot.
  let traits: [Trait]
  let hasTransientProperties: Bool
  let hasOrderedRelationships: Bool
  /// The default values of new objects, by slot; `nil` for those without.
  let defaultValues: [AttributeValue?]
  /// What objects work out of the entity, once for all of them.
  let attachments = Attachments()
  /// What values must be beyond their type, by the slots of attributes; `nil` for anything.
  let rules: [AttributeRule?]
  /// The slots of attributes that have a rule.
  let ruledSlots: [Int]
  /// The slots of stored relationships with a limited number of destinations.
  let limitedSlots: [Int]
  /// The registered transformers of transformable attributes, by slot.
  let transformers: [Int: any ValueTransformer]
  /// The derivations of derived attributes, each after those that it reads.
  let derivations: [Derivation]
  /// The slots of typed properties.
  let accessors = SlotCache()
  /// The slots of stored relationships.
  let storedRelationshipSlots: [Int]
  /// Those of them that are to-one with a to-one inverse.
  let oneToOneSlots: [Int]
  /// Whether there are any; tested once for each of many objects.
  let hasOneToOnes: Bool
  /// The indices of relationships in the entity's declaration, in the order of their slots.
  private let relationshipIndices: [Int]
  private let names: NameTable

  /// - Parameters:
  ///   - model: finds the inverses; without it, relationships have none.
  ///   - entityNames: the names of the model's entities, in their order.
  init(
    _ entity: EntityDescription, index: Int, in model: ManagedObjectModel? = nil,
    _ entityNames: NameTable? = nil, _ transformers: ValueTransformers = [:]
  ) {
    self.entity = entity
    self.index = index
    let (attributes, relationships) = (entity.attributes, entity.relationships)
    let attributeIndices = attributes.indices.sorted { attributes[$0].name < attributes[$1].name }
    relationshipIndices = relationships.indices.sorted {
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
    // By index, as descriptions are large: a loop over them would copy each.
    for index in attributeIndices {
      properties.append(.attribute(attributes[index]))
      traits.append(
        Trait(
          attributeType: attributes[index].type, isToMany: false,
          isTransient: attributes[index].isTransient,
          isDerived: attributes[index].isDerived,
          isExternal: attributes[index].allowsExternalBinaryDataStorage,
          hasWidth: attributes[index].type.integerRange != nil))
      defaultValues.append(attributes[index].initialValue)
      names.append(attributes[index].name)
    }
    var storedRelationshipSlots: [Int] = []
    var oneToOneSlots: [Int] = []
    for index in relationshipIndices {
      let relationship = relationships[index]
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
    hasTransientProperties = traits.contains(where: \.isTransient)
    hasOrderedRelationships = traits.contains(where: \.isOrdered)
    self.storedRelationshipSlots = storedRelationshipSlots
    self.oneToOneSlots = oneToOneSlots
    hasOneToOnes = !oneToOneSlots.isEmpty
    self.names = NameTable(names)
    // Derived values are computed in the save, and cannot be checked before.
    let rules = attributeIndices.map {
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
    for (slot, index) in attributeIndices.enumerated()
    where traits[slot].attributeType == .transformable {
      transformersBySlot[slot] = attributes[index].valueTransformerName.flatMap { transformers[$0] }
    }
    self.transformers = transformersBySlot
    derivations = Derivation.ordered(
      attributeIndices.enumerated().compactMap { slot, index in
        traits[slot].isDerived ? (slot, attributes[index]) : nil
      }, of: entity)
  }

  func slot(named name: String) -> Int? { names[name] }

  let slotCount: Int

  func name(of slot: Int) -> String { names.name(at: slot) }

  /// The value of a transient attribute in an object that was read from a store, until it is set:
  /// the default of a required attribute, without which the object could not be saved.
  func transientDefault(_ slot: Int) -> AttributeValue? {
    guard case .attribute(let attribute) = properties[slot], attribute.isTransient,
      !attribute.isOptional
    else { return nil }
    return defaultValues[slot]
  }

  let relationshipSlots: Range<Int>

  /// The slot must be one of ``relationshipSlots``.
  func relationship(_ slot: Int) -> RelationshipDescription {
    entity.relationships[relationshipIndices[slot - relationshipSlots.lowerBound]]
  }
}

extension EntityDescription {
  /// The slot of a relationship in the entity's binding; -1 if there is none of the name.
  fileprivate func slot(ofRelationship name: String) -> Int32 {
    var slot = attributes.count
    var isThere = false
    for index in relationships.indices {
      if relationships[index].name < name { slot += 1 }
      if relationships[index].name == name { isThere = true }
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
    // The rows' foreign keys alone store an unordered one-to-many relationship, and a save derives
    // the other side. For all others both sides are stored.
    isOneSided =
      relationship.isTransient
      || !relationship.isOrdered
        && inverse.map { $0.isToMany != relationship.isToMany && !$0.isOrdered }
          // Without a model, for an object in no context, only the name of the inverse is known.
          ?? (relationship.inverse == nil)
    limitsCount = relationship.limitsCount
    isTransient = relationship.isTransient
    canDangle = inverse.map { $0.deleteRule.leavesOtherEnds || $0.isTransient } ?? true
    isInverseOfToOne = isToMany && inverse.map { !$0.isToMany && !$0.isTransient } ?? false
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
