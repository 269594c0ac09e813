import Foundation
import Quire
import QuireModel
import QuireStorage

/// Everything that the page of a store shows, read once.
struct StorePageContent {
  /// The name of the file.
  let name: String
  /// `nil` when it could not be read, and when the store holds no objects.
  let model: ManagedObjectModel?
  let json: JSONValue
  /// What is damaged or could not be read.
  let problems: [String]

  /// Reads a store.
  ///
  /// - Parameters:
  ///   - still: where it is read: the store, or a copy.
  ///   - limit: the largest number of objects of each entity.
  ///   - console: has the progress.
  /// - Throws: an error if the file is no store. Anything else is a problem.
  init(of store: URL, in still: URL, limit: Int, _ console: Console) throws {
    let anatomy = try console.waiting("looking at pages") { task in
      try Tool.working(on: store) {
        try StoreAnatomy(of: still.path) { task.record($0, of: $1) }
      }
    }
    let objects = ObjectsContent(of: still, anatomy, limit: limit, console)
    name = store.lastPathComponent
    model = objects.model
    var problems = anatomy.findings.map { "\($0)" } + objects.problems
    var cells = JSONValue.null
    do {
      cells = try PageCells(anatomy).json()
    } catch { problems.append(Self.message(of: error, in: still)) }
    self.problems = problems
    json = [
      "name": .string(name),
      "facts": Self.facts(anatomy, objects.summary),
      "problems": JSONValue(problems),
      "notes": JSONValue(anatomy.notes),
      "limit": JSONValue(limit),
      "entities": .array(objects.entities),
      "trees": .array(anatomy.trees.map { Self.json($0, objects.titles, anatomy.pageSize) }),
      "pages": cells,
      "migrations":
        .array(objects.summary?.migrationHistory.map { JSONValue($0) } ?? []),
      "history": objects.history.map { Self.json($0) } ?? .null,
      "model": objects.model.map { model in
        [
          "version": JSONValue(objects.summary?.versionName),
          "checksum": .string(model.versionChecksum.description),
        ]
      } ?? .null,
    ]
  }

  /// What an error says, without the folder of the store: a page may be given away.
  static func message(of error: any Error, in store: URL) -> String {
    Tool.diagnosis(of: error).replacing("\(store.path): ", with: "")
      .replacing(store.path, with: store.lastPathComponent)
  }

  private static func facts(_ anatomy: StoreAnatomy, _ summary: StoreSummary?) -> JSONValue {
    var facts: [(String, String)] = []
    if let summary {
      facts += [
        ("Objects", summary.objectCount.grouped),
        ("Model version", summary.versionName ?? "without a name"),
        ("Model checksum", summary.modelChecksum.short),
        ("Object format", "\(summary.objectFormat)"),
      ]
      if let left = summary.deferredMigration {
        facts.append(("Left to rewrite", "up to " + left.objectCount.counting("object")))
      }
    }
    let free = anatomy.freePageCount.map { ", \($0.grouped) free" } ?? ""
    facts += [
      ("File", "\(anatomy.fileByteCount.grouped) bytes"),
      ("Pages", "\(anatomy.pageCount.grouped) of \(anatomy.pageSize.grouped) bytes\(free)"),
      ("Log", anatomy.log.map { "\($0.liveByteCount.grouped) bytes count" } ?? "none"),
      ("Last commit", anatomy.lastCommit.map { "\($0)" } ?? "unknown"),
      ("File format", "\(anatomy.version)"),
      ("UUID", "\(anatomy.identity)"),
    ]
    return .array(facts.map { JSONValue([$0, $1]) })
  }

  private static func json(
    _ tree: TreeAnatomy, _ titles: [String: String], _ pageSize: Int
  ) -> JSONValue {
    [
      "name": .string(ByteText.escaped(tree.name, limit: 60)),
      "title": JSONValue(titles[tree.name] ?? (tree.name == "(catalog)" ? "Catalog" : nil)),
      "kind": .string(tree.kind.text),
      "entries": JSONValue(tree.entryCount),
      "height": JSONValue(tree.height),
      "pages": JSONValue(tree.pageCount),
      "fileBytes": JSONValue(tree.pageCount * pageSize),
      "bytes": JSONValue(tree.keyByteCount + tree.valueByteCount),
    ]
  }

  private static func json(_ history: PersistentHistorySummary) -> JSONValue {
    [
      "transactions": JSONValue(history.transactionCount),
      "changes": JSONValue(history.changeCount),
      "purged": JSONValue(history.purgedNumber),
      "last": JSONValue(history.lastNumber),
      "since": JSONValue(history.firstTimestamp?.formatted(.iso8601)),
    ]
  }
}
