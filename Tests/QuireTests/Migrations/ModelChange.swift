import Quire
import QuireSimulation

/// What people do to a model between two versions, one at a time.
enum ModelChange: String, CaseIterable {
  case addAttribute, removeAttribute, renameAttribute, swapAttributes, changeType, changeNumberType
  case toggleOptional
  case setDefault, toggleTransient, moveAttributeUp, moveAttributeDown, changeElements
  case removeAndAddAgain, reorder
  case addEntity, removeEntity, renameEntity, swapEntities, changeParent, toggleAbstract
  case insertParent
  case addRelationship, removeRelationship, renameRelationship, toggleToMany, toggleOrdered
  case changeDestination, dropInverse, addInverse, joinInverses, becomeSelfInverse
  case swapInverses, toggleRequired, toggleRelationshipTransient, changeCounts, changeDeleteRule
  case moveRelationshipUp, moveRelationshipDown
  case changeModifier
}

extension RandomModel {
  /// Makes a random change, if there is something to change and the result is a model.
  ///
  /// - Parameter old: the declarations before all changes, whose names identify what is renamed.
  mutating func change(from old: [Entity]) -> ModelChange? {
    let before = entities
    guard let change = pick(ModelChange.allCases) else { return nil }
    apply(change, old)
    guard entities != before, let model = try? model(), isUnambiguous(model) else {
      entities = before
      return nil
    }
    return change
  }

  /// Whether no two things say that they were the same one; the order in which such claims are
  /// heard is for the tests of the difference.
  private func isUnambiguous(_ model: ManagedObjectModel) -> Bool {
    func areUnique(_ names: [String]) -> Bool { Set(names).count == names.count }
    return areUnique(model.entities.map(\.renamingIdentifier))
      && model.entities.allSatisfy { entity in
        areUnique(entity.attributes.map { $0.renamingIdentifier ?? $0.name })
          && areUnique(entity.relationships.map { $0.renamingIdentifier ?? $0.name })
      }
  }

  private mutating func apply(_ change: ModelChange, _ old: [Entity]) {
    switch change {
    case .addAttribute:
      guard let entity = anEntity() else { return }
      entities[entity].attributes.append(attribute(name("a")))
    case .removeAttribute:
      guard let (entity, index) = anAttribute() else { return }
      entities[entity].attributes.remove(at: index)
    case .renameAttribute:
      guard let (entity, index) = anAttribute() else { return }
      let isTold = !chance(5)
      let name = name("a")
      entities[entity].attributes[index].rename(to: name, isTold: isTold)
    case .swapAttributes: swapAttributes()
    case .changeType:
      guard let (entity, index) = anAttribute() else { return }
      var new = attribute(entities[entity].attributes[index].name)
      new.renamingIdentifier = entities[entity].attributes[index].renamingIdentifier
      entities[entity].attributes[index] = new
    case .changeNumberType: changeNumberType()
    case .toggleOptional:
      guard let (entity, index) = anAttribute() else { return }
      var attribute = entities[entity].attributes[index]
      attribute.isOptional.toggle()
      if !attribute.isOptional, !chance(4) {
        attribute.defaultValue = RandomValue.value(of: attribute, &generator)
      }
      entities[entity].attributes[index] = attribute
    case .setDefault:
      guard let (entity, index) = anAttribute() else { return }
      entities[entity].attributes[index].defaultValue =
        chance(3) ? nil : RandomValue.value(of: entities[entity].attributes[index], &generator)
    case .toggleTransient:
      guard let (entity, index) = anAttribute() else { return }
      entities[entity].attributes[index].isTransient.toggle()
    case .moveAttributeUp:
      guard
        let entity = pick(
          entities.indices.filter {
            entities[$0].parent != nil && !entities[$0].attributes.isEmpty
          }), let parent = entities[entity].parent.flatMap(index)
      else { return }
      let index = generator.below(entities[entity].attributes.count)
      entities[parent].attributes.append(entities[entity].attributes.remove(at: index))
    case .moveAttributeDown:
      guard let (entity, index) = anAttribute() else { return }
      let attribute = entities[entity].attributes[index]
      let children = entities.indices.filter { entities[$0].parent == entities[entity].name }
      if children.isEmpty { return }
      entities[entity].attributes.remove(at: index)
      for child in children where !chance(4) { entities[child].attributes.append(attribute) }
    case .changeElements: changeElements()
    case .removeAndAddAgain:
      guard let (entity, index) = anAttribute() else { return }
      entities[entity].attributes[index] = attribute(entities[entity].attributes[index].name)
    case .reorder:
      entities.shuffle(using: &generator)
      for entity in entities.indices {
        entities[entity].attributes.shuffle(using: &generator)
        entities[entity].relationships.shuffle(using: &generator)
      }
    case .changeModifier:
      guard let entity = anEntity() else { return }
      entities[entity].versionHashModifier = name("m")
    case .addEntity, .removeEntity, .renameEntity, .swapEntities, .changeParent, .toggleAbstract,
      .insertParent:
      applyToEntities(change)
    default: applyToRelationships(change)
    }
  }

