import Foundation
import Quire

/// `quire check`: looks at everything in a store.
struct CheckCommand: Command {
  static let syntax = CommandSyntax(
    name: "check", summary: "looks at every page, tree, object and link of a store",
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      Findings make a store unsound, and the exit code 1. Notes do not: they tell what is legal
      and yet worth knowing. Nothing is written.
      """)

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspection = try Tool.working(on: store) { try StoreInspection(of: store) }
    if isJSON { console.print(json(inspection)) } else { console.print(text(inspection)) }
    return inspection.isSound ? .good : .bad
  }

  private func text(_ inspection: StoreInspection) -> String {
    let seen =
      "\(inspection.objectCount.counting("object")), "
      + "\(inspection.referenceCount.counting("reference")) looked at"
    let findings = inspection.findings
    let verdict =
      findings.isEmpty
      ? "\(store.path) is sound: \(seen)."
      : "\(store.path) is not sound: \(findings.count.counting("finding")), \(seen)."
    return ([verdict] + findings.map { "  \($0)" } + inspection.notes.map { "note: \($0)" })
      .joined(separator: "\n")
  }

  private func json(_ inspection: StoreInspection) -> JSONValue {
    [
      "store": .string(store.path),
      "isSound": JSONValue(inspection.isSound),
      "findings": JSONValue(inspection.findings),
      "notes": JSONValue(inspection.notes),
      "objects": JSONValue(inspection.objectCount),
      "references": JSONValue(inspection.referenceCount),
    ]
  }
}
