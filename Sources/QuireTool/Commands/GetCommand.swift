import Foundation
import Quire

/// `quire get`: one object of a store, whole.
struct GetCommand: Command {
  static let syntax = CommandSyntax(
    name: "get", summary: "one object by its ID, with all its values and links",
    operands: [
      .init("STORE", "the store's file"),
      .init("OBJECT", "the object, as Artwork/12, Artwork/p12, by its URI or address in a page"),
    ],
    options: [.json],
    discussion: """
      A line for each attribute and each relationship, whole. With --json the object is as quire
      dump has it. The address of a page is that of quire show, gallery.html#/object/Artwork/12.
      The store is opened read-only, with its own model.
      """,
    examples: [
      .init("An object that a query or an error has named", "quire get gallery.quire Artwork/p12")
    ])

  private let store: URL
  private let name: String
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    name = arguments.operands[1]
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    try Tool.readingPastDamage(store, console) { context, model in
      let record = ObjectRecord(try ObjectName.object(name, in: context, model))
      // An object that cannot be read looks like one without values: nothing is printed before.
      let answer = isJSON ? try record.json.indentedText : try record.text
      try context.throwKeptErrors()
      console.print(answer)
    }
  }
}