  private mutating func swapAttributes() {
    guard let entity = anEntity(), entities[entity].attributes.count > 1 else { return }
    let indices = entities[entity].attributes.indices.shuffled(using: &generator)
    let (one, other) = (
      entities[entity].attributes[indices[0]], entities[entity].attributes[indices[1]]
    )
    entities[entity].attributes[indices[0]].rename(to: other.name, isTold: true)
    entities[entity].attributes[indices[1]].rename(to: one.name, isTold: true)
  }

  /// Of an attribute, or of an element of a composite.
  private mutating func changeNumberType() {
    let numbers: [AttributeType] = [
      .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean,
    ]
    guard
      let (entity, index) = anAttribute(where: {
        numbers.contains($0.type) || $0.elements.contains { numbers.contains($0.type) }
      }), let type = pick(numbers)
    else { return }
    var attribute = entities[entity].attributes[index]
    if attribute.type == .composite {
      guard let element = attribute.elements.firstIndex(where: { numbers.contains($0.type) })
      else { return }
      attribute.elements[element].type = type
      attribute.defaultValue = nil
      attribute.isOptional = true
    } else {
      attribute.type = type
      if attribute.defaultValue != nil {
        attribute.defaultValue = RandomValue.value(of: attribute, &generator)
      }
    }
    entities[entity].attributes[index] = attribute
  }

  private mutating func changeElements() {
    guard let (entity, index) = anAttribute(where: { $0.type == .composite }) else { return }
    var attribute = entities[entity].attributes[index]
    let element = generator.below(attribute.elements.count)
    switch generator.below(4) {
    case 0: attribute.elements.append(self.element(name("c")))
    case 1 where attribute.elements.count > 1: attribute.elements.remove(at: element)
    case 2: attribute.elements[element] = self.element(attribute.elements[element].name)
    default:
      let new = name("c")
      attribute.elements[element].rename(to: new, isTold: true)
    }
    attribute.defaultValue = nil
    attribute.isOptional = true
    entities[entity].attributes[index] = attribute
  }

  // MARK: Entities

  private mutating func applyToEntities(_ change: ModelChange) {
    switch change {
    case .addEntity:
      var entity = Entity(name("E"))
      entity.parent = chance(2) ? pick(entities.map(\.name)) : nil
      for _ in 0..<generator.below(3) { entity.attributes.append(attribute(name("a"))) }
      entities.append(entity)
      if chance(2) { addRelationship() }
    case .removeEntity:
      guard entities.count > 1, let index = anEntity() else { return }
      let entity = entities.remove(at: index)
      for child in entities.indices where entities[child].parent == entity.name {
        entities[child].parent = entity.parent
      }
      for relationship in entity.relationships { clearInverse(ofRelationship: relationship.name) }
      for other in entities.indices {
        for gone in entities[other].relationships where gone.destination == entity.name {
          if let parent = entity.parent {
            let index = entities[other].relationships.firstIndex { $0.name == gone.name }
            if let index { entities[other].relationships[index].destination = parent }
          } else {
            entities[other].relationships.removeAll { $0.name == gone.name }
          }
        }
      }
    case .renameEntity:
      guard let index = anEntity() else { return }
      let isTold = !chance(6)
      renameEntities([entities[index].name: name("E")], isTold)
    case .swapEntities:
      guard entities.count > 1 else { return }
      let names = entities.map(\.name).shuffled(using: &generator)
      renameEntities([names[0]: names[1], names[1]: names[0]], true)
    case .changeParent:
      guard let index = anEntity() else { return }
      let below = descendants(entities[index].name) + [entities[index].name]
      entities[index].parent =
        chance(3) ? nil : pick(entities.map(\.name).filter { !below.contains($0) })
    case .toggleAbstract:
      guard let index = anEntity() else { return }
      entities[index].isAbstract.toggle()
    default:
      // A new parent above some entities that had the same, and what they share goes up.
      guard let index = anEntity() else { return }
      var parent = Entity(name("E"))
      parent.parent = entities[index].parent
      parent.isAbstract = chance(2)
      for child in entities.indices where entities[child].parent == parent.parent && !chance(3) {
        entities[child].parent = parent.name
      }
      if let (entity, index) = anAttribute(), entities[entity].parent == parent.name {
        parent.attributes.append(entities[entity].attributes.remove(at: index))
      }
      entities.append(parent)
    }
  }

  private mutating func renameEntities(_ names: [String: String], _ isTold: Bool) {
    for index in entities.indices {
      let old = entities[index].name
      if let new = names[old] {
        entities[index].renamingIdentifier =
          isTold ? entities[index].renamingIdentifier ?? old : nil
        entities[index].name = new
      }
      entities[index].parent = entities[index].parent.map { names[$0] ?? $0 }
      for relationship in entities[index].relationships.indices {
        let destination = entities[index].relationships[relationship].destination
        entities[index].relationships[relationship].destination = names[destination] ?? destination
      }
    }
  }

