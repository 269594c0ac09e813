import Foundation
import Quire
import QuireModel

/// `quire dump`: every object as a line of JSON, or the pages and the log that they are in.
struct DumpCommand: Command {
  static let syntax = CommandSyntax(
    name: "dump", summary: "every object as a line of JSON, in a stable order",
    operands: [.init("STORE", "the store's file")],
    options: [
      .init("entity", "NAME", "only the objects of this entity and its subentities"),
      .init(flag: "history", "instead: every transaction of the store's history as a line of JSON"),
      .init(flag: "pages", "instead: every page, a line each"),
      .init("page", "N", "instead: one page in full"),
      .init(flag: "log", "instead, or after pages: the log and its records"),
    ],
    discussion: """
      Objects come by entity, then by key; two stores with the same objects give the same text.
      A line has the entity, the id, all attributes and all relationships, by name. Dates are
      seconds since 2001-01-01 00:00 UTC, bytes are base64, decimals are strings. Nothing is
      written to the store, whose own model says what is in it.

      Transactions come in their order, with who saved, and the objects that were inserted,
      updated, with the names of what changed, and deleted, with what is kept of them.

      Pages and log are shown as far as they can be read, also of a store that is damaged, and
      of one that holds no objects. What is wrong is an error each, and the exit code 1.
      """,
    examples: [
      .init(
        "Every album with its artworks",
        "quire dump gallery.quire --entity Album"),
      .init(
        "What a migration changes",
        "quire dump gallery.quire > before.jsonl"),
    ])

  let store: URL
  private let entity: String?
  private let showsHistory: Bool
  let structures: Structures

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    entity = arguments.value(of: "entity")
    showsHistory = arguments.has(flag: "history")
    structures = Structures(
      pages: arguments.has(flag: "pages"), page: try arguments.number(of: "page"),
      log: arguments.has(flag: "log"))
    if entity != nil, !structures.isEmpty {
      throw UsageError(
        "--entity chooses objects; with --pages, --page or --log none are shown.",
        usage: Self.syntax.usage)
    }
    if showsHistory, !structures.isEmpty || entity != nil {
      throw UsageError(
        "--history shows transactions, and nothing else with them.", usage: Self.syntax.usage)
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    guard structures.isEmpty else { return try dumpStructures(to: console) }
    return try Tool.readingPastDamage(store, console, readsAll: true) { context, model in
      if showsHistory {
        try dumpHistory(of: context, to: console)
      } else {
        try dump(context, model, to: console.output)
      }
    }
  }

  private func dump(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel, to output: TextOutput
  ) throws {
    let entities = try chosenEntities(of: model).filter { !$0.isAbstract }
    for entity in entities.sorted(by: { $0.name < $1.name }) {
      var request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      request.fetchBatchSize = 500
      for object in try context.fetchBatched(request) {
        output.write(try ObjectRecord(object).json.lineText + "\n")
        guard output.isOpen else { return }
      }
    }
  }

  private func chosenEntities(of model: ManagedObjectModel) throws -> [EntityDescription] {
    guard let entity else { return model.entities }
    return model.family(of: try Tool.entity(named: entity, of: model))
  }
}
