/// Turns declarations into resolved entities, or says why they are not a model.
///
/// Parents are resolved before children, so that a child can copy what it inherits; every name that
/// the storage of objects depends on is followed once, so that later code may trust it.
/// ``ModelReferences`` follows the others.
struct ModelResolution {
  private var declarations: [Entity]
  private var byName: [String: Entity] = [:]
  private var children: [String: [String]] = [:]

  init(_ declarations: [Entity]) throws(ModelError) {
    self.declarations = declarations.sorted { $0.name < $1.name }
    for entity in self.declarations {
      if entity.name.isEmpty { throw ModelError(entity: entity.name, reason: .emptyName) }
      if byName.updateValue(entity, forKey: entity.name) != nil {
        throw ModelError(entity: entity.name, reason: .duplicateEntity)
      }
      if let parent = entity.parent { children[parent, default: []].append(entity.name) }
    }
    try completeInverses()
    for index in self.declarations.indices {
      self.declarations[index] = byName[self.declarations[index].name] ?? self.declarations[index]
    }
  }

  /// Lets an inverse that was named on one side only be known on both.
  private mutating func completeInverses() throws(ModelError) {
    for entity in declarations {
      for relationship in entity.relationships {
        guard let inverse = relationship.inverse, let destination = byName[relationship.destination]
        else { continue }
        for level in try lineage(of: destination) {
          guard let index = level.relationships.firstIndex(where: { $0.name == inverse }) else {
            continue
          }
          if level.relationships[index].inverse == nil {
            byName[level.name]?.relationships[index].inverse = relationship.name
          }
        }
      }
    }
  }

  func resolve() throws(ModelError) -> [EntityDescription] {
    var hashes: [String: VersionHash] = [:]
    for entity in declarations {
      let lineage = try lineage(of: entity)
      try checkProperties(of: entity, lineage: lineage)
      hashes[entity.name] = VersionHash(of: entity, lineage: lineage)
    }
    let table = EntityTable(declarations: byName, versionHashes: hashes, children: children)
    var resolved: [String: EntityDescription] = [:]
    for entity in declarations {
      for ancestor in try lineage(of: entity).reversed() where resolved[ancestor.name] == nil {
        resolved[ancestor.name] = EntityDescription(
          ancestor, parent: ancestor.parent.flatMap { resolved[$0] }, table)
      }
    }
    return declarations.compactMap { resolved[$0.name] }
  }

  /// The entity and its ancestors, nearest first.
  private func lineage(of entity: Entity) throws(ModelError) -> [Entity] {
    var result = [entity]
    while let name = result[result.count - 1].parent {
      guard let parent = byName[name] else {
        throw ModelError(entity: result[result.count - 1].name, reason: .unknownParent(name))
      }
      if result.contains(where: { $0.name == name }) {
        throw ModelError(entity: entity.name, reason: .parentCycle)
      }
      result.append(parent)
    }
    return result
  }

  private func checkProperties(of entity: Entity, lineage: [Entity]) throws(ModelError) {
    var names: Set<String> = []
    for level in lineage {
      for name in level.attributes.map(\.name) + level.relationships.map(\.name)
        + level.fetchedProperties.map(\.name)
      {
        if name.isEmpty { throw ModelError(entity: level.name, reason: .emptyName) }
        if !names.insert(name).inserted {
          throw ModelError(entity: entity.name, reason: .duplicateProperty(name))
        }
      }
    }
    for attribute in entity.attributes {
      if let value = attribute.defaultValue, !value.isOf(attribute.type) {
        throw ModelError(entity: entity.name, reason: .defaultType(attribute: attribute.name))
      }
    }
    for relationship in entity.relationships {
      try check(relationship, of: entity, lineage: lineage)
    }
  }

  private func check(
    _ relationship: RelationshipDescription, of entity: Entity, lineage: [Entity]
  ) throws(ModelError) {
    func fail(_ reason: ModelError.Reason) throws(ModelError) {
      throw ModelError(entity: entity.name, reason: reason)
    }
    let name = relationship.name
    guard let destination = byName[relationship.destination] else {
      try fail(.unknownDestination(relationship: name, destination: relationship.destination))
      return
    }
    if relationship.isOrdered && !relationship.isToMany {
      try fail(.orderedToOne(relationship: name))
    }
    if relationship.minCount < 0 || relationship.maxCount < 0
      || (relationship.maxCount > 0 && relationship.minCount > relationship.maxCount)
    {
      try fail(
        .countRange(
          relationship: name, minimum: relationship.minCount, maximum: relationship.maxCount))
    }
    guard let inverseName = relationship.inverse else { return }
    let candidates = try self.lineage(of: destination).flatMap(\.relationships)
    guard let inverse = candidates.first(where: { $0.name == inverseName }) else {
      try fail(.unknownInverse(relationship: name, inverse: inverseName))
      return
    }
    // The inverse leads to this entity, to one of its ancestors or, where a parent's relationship
    // is narrowed by hand, to a descendant; and it names this relationship or none.
    let related = try self.lineage(of: byName[inverse.destination] ?? entity)
    let leadsBack =
      lineage.contains { $0.name == inverse.destination }
      || related.contains { $0.name == entity.name }
    if !leadsBack || inverse.inverse != name {
      try fail(.inverseMismatch(relationship: name, inverse: inverseName))
    }
  }
}