  // MARK: Relationships

  private mutating func applyToRelationships(_ change: ModelChange) {
    if change == .addRelationship { return addRelationship() }
    guard let (entity, index) = aRelationship() else { return }
    var relationship = entities[entity].relationships[index]
    switch change {
    case .removeRelationship:
      entities[entity].relationships.remove(at: index)
      return clearInverse(ofRelationship: relationship.name)
    case .renameRelationship:
      let old = relationship.name
      relationship.renamingIdentifier = chance(6) ? nil : relationship.renamingIdentifier ?? old
      relationship.name = name("r")
      entities[entity].relationships[index] = relationship
      for other in entities.indices {
        for index in entities[other].relationships.indices
        where entities[other].relationships[index].inverse == old {
          entities[other].relationships[index].inverse = relationship.name
        }
      }
      return
    case .toggleToMany:
      relationship.maxCount = relationship.isToMany ? 1 : 0
      if !relationship.isToMany { relationship.isOrdered = false }
    case .toggleOrdered where relationship.isToMany: relationship.isOrdered.toggle()
    case .changeDestination:
      guard let target = anEntity() else { return }
      // Often a relative, so that some links fit and some do not.
      let family =
        descendants(relationship.destination)
        + [self.index(relationship.destination).flatMap { entities[$0].parent }].compactMap { $0 }
      relationship.destination =
        chance(2)
        ? pick(family) ?? relationship.destination
        : entities[target].name
      if chance(3) {
        clearInverse(ofRelationship: relationship.name)
        relationship.inverse = nil
      }
    case .dropInverse:
      clearInverse(ofRelationship: relationship.name)
      relationship.inverse = nil
    case .addInverse where relationship.inverse == nil:
      guard let target = self.index(relationship.destination) else { return }
      var far = self.relationship(name("r"), to: entities[entity].name)
      (relationship.inverse, far.inverse) = (far.name, relationship.name)
      entities[entity].relationships[index] = relationship
      entities[target].relationships.append(far)
      return
    case .joinInverses where relationship.inverse == nil:
      guard let target = self.index(relationship.destination) else { return }
      let free = entities[target].relationships.indices.filter {
        entities[target].relationships[$0].inverse == nil
          && entities[target].relationships[$0].destination == entities[entity].name
      }
      guard let other = pick(free), other != index || target != entity else { return }
      relationship.inverse = entities[target].relationships[other].name
      entities[target].relationships[other].inverse = relationship.name
    case .becomeSelfInverse where relationship.destination == entities[entity].name:
      clearInverse(ofRelationship: relationship.name)
      relationship.inverse = relationship.name
    case .swapInverses:
      let (one, other) = (relationship.name, relationship.inverse ?? "")
      guard let far = place(ofRelationship: other), one != other,
        relationship.destination == entities[entity].name, far.entity == entity
      else { return }
      (relationship.name, relationship.inverse) = (other, one)
      relationship.renamingIdentifier = relationship.renamingIdentifier ?? one
      entities[entity].relationships[far.relationship].renamingIdentifier =
        entities[entity].relationships[far.relationship].renamingIdentifier ?? other
      entities[entity].relationships[far.relationship].name = one
      entities[entity].relationships[far.relationship].inverse = other
    case .toggleRequired: relationship.isOptional.toggle()
    case .toggleRelationshipTransient: relationship.isTransient.toggle()
    case .changeCounts where relationship.isToMany: relationship.maxCount = chance(2) ? 0 : 50
    case .changeDeleteRule:
      relationship.deleteRule = pick([.nullify, .noAction, .cascade, .deny]) ?? .nullify
    case .moveRelationshipUp, .moveRelationshipDown:
      return move(entity, index, isUp: change == .moveRelationshipUp)
    default: return
    }
    entities[entity].relationships[index] = relationship
  }

  private mutating func move(_ entity: Int, _ index: Int, isUp: Bool) {
    let target =
      isUp
      ? entities[entity].parent.flatMap(self.index)
      : pick(entities.indices.filter { entities[$0].parent == entities[entity].name })
    guard let target else { return }
    let relationship = entities[entity].relationships.remove(at: index)
    if let inverse = relationship.inverse, inverse != relationship.name,
      let place = place(ofRelationship: inverse)
    {
      entities[place.entity].relationships[place.relationship].destination = entities[target].name
    }
    entities[target].relationships.append(relationship)
  }
}

extension AttributeDescription {
  /// - Parameter isTold: whether the next version says what the name was.
  fileprivate mutating func rename(to name: String, isTold: Bool) {
    renamingIdentifier = isTold ? renamingIdentifier ?? self.name : nil
    self.name = name
  }
}
