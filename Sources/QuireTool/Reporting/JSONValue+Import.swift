import QuireXcode

extension JSONValue {
  /// - Parameter alternatives: the other versions with the structure of the store.
  init(_ report: ImportReport, store: String, alternatives: [String], milliseconds: Double) {
    self = [
      "source": .string(report.source),
      "store": .string(store),
      "uuid": .string(report.storeUUID),
      "version": .string(report.version),
      "alternatives": JSONValue(alternatives),
      "isComplete": JSONValue(report.isComplete),
      "milliseconds": JSONValue(milliseconds),
      "objects": JSONValue(report.objectCount),
      "entities": JSONValue(report.objectCounts),
      "links": JSONValue(report.linkCounts),
      "danglingReferences": .array(report.danglingReferences.map { JSONValue($0) }),
      "unreadableValues": .array(
        report.unreadableValues.map {
          [
            "entity": .string($0.entity), "key": JSONValue($0.key),
            "attribute": .string($0.attribute), "found": .string($0.found),
            "expected": .string($0.expected),
          ]
        }),
      "missingFiles": .array(
        report.missingFiles.map {
          [
            "entity": .string($0.entity), "key": JSONValue($0.key),
            "attribute": .string($0.attribute), "file": .string($0.file),
          ]
        }),
      "missingRequiredValues": JSONValue(report.missingRequiredValues),
      "notes": JSONValue(report.notes),
    ]
  }

  private init(_ reference: ImportReport.DanglingReference) {
    let reason: JSONValue =
      switch reference.reason {
      case .missing: "missing"
      case .wrongEntity: "wrongEntity"
      case .taken: "taken"
      }
    self = [
      "entity": .string(reference.entity), "key": JSONValue(reference.key),
      "relationship": .string(reference.relationship),
      "destination": .string(reference.destination),
      "destinationKey": JSONValue(reference.destinationKey), "reason": reason,
    ]
  }
}
