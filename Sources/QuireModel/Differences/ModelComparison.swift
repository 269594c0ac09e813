/// Compares two models entity by entity, once it knows which became which.
final class ModelComparison {
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private let entityMatch: RenamingMatch
  /// The name that each entity of the source has in the destination.
  private let newNames: [String: String]
  /// Indexed by the index of the source entity, and made on first use: finding obstacles needs only
  /// a few of them.
  private var relationshipMatches: [RenamingMatch?]

  init(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
    self.source = source
    self.destination = destination
    let entityMatch = RenamingMatch(
      source.entities, destination.entities, byNameOnly: source == destination)
    self.entityMatch = entityMatch
    var newNames: [String: String] = Dictionary(minimumCapacity: source.entities.count)
    for index in source.entities.indices {
      guard let newIndex = entityMatch.destination(ofSource: index) else { continue }
      newNames[source.entities[index].name] = destination.entities[newIndex].name
    }
    self.newNames = newNames
    relationshipMatches = Array(repeating: nil, count: source.entities.count)
  }

  private func relationshipMatch(_ index: Int) -> RenamingMatch {
    if let match = relationshipMatches[index] { return match }
    var match = RenamingMatch()
    if let newIndex = entityMatch.destination(ofSource: index) {
      let (old, new) = (source.entities[index], destination.entities[newIndex])
      match = RenamingMatch(old.relationships, new.relationships, byNameOnly: old == new)
    }
    relationshipMatches[index] = match
    return match
  }

  func changes() -> [EntityChange] {
    var changes: [EntityChange] = []
    changes.reserveCapacity(destination.entities.count)
    for (index, entity) in destination.entities.enumerated() {
      if let oldIndex = entityMatch.source(ofDestination: index) {
        changes.append(change(from: oldIndex, to: entity))
      } else {
        changes.append(EntityChange(source: nil, destination: entity, kind: .added))
      }
    }
    for (index, entity) in source.entities.enumerated()
    where entityMatch.destination(ofSource: index) == nil {
      changes.append(EntityChange(source: entity, destination: nil, kind: .removed))
    }
    return changes
  }

  /// The obstacles to a migration, without the rest of the difference. Entities with equal hashes,
  /// which are most of them, are skipped.
  ///
  /// - Complexity: O(entities + properties of those that changed).
  func obstacles() -> (certain: [Obstacle], conditional: [Obstacle]) {
    var (certain, conditional): ([Obstacle], [Obstacle]) = ([], [])
    for (index, entity) in destination.entities.enumerated() {
      guard let oldIndex = entityMatch.source(ofDestination: index),
        source.entities[oldIndex] != entity
      else { continue }
      let change = change(from: oldIndex, to: entity)
      certain += Obstacle.certain(in: change)
      conditional += Obstacle.conditional(in: change)
    }
    return (certain, conditional)
  }

  private func change(from oldIndex: Int, to new: EntityDescription) -> EntityChange {
    let old = source.entities[oldIndex]
    let attributes = Self.attributeChanges(
      from: old.attributes, to: new.attributes, areSame: old == new)
    let relationships = relationshipChanges(
      from: old, to: new, relationshipMatch(oldIndex))
    let isRenamed = old.name != new.name
    let parentChanged =
      old.parent == nil
      ? new.parent != nil
      : new.parent == nil || counterpart(of: old.parent) != new.parent?.name
    let abstractChanged = old.isAbstract != new.isAbstract
    let modifierChanged =
      old.declaration.versionHashModifier != new.declaration.versionHashModifier
    let isKept =
      !isRenamed && !parentChanged && !abstractChanged && !modifierChanged
      && attributes.allSatisfy(\.isKept) && relationships.allSatisfy(\.isKept)
    return EntityChange(
      source: old, destination: new, kind: isKept ? .kept : .changed, isRenamed: isRenamed,
      parentChanged: parentChanged, abstractChanged: abstractChanged,
      modifierChanged: modifierChanged, attributes: attributes, relationships: relationships)
  }

  private func counterpart(of entity: EntityDescription?) -> String? {
    entity.flatMap { newNames[$0.name] }
  }
}

// MARK: Attributes

extension ModelComparison {
  /// Compares the attributes of an entity, or the elements of a composite.
  ///
  /// - Parameter areSame: whether the entities have the same hash, and so the same attributes.
  private static func attributeChanges(
    from old: [AttributeDescription], to new: [AttributeDescription], areSame: Bool
  ) -> [AttributeChange] {
    if old.isEmpty && new.isEmpty { return [] }
    let match = RenamingMatch(old, new, byNameOnly: areSame)
    var changes: [AttributeChange] = []
    changes.reserveCapacity(new.count)
    // By indexes, since descriptions are large: a loop over them would copy each.
    for index in new.indices {
      guard let oldIndex = match.source(ofDestination: index) else {
        changes.append(
          AttributeChange(source: nil, destination: new[index], facets: [.added]))
        continue
      }
      let elements = attributeChanges(
        from: old[oldIndex].elements, to: new[index].elements, areSame: areSame)
      changes.append(
        AttributeChange(
          source: old[oldIndex], destination: new[index],
          facets: areSame ? [] : facets(from: old[oldIndex], to: new[index], elements),
          elements: elements))
    }
    for index in old.indices where match.destination(ofSource: index) == nil {
      changes.append(
        AttributeChange(source: old[index], destination: nil, facets: [.removed]))
    }
    return changes
  }

