import Foundation
import Quire
import QuireStorage

/// `quire stat`: what a store says about itself.
struct StatCommand: Command {
  static let syntax = CommandSyntax(
    name: "stat", summary: "objects, trees, pages and log of a store, counted",
    group: .files,
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      The store is opened read-only: nothing is written, also when its log holds commits that
      are not in its pages yet. They count. Of a damaged store what can be read is counted, and
      what is wrong is an error each.
      """,
    examples: [
      .init(
        "How large a store is, and what it consists of",
        "quire stat gallery.quire")
    ])

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    try Tool.still(store, console) { try show($0, on: console) }
  }

  /// - Parameter still: the store, or a copy.
  private func show(_ still: URL, on console: Console) throws -> ExitCode {
    let anatomy = try Tool.working(on: store) { try StoreAnatomy(of: still.path) }
    // A store without a schema is one of `QuireStorage` alone, or damaged; the findings show which.
    let hasObjects = anatomy.trees.contains { $0.name == "schema" }
    let summary = Result {
      try Tool.working(on: store) { hasObjects ? try StoreSummary(of: still) : nil }
    }
    let objects = (try? summary.get()) ?? nil
    if isJSON {
      console.print(json(anatomy, objects))
    } else {
      console.print(text(anatomy, objects, on: console.output.terminal))
    }
    for finding in anatomy.findings { console.complain("\(store.path): \(finding)") }
    for note in anatomy.notes { console.note(note) }
    _ = try summary.get()
    return anatomy.isSound ? .good : .bad
  }

  private func text(
    _ anatomy: StoreAnatomy, _ summary: StoreSummary?, on terminal: Terminal?
  ) -> String {
    var blocks: [String] = []
    var table = Table()
    table.add("store", store.path)
    if let summary {
      table.add("object format", "\(summary.objectFormat)")
      table.add("UUID", summary.identifier.uuidString)
      table.add("model version", summary.versionName ?? "without a name")
      table.add("model checksum", summary.modelChecksum.short)
      if let left = summary.deferredMigration {
        let entities = left.entities.map { "\($0.name) \($0.objectCount.grouped)" }
        table.add("left to rewrite", "up to " + entities.joined(separator: ", "))
      }
      if let history = summary.history {
        let since = history.firstTimestamp.map { " since \($0.formatted(.iso8601))" } ?? ""
        table.add(
          "history",
          "\(history.transactionCount.counting("transaction"))\(since), "
            + history.changeCount.counting("change"))
      }
      table.add("objects", summary.objectCount.grouped)
      let counts = Table.counts(summary.entities.map { ($0.name, $0.objectCount) })
      blocks.append(counts.isEmpty ? table.text : "\(table.text)\n\(counts)")
      if !summary.migrationHistory.isEmpty {
        blocks.append(text(summary.migrationHistory, on: terminal))
      }
    } else {
      blocks.append(table.text)
    }
    blocks.append(AnatomyReport(anatomy: anatomy, terminal: terminal).text)
    return blocks.joined(separator: "\n\n")
  }

  private func text(_ migrations: [MigrationRecord], on terminal: Terminal?) -> String {
    var grid = Grid([
      ("migrated", .left), ("from", .left), ("to", .left), ("rows", .right), ("bytes", .right),
      ("time", .right),
    ])
    for record in migrations {
      grid.add(
        record.date.formatted(.iso8601), record.sourceVersion, record.destinationVersion,
        record.rewrittenObjectCount.grouped, record.writtenByteCount.grouped,
        record.duration.milliText)
    }
    return grid.text(on: terminal)
  }

  private func json(_ history: PersistentHistorySummary) -> JSONValue {
    [
      "transactions": JSONValue(history.transactionCount),
      "changes": JSONValue(history.changeCount),
      "purged": JSONValue(history.purgedNumber),
      "last": JSONValue(history.lastNumber),
    ]
  }

  private func json(_ anatomy: StoreAnatomy, _ summary: StoreSummary?) -> JSONValue {
    .object(
      [
        ("store", .string(store.path)),
        ("objectFormat", summary.map { JSONValue($0.objectFormat) } ?? .null),
        ("uuid", JSONValue(summary?.identifier.uuidString)),
        ("modelVersion", JSONValue(summary?.versionName)),
        ("modelChecksum", JSONValue(summary?.modelChecksum.description)),
        (
          "migrations",
          summary.map { .array($0.migrationHistory.map { JSONValue($0) }) } ?? .null
        ),
        (
          "deferred",
          .object(
            summary?.deferredMigration?.entities.map { ($0.name, JSONValue($0.objectCount)) } ?? [])
        ),
        ("history", summary?.history.map(json) ?? .null),
        ("pageSize", JSONValue(anatomy.pageSize)),
        ("pages", JSONValue(anatomy.pageCount)),
        ("freePages", anatomy.freePageCount.map { JSONValue($0) } ?? .null),
        ("bytes", JSONValue(anatomy.fileByteCount)),
        ("logBytes", JSONValue(anatomy.log?.liveByteCount ?? 0)),
        ("commit", anatomy.lastCommit.map { JSONValue($0.rawValue) } ?? .null),
        ("objects", summary.map { JSONValue($0.objectCount) } ?? .null),
        (
          "entities",
          .object(summary?.entities.map { ($0.name, JSONValue($0.objectCount)) } ?? [])
        ),
      ] + AnatomyReport(anatomy: anatomy).members)
  }
}
