import Quire
import QuireModel

/// `quire query`: objects of a store, or what is made of them in groups.
struct QueryCommand: Command {
  static let syntax = CommandSyntax(
    name: "query", summary: "objects of an entity as a table, or counts and sums of groups",
    operands: [.init("STORE", "the store's file")],
    options: ObjectQuery.options + [
      .init("columns", "KEYS", "the columns of objects, k or a.b or tags.@count"),
      .init("group-by", "KEYS", "instead of objects: groups of those that have the same values"),
      .init(flag: "count", "instead of objects: how many there are, in each group"),
      .init("sum", "KEYS", "the sums of their values"),
      .init("avg", "KEYS", "the averages of the values there are"),
      .init("min", "KEYS", "the smallest values"),
      .init("max", "KEYS", "the largest values"),
      .init(
        "format", "FORMAT", "table, lines, json or csv; else a table on a terminal, or json",
        choices: ResultFormat.allCases.map(\.rawValue)),
      .init(flag: "lines", "as --format lines: a line for each property, for wide rows"),
      .init(flag: "json", "print one JSON value, a list of the rows"),
    ],
    discussion: """
      KEYS are key paths with commas between them. Objects have the --columns, which may lead over
      relationships to one object; without it one with their ID, objectID, and one for each
      attribute and each relationship to one object. Groups have their keys, then count,
      sum(k), avg(k), min(k), max(k); --sort takes these names, and groups come by their values
      without it. json is a JSON object on each line, csv has a line of names first.
      FORMAT of --where knows dates as 2024-05-31 or "2024-05-31 12:30", in UTC or with +02:00
      after it, and objects as Artwork/12: objectID == "Artwork/12".

      Objects are written as they are read: memory holds their order, eight bytes each, and with
      --sort what they are sorted by, until they are. The widths of a table are those of its first
      thousand rows, and at most that of the terminal. The store is opened read-only, with its own
      model.
      """,
    examples: [
      .init(
        "The ten dearest works, for a spreadsheet",
        "quire query gallery.quire --entity Artwork --sort -price --limit 10 --format csv"),
      .init(
        "Some columns, and how many artists each work has",
        "quire query gallery.quire --entity Artwork --columns objectID,title,price,artists.@count"),
      .init(
        "How many artists each nation has, the most first",
        "quire query gallery.quire --entity Artist --group-by nationality --count --sort -count"),
    ])

  private let query: ObjectQuery
  /// `nil` when objects are wanted.
  private let grouping: GroupColumns?
  private let format: ResultFormat?
  private let isJSON: Bool
  /// Empty for all of the entity.
  private let columns: [String]

  init(_ arguments: Arguments) throws(UsageError) {
    query = try ObjectQuery(arguments)
    grouping = try GroupColumns(arguments)
    isJSON = arguments.has(flag: "json")
    let format: ResultFormat? = try arguments.choice(of: "format")
    let flags = ["lines", "json"].filter { arguments.has(flag: $0) }
    if let flag = flags.first, format != nil || flags.count > 1 {
      throw arguments.wrong(
        "--\(flag) is a format, and \(flags.count > 1 ? "--\(flags[1])" : "--format") another.")
    }
    self.format =
      isJSON ? .json : arguments.has(flag: "lines") ? .lines : format
    columns = try arguments.list(of: "columns")
    if grouping != nil, !columns.isEmpty {
      throw arguments.wrong("--columns are those of objects; groups have columns of their own.")
    }
    for key in query.sort {
      guard let grouping, !grouping.names.contains(key.name) else { continue }
      throw arguments.wrong(
        "--sort takes columns of the groups, \(grouping.names.joined(separator: ", ")), "
          + "and “\(key.name)” is none.")
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    let format = format ?? (console.output.terminal != nil ? .table : .json)
    return try Tool.readingPastDamage(query.store, console) { context, model in
      if let grouping {
        let (rows, columns) = try grouping.rows(
          of: query, in: context, model, isForReading: format != .json)
        var writer = ResultWriter(columns, as: format, isList: isJSON, to: console.output)
        for row in rows where writer.isOpen { writer.write(row) }
        writer.finish()
      } else {
        try writeObjects(of: context, model, format, to: console.output)
      }
    }
  }

  /// Objects are made, written and let go of a batch at a time.
  private func writeObjects(
    of context: ManagedObjectContext, _ model: ManagedObjectModel, _ format: ResultFormat,
    to output: TextOutput
  ) throws {
    let entity = try Tool.entity(named: query.entityName, of: model)
    let columns =
      columns.isEmpty
      ? ObjectColumns(of: entity) : try ObjectColumns(columns, of: entity, in: model)
    var request = try query.request(in: context, model)
    request.fetchBatchSize = 500
    let objects = try context.fetchBatched(request)
    var writer = ResultWriter(columns.columns, as: format, isList: isJSON, to: output)
    for object in objects {
      writer.write(try columns.cells(of: object, isForReading: format != .json))
      // An object that cannot be read looks like one without values.
      try context.throwKeptErrors()
      guard writer.isOpen else { break }
    }
    writer.finish()
  }
}