  private static func facets(
    from old: AttributeDescription, to new: AttributeDescription, _ elements: [AttributeChange]
  ) -> [AttributeChange.Facet] {
    var facets: [AttributeChange.Facet] = []
    if old.name != new.name { facets.append(.renamed) }
    if old.type != new.type { facets.append(.typeChanged(from: old.type, to: new.type)) }
    if !elements.allSatisfy(\.isKept) { facets.append(.elementsChanged) }
    if old.isOptional != new.isOptional {
      facets.append(new.isOptional ? .becameOptional : .becameRequired(default: new.defaultValue))
    }
    if old.isTransient != new.isTransient {
      facets.append(.transientChanged(isTransient: new.isTransient))
    }
    if old.versionHashModifier != new.versionHashModifier { facets.append(.modifierChanged) }
    return facets
  }
}

// MARK: Relationships

extension ModelComparison {
  private func relationshipChanges(
    from old: EntityDescription, to new: EntityDescription, _ match: RenamingMatch
  ) -> [RelationshipChange] {
    var changes: [RelationshipChange] = []
    changes.reserveCapacity(new.relationships.count)
    for index in new.relationships.indices {
      if let oldIndex = match.source(ofDestination: index) {
        changes.append(
          RelationshipChange(
            source: old.relationships[oldIndex], destination: new.relationships[index],
            facets: facets(from: old.relationships[oldIndex], to: new.relationships[index])))
      } else {
        changes.append(
          RelationshipChange(
            source: nil, destination: new.relationships[index], facets: [.added]))
      }
    }
    for index in old.relationships.indices where match.destination(ofSource: index) == nil {
      changes.append(
        RelationshipChange(
          source: old.relationships[index], destination: nil, facets: [.removed]))
    }
    return changes
  }

  private func facets(
    from old: RelationshipDescription, to new: RelationshipDescription
  ) -> [RelationshipChange.Facet] {
    var facets: [RelationshipChange.Facet] = []
    if old.name != new.name { facets.append(.renamed) }
    if old.isToMany != new.isToMany {
      facets.append(new.isToMany ? .toOneToToMany : .toManyToToOne)
    }
    if old.isOrdered != new.isOrdered { facets.append(.orderedChanged(isOrdered: new.isOrdered)) }
    if newNames[old.destination] != new.destination {
      facets.append(destinationFacet(from: old.destination, to: new.destination))
    }
    if inverseName(of: old) != new.inverse {
      facets.append(.inverseChanged(from: old.inverse, to: new.inverse))
    }
    let maximaDiffer = old.isToMany == new.isToMany && old.maxCount != new.maxCount
    if old.minCount != new.minCount || maximaDiffer { facets.append(.countsChanged) }
    if old.isOptional != new.isOptional {
      facets.append(new.isOptional ? .becameOptional : .becameRequired)
    }
    if old.isTransient != new.isTransient {
      facets.append(.transientChanged(isTransient: new.isTransient))
    }
    if old.versionHashModifier != new.versionHashModifier { facets.append(.modifierChanged) }
    return facets
  }

  /// Whether all, some or none of the old destination's objects can still be destinations after the
  /// relationship refers to another entity.
  ///
  /// Abstract entities do not count, since they have no objects, nor do removed ones, whose objects
  /// are gone.
  private func destinationFacet(
    from oldName: String, to newName: String
  ) -> RelationshipChange.Facet {
    guard let old = source.entity(named: oldName), let new = destination.entity(named: newName)
    else { return .destinationChanged(from: oldName, to: newName) }
    let survivors = source.family(of: old).filter { !$0.isAbstract }
      .compactMap { counterpart(of: $0).flatMap(destination.entity(named:)) }
    let accepted = survivors.count { $0.isKindOf(entity: new) }
    if accepted == 0 { return .destinationChanged(from: oldName, to: newName) }
    return accepted == survivors.count
      ? .destinationWidened(from: oldName, to: newName)
      : .destinationNarrowed(from: oldName, to: newName)
  }

  /// The name that the old inverse has in the new model.
  private func inverseName(of old: RelationshipDescription) -> String? {
    guard let name = old.inverse, let index = source.index(ofEntity: old.destination),
      let newIndex = entityMatch.destination(ofSource: index)
    else { return old.inverse }
    return source.entities[index].index(ofRelationship: name)
      .flatMap { relationshipMatch(index).destination(ofSource: $0) }
      .map { destination.entities[newIndex].relationships[$0].name }
  }
}
