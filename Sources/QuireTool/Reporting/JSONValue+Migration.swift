import Quire

extension JSONValue {
  init(_ plan: MigrationPlan) {
    self = [
      "from": .string(plan.sourceVersion),
      "to": .string(plan.destinationVersion),
      "rewrittenObjects": JSONValue(plan.rewrittenObjectCount),
      "entities": .array(plan.entities.map { JSONValue($0) }),
      "relationships": .array(
        plan.relationships.map {
          [
            "entity": .string($0.entityName), "name": .string($0.name),
            "links": JSONValue($0.linkCount),
          ]
        }),
    ]
  }

  init(_ step: MigrationPlan.EntityStep) {
    self = [
      "name": .string(step.name),
      "sourceName": JSONValue(step.sourceName),
      "action": .string(step.action.rawValue),
      "objects": JSONValue(step.objectCount),
      "added": JSONValue(step.addedProperties),
      "removed": JSONValue(step.removedProperties),
      "renamed": .array(
        step.renamedProperties.map { ["from": .string($0.from), "to": .string($0.to)] }),
    ]
  }
}
