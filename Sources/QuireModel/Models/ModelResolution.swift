/// Turns declarations into resolved entities, or says why they are not a model.
///
/// Parents are resolved before children, so that a child can copy what it inherits; every name that
/// the storage of objects depends on is followed once, so that later code may trust it.
/// ``ModelReferences`` follows the others.
struct ModelResolution {
  /// Ordered by name.
  private var declarations: [Entity]
  private var indexes: [String: Int] = [:]
  private var children: [String: [String]] = [:]
  /// The positions of parents among `declarations`.
  private let parents: [Int?]
  /// The positions of relationships in their declarations, by their names.
  private let relationshipIndexes: [[String: Int]]

  init(_ declarations: [Entity]) throws(ModelError) {
    self.declarations = declarations.sorted { $0.name < $1.name }
    for (index, entity) in self.declarations.enumerated() {
      if entity.name.isEmpty { throw ModelError(entity: entity.name, reason: .emptyName) }
      if indexes.updateValue(index, forKey: entity.name) != nil {
        throw ModelError(entity: entity.name, reason: .duplicateEntity)
      }
      if let parent = entity.parent { children[parent, default: []].append(entity.name) }
    }
    let known = indexes
    parents = self.declarations.map { entity in entity.parent.flatMap { known[$0] } }
    relationshipIndexes = self.declarations.map { entity in
      Dictionary(entity.relationships.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }
    for (entity, parent) in zip(self.declarations, parents) {
      if let name = entity.parent, parent == nil {
        throw ModelError(entity: entity.name, reason: .unknownParent(name))
      }
    }
    try ModelLimits(self.declarations, parents: parents).check()
    completeInverses()
  }

  /// Completes inverses that were named on one side only.
  private mutating func completeInverses() {
    for entity in declarations {
      for relationship in entity.relationships {
        guard let inverse = relationship.inverse,
          let destination = indexes[relationship.destination]
        else { continue }
        for level in lineage(of: destination) {
          guard let index = relationshipIndexes[level][inverse],
            declarations[level].relationships[index].inverse == nil
          else { continue }
          declarations[level].relationships[index].inverse = relationship.name
        }
      }
    }
  }

  func resolve() throws(ModelError) -> [EntityDescription] {
    var hashes: [String: VersionHash] = [:]
    for index in declarations.indices {
      let lineage = lineage(of: index)
      try checkProperties(of: index, lineage: lineage)
      let entity = declarations[index]
      hashes[entity.name] = VersionHash(of: entity, lineage: lineage.map { declarations[$0] })
    }
    let table = EntityTable(
      declarations: indexes.mapValues { declarations[$0] }, versionHashes: hashes,
      children: children)
    var resolved: [EntityDescription?] = Array(repeating: nil, count: declarations.count)
    for index in declarations.indices {
      for ancestor in lineage(of: index).reversed() where resolved[ancestor] == nil {
        resolved[ancestor] = EntityDescription(
          declarations[ancestor], parent: parents[ancestor].flatMap { resolved[$0] }, table)
      }
    }
    return resolved.compactMap { $0 }
  }

  /// The positions of an entity and its ancestors, nearest first. That the list ends is checked.
  private func lineage(of index: Int) -> [Int] {
    var result = [index]
    while let parent = parents[result[result.count - 1]] { result.append(parent) }
    return result
  }

  private func checkProperties(of index: Int, lineage: [Int]) throws(ModelError) {
    let entity = declarations[index]
    var names: Set<String> = []
    for level in lineage.map({ declarations[$0] }) {
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
      try check(relationship, of: index, lineage: lineage)
    }
  }

  private func check(
    _ relationship: RelationshipDescription, of index: Int, lineage: [Int]
  ) throws(ModelError) {
    func fail(_ reason: ModelError.Reason) throws(ModelError) {
      throw ModelError(entity: declarations[index].name, reason: reason)
    }
    let name = relationship.name
    guard let destination = indexes[relationship.destination] else {
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
    var found: RelationshipDescription?
    for level in self.lineage(of: destination) where found == nil {
      found = relationshipIndexes[level][inverseName].map { declarations[level].relationships[$0] }
    }
    guard let inverse = found else {
      try fail(.unknownInverse(relationship: name, inverse: inverseName))
      return
    }
    // The inverse refers to this entity, to one of its ancestors or, where a parent's relationship
    // is narrowed by hand, to a descendant; and it names this relationship or none.
    let target = indexes[inverse.destination]
    let leadsBack =
      target.map { lineage.contains($0) || self.lineage(of: $0).contains(index) } ?? false
    if !leadsBack || inverse.inverse != name {
      try fail(.inverseMismatch(relationship: name, inverse: inverseName))
    }
  }
}
