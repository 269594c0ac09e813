import QuireModel

extension JSONValue {
  init(_ version: VersionedModel.Version, isCurrent: Bool) {
    self = [
      "name": .string(version.name),
      "isCurrent": JSONValue(isCurrent),
      "checksum": .string(version.model.versionChecksum.description),
      "entities": .array(version.model.entities.map { JSONValue($0) }),
    ]
  }

  /// An entity with what it declares and what it inherits.
  init(_ entity: EntityDescription) {
    self = [
      "name": .string(entity.name),
      "hash": .string(entity.versionHash.description),
      "parent": JSONValue(entity.parent?.name),
      "isAbstract": JSONValue(entity.isAbstract),
      "attributes": .array(entity.attributes.map { JSONValue($0) }),
      "relationships": .array(entity.relationships.map { JSONValue($0) }),
    ]
  }

  init(_ attribute: AttributeDescription) {
    self = [
      "name": .string(attribute.name),
      "type": .string("\(attribute.type)"),
      "isOptional": JSONValue(attribute.isOptional),
      "isTransient": JSONValue(attribute.isTransient),
      "default": attribute.defaultValue.map { JSONValue($0) } ?? .null,
      "renamedFrom": JSONValue(attribute.renamingIdentifier),
    ]
  }

  init(_ relationship: RelationshipDescription) {
    self = [
      "name": .string(relationship.name),
      "destination": .string(relationship.destination),
      "inverse": JSONValue(relationship.inverse),
      "isToMany": JSONValue(relationship.isToMany),
      "isOrdered": JSONValue(relationship.isOrdered),
      "isOptional": JSONValue(relationship.isOptional),
      "deleteRule": .string("\(relationship.deleteRule)"),
      "renamedFrom": JSONValue(relationship.renamingIdentifier),
    ]
  }

  init(_ difference: ModelDifference) {
    self = [
      "isEmpty": JSONValue(difference.isEmpty),
      "isInferable": JSONValue(difference.isInferable),
      "entities": .array(difference.entities.map { JSONValue($0) }),
      "obstacles": .array(difference.obstacles.map { JSONValue($0) }),
      "conditionalObstacles": .array(difference.conditionalObstacles.map { JSONValue($0) }),
    ]
  }

  init(_ change: EntityChange) {
    self = [
      "name": .string(change.name),
      "kind": .string(change.kind.rawValue),
      "sourceName": JSONValue(change.source?.name),
      "isRenamed": JSONValue(change.isRenamed),
      "changes": JSONValue(
        change.attributes.filter { !$0.isKept }.map(\.description)
          + change.relationships.filter { !$0.isKept }.map(\.description)),
    ]
  }

  init(_ obstacle: Obstacle) {
    self = [
      "entity": .string(obstacle.destinationEntity),
      "property": JSONValue(obstacle.property),
      "text": .string(obstacle.description),
    ]
  }
}
