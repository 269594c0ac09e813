import Foundation
import Quire

extension MigrationTrial {
  /// The block of lines that `quire demo` prints for the fixture.
  var text: String {
    var lines = [name]
    if let check {
      lines[0] += ": \(check.objectCount.counting("object")), \(check.byteCount.grouped) bytes"
      lines += check.plan.map(Self.lines) ?? ["  nothing to do: it has the current version"]
    }
    if let median, let worst {
      let runs = durations.count.counting("run")
      lines.append(
        "  time       \(median.milliText) (median of \(runs)), \(worst.milliText) at worst; "
          + "budget \(budget.milliText)")
    }
    if failures.isEmpty {
      lines.append("  checks     \(factCount.counting("fact")) compared, all as they should be")
    }
    lines += failures.map { "  FAILED     \($0)" }
    return lines.joined(separator: "\n")
  }

  private static func lines(of plan: MigrationPlan) -> [String] {
    func counts(_ steps: [MigrationPlan.EntityStep]) -> String {
      steps.map { "\($0.name) \($0.objectCount)" }.joined(separator: ", ")
    }
    let renamedEntities = plan.entities.compactMap { step in
      step.isRenamed ? step.sourceName.map { "\($0) → \(step.name)" } : nil
    }
    let renamedProperties = plan.entities.flatMap { step in
      step.renamedProperties.map { "\(step.name).\($0.from) → \($0.to)" }
    }
    let properties = plan.entities.filter { $0.action == .kept || $0.action == .rewritten }
    let relinked = plan.relationships.map { "\($0.entityName).\($0.name) \($0.linkCount)" }
    let rows = [
      ("kept", counts(plan.entities(.kept))),
      ("rewritten", counts(plan.entities(.rewritten))),
      ("renamed", (renamedEntities + renamedProperties).joined(separator: ", ")),
      ("added", plan.entities(.added).map(\.name).joined(separator: ", ")),
      ("", list(properties.map { ($0.name, $0.addedProperties) })),
      ("removed", counts(plan.entities(.removed))),
      ("", list(properties.map { ($0.name, $0.removedProperties) })),
      ("relinked", relinked.joined(separator: ", ")),
    ]
    // A second row of one word stands under the first, with its word if there is no first.
    var lines: [String] = ["  to         \(plan.destinationVersion)"]
    var word = ""
    for (label, value) in rows {
      if !label.isEmpty { word = label }
      guard !value.isEmpty else { continue }
      lines += wrapped(value, label: word)
      word = ""
    }
    return lines
  }

  private static func list(_ properties: [(entity: String, names: [String])]) -> String {
    properties.filter { !$0.names.isEmpty }.map { entity, names in
      names.map { "\(entity).\($0)" }.joined(separator: ", ")
    }.joined(separator: ", ")
  }

  /// Breaks a list at its commas, into lines of at most a hundred columns.
  private static func wrapped(_ list: String, label: String) -> [String] {
    var lines: [String] = []
    var line = "  \(label.padded(to: 9))  "
    var isEmpty = true
    for item in list.components(separatedBy: ", ") {
      if !isEmpty, line.count + item.count + 2 > 99 {
        lines.append(line + ",")
        line = String(repeating: " ", count: 13)
        isEmpty = true
      }
      line += isEmpty ? item : ", \(item)"
      isEmpty = false
    }
    return lines + [line]
  }

  var json: JSONValue {
    [
      "fixture": .string(fixture.lastPathComponent),
      "sourceVersion": JSONValue(check?.sourceVersion),
      "objects": check.map { JSONValue($0.objectCount) } ?? .null,
      "bytes": check.map { JSONValue($0.byteCount) } ?? .null,
      "plan": check?.plan.map { JSONValue($0) } ?? .null,
      "medianMilliseconds": median.map { JSONValue($0.milliseconds) } ?? .null,
      "worstMilliseconds": worst.map { JSONValue($0.milliseconds) } ?? .null,
      "runMilliseconds": .array(durations.map { JSONValue($0.milliseconds) }),
      "facts": JSONValue(factCount),
      "failures": JSONValue(failures),
    ]
  }
}
