import Foundation
import Quire

/// `quire stat`: what a store says about itself.
struct StatCommand: Command {
  static let syntax = CommandSyntax(
    name: "stat", summary: "format, model version, pages and objects of a store",
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      The store is opened read-only: nothing is written, also when its log holds commits that
      are not in its pages yet. They count.
      """)

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let summary = try Tool.working(on: store) { try StoreSummary(of: store) }
    if isJSON { console.print(json(summary)) } else { console.print(text(summary)) }
    return .good
  }

  private func text(_ summary: StoreSummary) -> String {
    let statistics = summary.statistics
    var table = Table()
    table.add("store", store.path)
    table.add("object format", "\(summary.objectFormat)")
    table.add("UUID", summary.identifier.uuidString)
    table.add("model version", summary.versionName ?? "without a name")
    table.add("model checksum", summary.modelChecksum.short)
    table.add("page size", "\(statistics.pageSize.grouped) bytes")
    table.add(
      "pages", "\(statistics.pageCount.grouped), of them \(statistics.freePageCount.grouped) free")
    table.add("file", "\(statistics.fileByteCount.grouped) bytes")
    table.add("log", "\(statistics.logByteCount.grouped) bytes")
    table.add("commit", "\(statistics.commitNumber)")
    table.add("objects", summary.objectCount.grouped)
    return table.text + "\n" + Table.counts(summary.entities.map { ($0.name, $0.objectCount) })
  }

  private func json(_ summary: StoreSummary) -> JSONValue {
    let statistics = summary.statistics
    return [
      "store": .string(store.path),
      "objectFormat": JSONValue(summary.objectFormat),
      "uuid": .string(summary.identifier.uuidString),
      "modelVersion": JSONValue(summary.versionName),
      "modelChecksum": .string(summary.modelChecksum.description),
      "pageSize": JSONValue(statistics.pageSize),
      "pages": JSONValue(statistics.pageCount),
      "freePages": JSONValue(statistics.freePageCount),
      "bytes": JSONValue(statistics.fileByteCount),
      "logBytes": JSONValue(statistics.logByteCount),
      "commit": JSONValue(statistics.commitNumber.rawValue),
      "objects": JSONValue(summary.objectCount),
      "entities": .object(summary.entities.map { ($0.name, JSONValue($0.objectCount)) }),
    ]
  }
}
