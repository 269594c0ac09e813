import Foundation
import Quire
import QuireModel
import QuireXcode

/// `quire import`: makes a store of one that Core Data wrote.
struct ImportCommand: Command {
  /// The number of entries of a long list that are shown as text.
  private static let listLimit = 10

  static let syntax = CommandSyntax(
    name: "import", summary: "makes a store of a Core Data store",
    group: .files,
    operands: [.init("SOURCE", "the file .sqlite, with its -wal beside it if there is one")],
    options: [
      .model, .init("to", "STORE", "the store to make", isRequired: true),
      .init("version", "NAME", "the version that wrote the source; found by itself unless given"),
      .json,
    ],
    discussion: """
      The source is only read. Keys, versions and the UUID are kept. The new store has the
      version of the source; quire migrate brings it further. Dangling references are
      left out and reported.
      """,
    examples: [
      .init(
        "A store with the objects and links of a Core Data store",
        "quire import gallery.sqlite --model Gallery.xcdatamodeld --to imported.quire")
    ])

  private let source: URL
  private let modelPaths: [String]
  private let store: URL
  private let version: String?
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    source = URL(filePath: arguments.operands[0])
    modelPaths = arguments.values(of: "model")
    store = URL(filePath: arguments.requiredValue(of: "to"))
    version = arguments.value(of: "version")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(merging: modelPaths, console)
    try PlainFile.expectAccess(to: store)
    guard !FileManager.default.fileExists(atPath: store.path) else {
      throw InputError("there is a file already: \(store.path). Nothing is overwritten")
    }
    let folder = store.deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder) else {
      throw InputError("there is no folder \(folder) to make the store in")
    }
    let clock = ContinuousClock()
    let start = clock.now
    let report = try console.task("importing", .objects) { task in
      try CoreDataImport(of: source, in: model, version: version).write(to: store) {
        try task.reach($0, of: $1)
      }
    }
    let duration = clock.now - start
    let origin = try CoreDataStore(contentsOf: source)
    let alternatives = model.versions.filter {
      $0.name != report.version && origin.match($0.model).isZero
    }.map(\.name)
    if isJSON {
      console.print(
        JSONValue(
          report, store: store.path, alternatives: alternatives,
          milliseconds: duration.milliseconds))
    } else {
      console.print(text(report, alternatives, duration))
    }
    return .good
  }

  private func text(
    _ report: ImportReport, _ alternatives: [String], _ duration: Duration
  ) -> String {
    var table = Table()
    table.add("source", report.source)
    table.add("store", store.path)
    table.add("UUID", report.storeUUID)
    let others = alternatives.map { "“\($0)”" }.joined(separator: ", ")
    table.add("version", report.version + (others.isEmpty ? "" : " (same structure: \(others))"))
    table.add("time", duration.milliText)
    table.add("objects", report.objectCount.grouped)
    var blocks = [table.text]
    func add(_ counts: [String: Int], under title: String? = nil) {
      let counts = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
      if counts.isEmpty { return }
      if let title { blocks.append(title) }
      blocks.append(Table.counts(counts.map { ($0.key, $0.value) }))
    }
    add(report.objectCounts)
    add(report.linkCounts, under: "links, from either side")
    blocks += list("references to nothing, left out", report.danglingReferences)
    blocks += list("values that could not be read, left out", report.unreadableValues)
    blocks += list("values whose files are missing", report.missingFiles)
    let required = report.missingRequiredValues.sorted { $0.key < $1.key }
    blocks += list("required values that are missing", required.map { "\($0.key): \($0.value)" })
    blocks += list("notes", report.notes)
    return blocks.joined(separator: "\n")
  }

  private func list(_ title: String, _ entries: [some CustomStringConvertible]) -> [String] {
    if entries.isEmpty { return [] }
    let rest = entries.count - Self.listLimit
    return ["\(title): \(entries.count)"] + entries.prefix(Self.listLimit).map { "  \($0)" }
      + (rest > 0 ? ["  … and \(rest) more: --json has all"] : [])
  }
}
