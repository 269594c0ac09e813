import Foundation
import Quire

// The keys are those that a plan is decoded from; totals are added.

extension JSONValue {
  init(_ plan: MigrationPlan) {
    self = [
      "from": .string(plan.sourceVersion),
      "to": .string(plan.destinationVersion),
      "isPossible": JSONValue(plan.obstacles.isEmpty),
      "rewrittenObjects": JSONValue(plan.rewrittenObjectCount),
      "deferredObjects": JSONValue(plan.deferredObjectCount),
      "deferredBytes": JSONValue(plan.deferredByteCount),
      "rebuiltEntries": JSONValue(plan.rebuiltEntryCount),
      "writtenBytes": JSONValue(plan.writtenByteCount),
      "estimatedMilliseconds": JSONValue(plan.estimatedMilliseconds),
      "entities": .array(plan.entities.map { JSONValue($0) }),
      "relationships": .array(
        plan.relationships.map {
          [
            "entity": .string($0.entityName), "name": .string($0.name),
            "links": JSONValue($0.linkCount),
            "dropped": JSONValue($0.droppedLinkCount),
            "firstDropped": .array($0.droppedLinks.map { JSONValue($0) }),
          ]
        }),
      "indexes": .array(plan.indexes.map { JSONValue($0) }),
      "numbers": .array(plan.numbers.map { JSONValue($0) }),
      "obstacles": .array(plan.obstacles.map { JSONValue($0) }),
      "possibleRenamings": .array(
        plan.possibleRenamings.map {
          [
            "entity": .string($0.entityName), "sourceEntity": .string($0.sourceEntityName),
            "property": JSONValue($0.propertyName), "candidates": JSONValue($0.candidates),
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
      "bytes": JSONValue(step.byteCount),
      "estimatedMilliseconds": JSONValue(step.estimatedMilliseconds),
      "added": JSONValue(step.addedProperties),
      "removed": JSONValue(step.removedProperties),
      "renamed": .array(
        step.renamedProperties.map { ["from": .string($0.from), "to": .string($0.to)] }),
    ]
  }

  init(_ link: MigrationPlan.DroppedLink) {
    self = [
      "entity": .string(link.entityName),
      "key": JSONValue(Int(link.key)),
      "relationship": .string(link.relationshipName),
      "destination": .string(link.destinationEntityName),
      "destinationKey": JSONValue(Int(link.destinationKey)),
      "reason": .string(link.reason.rawValue),
    ]
  }

  init(_ step: MigrationPlan.IndexStep) {
    self = [
      "kind": .string(step.kind.rawValue),
      "entity": .string(step.entityName),
      "name": .string(step.name),
      "sourceName": JSONValue(step.sourceName),
      "action": .string(step.action.rawValue),
      "entries": JSONValue(step.entryCount),
      "bytes": JSONValue(step.byteCount),
      "estimatedMilliseconds": JSONValue(step.estimatedMilliseconds),
    ]
  }

  init(_ step: MigrationPlan.NumberStep) {
    self = [
      "entity": .string(step.entityName),
      "property": .string(step.propertyName),
      "from": .string(step.sourceType),
      "to": .string(step.destinationType),
      "direction": .string(step.direction.rawValue),
      "checkedObjects": JSONValue(step.checkedObjectCount),
    ]
  }

  init(_ obstacle: MigrationPlan.Obstacle) {
    self = [
      "entity": .string(obstacle.entityName),
      "sourceEntity": .string(obstacle.sourceEntityName),
      "property": JSONValue(obstacle.propertyName),
      "reason": .string(obstacle.reason),
      "remedy": .string(obstacle.remedy),
      "objects": JSONValue(obstacle.objectCount),
      "needsObjects": JSONValue(obstacle.needsObjects),
    ]
  }

  init(_ record: MigrationRecord) {
    self = [
      "date": .string(record.date.formatted(.iso8601)),
      "from": .string(record.sourceVersion),
      "fromChecksum": .string(record.sourceChecksum.description),
      "to": .string(record.destinationVersion),
      "toChecksum": .string(record.destinationChecksum.description),
      "milliseconds": JSONValue(record.duration.milliseconds),
      "rewrittenObjects": JSONValue(record.rewrittenObjectCount),
      "writtenBytes": JSONValue(record.writtenByteCount),
    ]
  }
}
