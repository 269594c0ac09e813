import Quire
import QuireModel

/// `quire query`: objects of a store, or what is made of them in groups.
struct QueryCommand: Command {
  static let syntax = CommandSyntax(
    name: "query", summary: "objects of an entity as a table, or counts and sums of groups",
    operands: [.init("STORE", "the store's file")],
    options: ObjectQuery.options + [
      .init("group-by", "KEYS", "instead of objects: groups of those that have the same values"),
      .init(flag: "count", "instead of objects: how many there are, in each group"),
      .init("sum", "KEYS", "the sums of their values"),
      .init("avg", "KEYS", "the averages of the values there are"),
      .init("min", "KEYS", "the smallest values"),
      .init("max", "KEYS", "the largest values"),
      .init(
        "format", "FORMAT", "table, json or csv; without it a table on a terminal, else json",
        choices: ResultFormat.allCases.map(\.rawValue)),
    ],
    discussion: """
      KEYS are key paths with commas between them. Objects have a column with their ID, and one for
      each attribute and each relationship to one object. Groups have their keys, then count,
      sum(k), avg(k), min(k), max(k); --sort takes these names, and groups come by their values
      without it. json is a JSON object on each line, csv has a line of names first. The store is
      opened read-only, with its own model.
      """,
    examples: [
      .init(
        "The ten dearest works, for a spreadsheet",
        "quire query gallery.quire --entity Artwork --sort -price --limit 10 --format csv"),
      .init(
        "How many artists each nation has, the most first",
        "quire query gallery.quire --entity Artist --group-by nationality --count --sort -count"),
    ])

  private let query: ObjectQuery
  /// `nil` when objects are wanted.
  private let grouping: GroupColumns?
  private let format: ResultFormat?

  init(_ arguments: Arguments) throws(UsageError) {
    query = try ObjectQuery(arguments)
    grouping = try GroupColumns(arguments)
    format = try arguments.choice(of: "format")
    for key in query.sort {
      guard let grouping, !grouping.names.contains(key.name) else { continue }
      throw arguments.wrong(
        "--sort takes columns of the groups, \(grouping.names.joined(separator: ", ")), "
          + "and “\(key.name)” is none.")
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    let format = format ?? (console.output.isTerminal ? .table : .json)
    try Tool.reading(query.store) { context, model in
      if let grouping {
        let rows = try grouping.rows(of: query, in: context, model)
        format.write(grouping.columns(of: rows), rows, to: console.output)
      } else {
        try writeObjects(of: context, model, format, to: console.output)
      }
    }
    return .good
  }

  private func writeObjects(
    of context: ManagedObjectContext, _ model: ManagedObjectModel, _ format: ResultFormat,
    to output: TextOutput
  ) throws {
    let columns = ObjectColumns(of: try Tool.entity(named: query.entityName, of: model))
    let objects = try context.fetch(query.request(in: model))
    format.write(columns.columns, try objects.map(columns.cells), to: output)
  }
}
