import QuireModel

extension MappingModel {
  /// The mapping that opening a store would infer, as a value that can be inspected, edited, and
  /// executed by a ``MigrationManager``.
  ///
  /// Each entity mapping has its type (add, remove, copy, transform) and the hashes of its
  /// entities. Each property mapping has the source of its value: `.source` for existing
  /// attributes, nothing for new ones, which get their default, and `.relationship` for
  /// relationships.
  ///
  /// If the mapping is not edited, a manager executes it on the rows of the store
  /// (``MigrationManager/usesStoreSpecificMigrationManager``). Executed on objects, the result is
  /// the same, except that objects get new keys, in the order of the old ones, and that the result
  /// is validated as in a save: a relationship that became required must have a destination then.
  ///
  /// - Throws: ``PersistenceError/Code/inferredMappingModel`` (134190) with all obstacles.
  ///   Obstacles that depend on objects, such as a new required attribute without a default, are an
  ///   error when the mapping is executed and there are objects.
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
  ) throws -> MappingModel {
    let difference = ModelDifference(from: source, to: destination)
    guard difference.isInferable else {
      let list = difference.obstacles.map { "\n  \($0)" }.joined()
      throw PersistenceError(.inferredMappingModel, "the mapping cannot be inferred:\(list)")
    }
    var mapping = MappingModel(entityMappings: MappingInference(difference).entityMappings())
    mapping.sourceVersionChecksum = source.versionChecksum
    mapping.destinationVersionChecksum = destination.versionChecksum
    mapping.inference = Inference(source: source, destination: destination)
    return mapping
  }

  /// Whether the mapping is exactly the inferred one for the models.
  func isInferred(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    inference.map { $0.source == source && $0.destination == destination } ?? false
  }
}

/// Makes mappings from the difference between two models.
private struct MappingInference {
  private struct Property: Hashable {
    let entity: String
    let name: String
  }

  private let difference: ModelDifference
  /// Relationships whose links are set by their inverse.
  private var followers: Set<Property> = []

  init(_ difference: ModelDifference) {
    self.difference = difference
    findFollowers()
  }

  func entityMappings() -> [EntityMapping] {
    var mappings: [EntityMapping] = []
    var names: Set<String> = []
    for change in difference.entities {
      var mapping = mapping(of: change)
      while !names.insert(mapping.name).inserted { mapping.name += "2" }
      mappings.append(mapping)
    }
    return mappings
  }

  private func mapping(of change: EntityChange) -> EntityMapping {
    let type: EntityMappingType =
      change.source == nil
      ? .addEntityMappingType
      : change.destination == nil
        ? .removeEntityMappingType
        : change.kind == .kept ? .copyEntityMappingType : .transformEntityMappingType
    var mapping = EntityMapping(from: change.source?.name, to: change.destination?.name, type)
    mapping.sourceEntityVersionHash = change.source?.versionHash
    mapping.destinationEntityVersionHash = change.destination?.versionHash
    guard change.source != nil else { return mapping }
    mapping.attributeMappings = change.attributes.compactMap(attributeMapping)
    mapping.relationshipMappings = change.relationships.compactMap {
      relationshipMapping($0, of: change)
    }
    return mapping
  }

  private func attributeMapping(_ change: AttributeChange) -> PropertyMapping? {
    guard let destination = change.destination, !destination.isTransient else { return nil }
    guard let source = change.source, !source.isTransient else {
      return PropertyMapping(destination.name)
    }
    let isNewlyRequired = source.isOptional && !destination.isOptional
    if let convert = MappingInference.conversion(change) {
      return PropertyMapping(destination.name) { arguments in
        guard let object = arguments.source, let value = try object.value(forKey: source.name),
          let old = AttributeValue(value, for: source)
        else { return isNewlyRequired ? destination.defaultValue : nil }
        do throws(NumberRefusal) {
          return try convert(old)
        } catch {
          throw error.error(of: object.objectID)
        }
      }
    }
    guard isNewlyRequired, let value = destination.defaultValue else {
      return PropertyMapping(destination.name, source: source.name)
    }
    let old = FetchExpression.path(.variable("source"), [source.name])
    return PropertyMapping(
      destination.name,
      valueExpression: .expression(
        .conditional(
          .comparison(.init(old, .equal, .constant(nil))), .constant(.value(value)), old)))
  }

  /// The conversion of an attribute's values, if they change: numbers of another type, composites
  /// with other elements; `nil` if they do not.
  private static func conversion(
    _ change: AttributeChange
  ) -> (@Sendable (AttributeValue) throws(NumberRefusal) -> AttributeValue)? {
    let name = change.name
    if let conversion = change.numberConversion {
      return { value throws(NumberRefusal) in try conversion(value, path: name) }
    }
    guard change.facets.contains(.elementsChanged) else { return nil }
    guard let conversion = CompositeConversion(change) else { return { $0 } }
    return { value throws(NumberRefusal) in try conversion(value, path: name) }
  }

  // MARK: Relationships

  private func relationshipMapping(
    _ change: RelationshipChange, of entity: EntityChange
  ) -> PropertyMapping? {
    guard let destination = change.destination, !destination.isTransient else { return nil }
    let property = Property(entity: entity.name, name: destination.name)
    guard let source = change.source, !source.isTransient, !followers.contains(property) else {
      // The links are those of the inverse, if there is one.
      return PropertyMapping(destination.name)
    }
    return PropertyMapping(destination.name, valueExpression: .relationship(source.name))
  }

  /// Finds pairs of relationships that become each other's inverse without having been so before.
  /// As they may contradict each other, one of them decides, as in a migration in place.
  private mutating func findFollowers() {
    let model = difference.destination
    for entity in model.entities {
      for relationship in entity.declaration.relationships where !relationship.isTransient {
        guard let (other, inverse) = model.inverse(of: relationship) else { continue }
        var declaring = other
        while let parent = declaring.parent, parent.relationship(named: inverse.name) != nil {
          declaring = parent
        }
        // Each pair once: from the side whose name comes first.
        guard (entity.name, relationship.name) < (declaring.name, inverse.name) else { continue }
        let near = sources(of: relationship, entity)
        let far = sources(of: inverse, declaring)
        guard !near.isEmpty, !far.isEmpty, !areInverse(near, far) else { continue }
        let farDecides = preference(far) > preference(near)
        let (follower, name) = farDecides ? (entity, relationship.name) : (declaring, inverse.name)
        for owner in model.family(of: follower) {
          followers.insert(Property(entity: owner.name, name: name))
        }
      }
    }
  }

  /// The old relationships in the entities whose objects have the relationship.
  private func sources(
    of relationship: RelationshipDescription, _ entity: EntityDescription
  ) -> [RelationshipDescription] {
    difference.destination.family(of: entity).filter { !$0.isAbstract }.compactMap { owner in
      guard let change = difference.change(toDestination: owner.name), change.source != nil,
        let source = change.sourceRelationship(of: relationship.name), !source.isTransient
      else { return nil }
      return source
    }
  }

  private func areInverse(
    _ near: [RelationshipDescription], _ far: [RelationshipDescription]
  ) -> Bool {
    near.allSatisfy { left in
      far.allSatisfy { left.inverse == $0.name && $0.inverse == left.name }
    }
  }

  private func preference(_ sides: [RelationshipDescription]) -> Int {
    if sides.contains(where: \.isOrdered) { return 2 }
    return sides.contains { !$0.isToMany } ? 1 : 0
  }
}
