import Foundation
import Quire
import QuireStorage

/// `quire check`: checks everything in a store.
struct CheckCommand: Command {
  static let syntax = CommandSyntax(
    name: "check", summary: "looks at every page, tree, object and link of a store",
    group: .files,
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      Findings make a store unsound, and the exit code 1. Notes do not: they tell what is legal
      and yet worth knowing. Nothing is written. A store that cannot be opened is looked at as
      far as it goes, and the error is told as well.
      """,
    examples: [
      .init(
        "Whether a store is sound: the exit code says it as well",
        "quire check gallery.quire"),
      .init(
        "Check a copy that was brought from elsewhere, and go on only if it is sound",
        "quire check gallery.quire --json > verdict.json && echo sound"),
    ])

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    try Tool.still(store, console) { try check($0, on: console) }
  }

  /// - Parameter still: the store, or a copy.
  private func check(_ still: URL, on console: Console) throws -> ExitCode {
    let anatomy = try console.waiting("looking at pages") { task in
      try Tool.working(on: store) {
        try StoreAnatomy(of: still.path) { task.record($0, of: $1) }
      }
    }
    var verdict = Verdict(notes: anatomy.notes)
    let hasObjects = anatomy.trees.contains { $0.name == "schema" }
    let opened = console.waiting("looking at \(hasObjects ? "objects" : "trees")") { task in
      Result {
        try Tool.working(on: store) {
          if hasObjects {
            try inspectObjects(of: still, &verdict, task)
          } else {
            try inspectTrees(of: still, &verdict, task)
          }
        }
      }
    }
    // Opening a store fails only at damage that prevents it. The anatomy also covers everything
    // else, including what opening ignores.
    if verdict.findings.isEmpty { verdict.findings = anatomy.findings.map { "\($0)" } }
    if case .failure = opened, verdict.findings.isEmpty {
      verdict.findings = ["it cannot be opened"]
    }
    if isJSON { console.print(json(verdict)) } else { console.print(text(verdict)) }
    // The error says what to do. What is among the findings is not said twice.
    do {
      try opened.get()
    } catch {
      throw InputError(Self.withoutFindings("\(error)", verdict.findings, of: store.path))
    }
    return verdict.findings.isEmpty ? .good : .bad
  }

  /// The text of an error without what a finding has said, but with the store's name.
  private static func withoutFindings(
    _ text: String, _ findings: [String], of path: String
  ) -> String {
    guard let finding = findings.first(where: { text.contains($0) }) else { return text }
    let rest = text.replacing(finding, with: "it cannot be opened")
    return rest.hasPrefix(path) ? rest : "\(path): \(rest)"
  }

  /// The result of a check: findings, and counts of what was checked.
  private struct Verdict {
    var findings: [String] = []
    var notes: [String]
    var seen: [String] = []
    var objectCount = 0
    var referenceCount = 0
  }

  private func inspectObjects(
    of still: URL, _ verdict: inout Verdict, _ task: TaskProgress
  ) throws {
    let inspection = try StoreInspection(of: still) {
      task.record($0.completedUnitCount, of: $0.totalUnitCount)
    }
    verdict.findings = inspection.findings
    verdict.notes += inspection.notes
    verdict.objectCount = inspection.objectCount
    verdict.referenceCount = inspection.referenceCount
    verdict.seen = [
      inspection.objectCount.counting("object"), inspection.referenceCount.counting("reference"),
    ]
  }

  /// A store that the engine was used for alone has trees and no objects.
  private func inspectTrees(
    of still: URL, _ verdict: inout Verdict, _ task: TaskProgress
  ) throws {
    var options = PageStoreOptions()
    options.isReadOnly = true
    let pages = try PageStore.open(still.path, options: options)
    defer { try? pages.close() }
    let report = try pages.check { task.record($0, of: $1) }
    verdict.findings = report.findings.map { "\($0)" }
    if report.isSound { verdict.notes.append("the store has no schema: it holds no objects") }
    verdict.seen = [
      report.pageCount.counting("page"), report.entryCount.counting("entry", "entries"),
    ]
  }

  private func text(_ verdict: Verdict) -> String {
    let seen = verdict.seen.isEmpty ? "" : "\(verdict.seen.joined(separator: ", ")) looked at"
    let head =
      verdict.findings.isEmpty
      ? "\(store.path) is sound: \(seen)."
      : "\(store.path) is not sound: \(verdict.findings.count.counting("finding"))"
        + (seen.isEmpty ? "." : ", \(seen).")
    return ([head] + verdict.findings.map { "  \($0)" } + verdict.notes.map { "note: \($0)" })
      .joined(separator: "\n")
  }

  private func json(_ verdict: Verdict) -> JSONValue {
    [
      "store": .string(store.path),
      "isSound": JSONValue(verdict.findings.isEmpty),
      "findings": JSONValue(verdict.findings),
      "notes": JSONValue(verdict.notes),
      "objects": JSONValue(verdict.objectCount),
      "references": JSONValue(verdict.referenceCount),
    ]
  }
}
