import Quire
import QuireModel

/// `quire explain`: how a fetch would find its objects.
struct ExplainCommand: Command {
  static let syntax = CommandSyntax(
    name: "explain", summary: "how a fetch finds objects, and how many rows it reads",
    operands: [.init("STORE", "the store's file")], options: ObjectQuery.options + [.json],
    discussion: """
      The fetch is run, and its objects are not made. Told are the indexes that are searched and
      for what, what is filtered on rows, whether there is a sort, and how many rows were read and
      matched. Numbers that are expected are estimates from the sizes of trees. The store is
      opened read-only, with its own model.
      """,
    examples: [
      .init(
        "How many rows are read to find the dearest works",
        #"quire explain gallery.quire --entity Artwork --where "price > 50000" --sort -price --limit 10"#
      )
    ])

  private let query: ObjectQuery
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    query = try ObjectQuery(arguments)
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let explanation = try Tool.reading(query.store, console) { context, model in
      try query.request(in: context, model).explain(in: context)
    }
    if isJSON { console.print(JSONValue(explanation)) } else { console.print("\(explanation)") }
    return .good
  }
}
