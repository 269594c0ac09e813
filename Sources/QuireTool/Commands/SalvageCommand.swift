import Foundation
import Quire
import QuireStorage

/// `quire salvage`: brings everything readable of a damaged store to a new one.
struct SalvageCommand: Command {
  static let syntax = CommandSyntax(
    name: "salvage", summary: "brings everything readable of a damaged store to a new one",
    group: .files,
    operands: [.init("DAMAGED", "the damaged store, which is only read")],
    options: [
      .init("to", "NEW", "the new store, where no file may be", isRequired: true),
      .init(
        "model", "MODEL",
        "the model that the store was last opened with, if that in the store is lost",
        isRepeatable: true),
      .json,
    ],
    discussion: """
      Of a damaged page only what is on it is lost; objects keep their IDs, and links between kept
      objects come back from either side. What is lost is listed. The exit code is 1 if anything
      is. A backup has everything: look for one first.
      """,
    examples: [
      .init(
        "Bring what is left to a new store, and count it if nothing is lost",
        "quire salvage gallery.quire --to rescued.quire && quire stat rescued.quire"),
      .init(
        "A store whose own model is lost",
        "quire salvage gallery.quire --to rescued.quire --model Gallery.xcdatamodeld"),
    ])

  private let damaged: URL
  private let new: URL
  private let models: [String]
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    damaged = URL(filePath: arguments.operands[0])
    new = URL(filePath: arguments.requiredValue(of: "to"))
    models = arguments.values(of: "model")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model =
      models.isEmpty ? nil : try ModelFile.load(merging: models, console).currentVersion.model
    let found = try console.waiting("reading pages") { task in
      try Tool.working(on: damaged) {
        try TreeSalvage(of: damaged.path) { task.record($0, of: $1) }
      }
    }
    if model == nil, isPageFile(found) { return try salvageTrees(found, console) }
    let report = try Tool.working(on: damaged) {
      let salvage = try StoreSalvage(found, at: damaged, model: model)
      return try console.task("writing objects", .parts) { task in
        try salvage.write(to: new) {
          try task.reach($0.completedUnitCount, of: $0.totalUnitCount)
        }
      }
    }
    if isJSON {
      console.print(JSONValue(report))
    } else {
      console.print(text(report))
      for line in report.notes { console.note(line) }
    }
    return report.isComplete ? .good : .bad
  }

  // MARK: Trees without objects

  /// Whether the engine was used alone: there are trees, and none of objects.
  private func isPageFile(_ found: TreeSalvage) -> Bool {
    let isOfObjects = found.trees.contains {
      ["schema", "keys"].contains($0.name) || $0.name.hasPrefix("rows/")
    }
    return !isOfObjects && !found.trees.isEmpty
  }

  private func salvageTrees(_ found: TreeSalvage, _ console: Console) throws -> ExitCode {
    let report = try console.task("writing trees", .entries) { task in
      try Tool.working(on: damaged) {
        try PageStore.salvage(found, to: new.path) { try task.reach($0, of: $1) }
      }
    }
    if isJSON {
      console.print([
        "source": .string(damaged.path), "store": .string(new.path),
        "isComplete": JSONValue(report.isComplete),
        "trees": .array(
          report.trees.map {
            [
              "name": .string($0.name), "entries": JSONValue($0.entryCount),
              "expected": $0.expectedEntryCount.map { JSONValue($0) } ?? .null,
              "lostValues": JSONValue($0.lostValueCount),
            ]
          }),
        "damage": JSONValue(report.findings.map { "\($0)" }),
      ])
    } else {
      var grid = Grid([("tree", .left), ("kept", .right), ("of", .right)])
      for tree in report.trees {
        grid.add(
          tree.name, tree.entryCount.grouped, tree.expectedEntryCount?.grouped ?? "unknown")
      }
      let damage = report.findings.prefix(10).map { "  \($0)" }
      console.print(
        (["\(new.path) has no objects: it is a page file, and these are its trees."]
          + (damage.isEmpty ? [] : ["", "damage"] + damage) + ["", grid.text])
          .joined(separator: "\n"))
    }
    return report.isComplete ? .good : .bad
  }

  private func text(_ report: SalvageReport) -> String {
    let text = SalvageText(report)
    var blocks = [
      "\(new.path) has \(report.keptCount.counting("object")); "
        + (report.lostCount == 0 ? "none is lost." : "\(report.lostCount.grouped) lost.")
    ]
    if !report.damage.isEmpty {
      let shown = report.damage.prefix(10).map { "  \($0)" }
      let rest = report.damage.count - shown.count
      blocks.append(
        (["damage"] + shown + (rest > 0 ? ["  … and \(rest.grouped) more"] : []))
          .joined(separator: "\n"))
    }
    if !report.entities.isEmpty { blocks.append(text.entities) }
    if !text.missing.isEmpty {
      blocks.append((["missing"] + text.missing.map { "  \($0)" }).joined(separator: "\n"))
    }
    if report.restoredLinkCount > 0 {
      blocks.append(
        "\(report.restoredLinkCount.counting("link")) came back from the other side.")
    }
    return blocks.joined(separator: "\n\n")
  }
}
