/// Compares two models entity by entity, once it knows which became which.
struct ModelComparison {
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private let entityMatch: RenamingMatch
  /// By the names of source entities.
  private let relationshipMatches: [String: RenamingMatch]

  init(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
    self.source = source
    self.destination = destination
    let entityMatch = RenamingMatch(source, destination)
    self.entityMatch = entityMatch
    relationshipMatches = .init(
      uniqueKeysWithValues: source.entities.compactMap { old in
        entityMatch.destinationBySource[old.name].flatMap(destination.entity(named:))
          .map { (old.name, RenamingMatch(relationshipsOf: old, $0)) }
      })
  }

  func changes() -> [EntityChange] {
    let present = destination.entities.map { entity in
      guard let old = entityMatch.sourceByDestination[entity.name].flatMap(source.entity(named:))
      else { return EntityChange(source: nil, destination: entity, kind: .added) }
      return change(from: old, to: entity)
    }
    let removed = source.entities.filter { entityMatch.destinationBySource[$0.name] == nil }
    return present
      + removed.map { EntityChange(source: $0, destination: nil, kind: .removed) }
  }

  private func change(from old: EntityDescription, to new: EntityDescription) -> EntityChange {
    let attributes = attributeChanges(from: old, to: new)
    let relationships = relationshipChanges(from: old, to: new)
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
    entity.flatMap { entityMatch.destinationBySource[$0.name] }
  }
}

extension EntityChange {
  fileprivate init(source: EntityDescription?, destination: EntityDescription?, kind: Kind) {
    self.init(
      source: source, destination: destination, kind: kind, isRenamed: false,
      parentChanged: false, abstractChanged: false, modifierChanged: false, attributes: [],
      relationships: [])
  }
}

// MARK: Attributes

extension ModelComparison {
  private func attributeChanges(
    from old: EntityDescription, to new: EntityDescription
  ) -> [AttributeChange] {
    Self.attributeChanges(from: old.attributes, to: new.attributes, byNameOnly: old == new)
  }

  /// Of an entity's attributes, or of a composite's elements.
  private static func attributeChanges(
    from old: [AttributeDescription], to new: [AttributeDescription], byNameOnly: Bool
  ) -> [AttributeChange] {
    let match = RenamingMatch(attributes: old, new, byNameOnly: byNameOnly)
    let present = new.map { attribute in
      let name = match.sourceByDestination[attribute.name]
      guard let source = name.flatMap({ name in old.first { $0.name == name } }) else {
        return AttributeChange(
          source: nil, destination: attribute, facets: [.added], elements: [])
      }
      let elements = attributeChanges(
        from: source.elements, to: attribute.elements, byNameOnly: byNameOnly)
      return AttributeChange(
        source: source, destination: attribute,
        facets: facets(from: source, to: attribute, elements), elements: elements)
    }
    let removed = old.filter { match.destinationBySource[$0.name] == nil }
    return present
      + removed.map {
        AttributeChange(source: $0, destination: nil, facets: [.removed], elements: [])
      }
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
    from old: EntityDescription, to new: EntityDescription
  ) -> [RelationshipChange] {
    let match = relationshipMatches[old.name]
    let present = new.relationships.map { relationship in
      let source = match?.sourceByDestination[relationship.name].flatMap(old.relationship(named:))
      return RelationshipChange(
        source: source, destination: relationship,
        facets: source.map { facets(from: $0, to: relationship) } ?? [.added])
    }
    let removed = old.relationships.filter { match?.destinationBySource[$0.name] == nil }
    return present
      + removed.map { RelationshipChange(source: $0, destination: nil, facets: [.removed]) }
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
    if entityMatch.destinationBySource[old.destination] != new.destination {
      facets.append(destinationFacet(from: old.destination, to: new.destination))
    }
    if inverseName(of: old) != new.inverse {
      facets.append(.inverseChanged(from: old.inverse, to: new.inverse))
    }
    if old.deleteRule != new.deleteRule {
      facets.append(.deleteRuleChanged(from: old.deleteRule, to: new.deleteRule))
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

  /// Whether all objects of an old entity that are still there may be held by a relationship to a
  /// new, or some, or none.
  ///
  /// Only entities that have objects are asked. An entity that was removed has none to keep.
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

  /// What the old inverse is called in the new model.
  private func inverseName(of old: RelationshipDescription) -> String? {
    guard let name = old.inverse, let match = relationshipMatches[old.destination] else {
      return old.inverse
    }
    return match.destinationBySource[name]
  }
}
