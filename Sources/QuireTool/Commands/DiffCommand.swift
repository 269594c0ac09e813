import Foundation
import QuireModel

/// `quire diff`: what changed between two versions of a model.
struct DiffCommand: Command {
  static let syntax = CommandSyntax(
    name: "diff", summary: "what changed between two versions of a model",
    operands: [
      .init("MODEL", "a folder .xcdatamodeld"), .init("FROM", "the name of the older version"),
      .init("TO", "the name of the newer version"),
    ],
    options: [.json],
    discussion: """
      Obstacles are changes that no mapping can be inferred for; each says what to do about it.
      A difference is no error: the exit code is 0.
      """)

  private let path: String
  private let source: String
  private let destination: String
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    path = arguments.operands[0]
    source = arguments.operands[1]
    destination = arguments.operands[2]
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(path, console)
    let difference = ModelDifference(
      from: try model.existingVersion(named: source).model,
      to: try model.existingVersion(named: destination).model)
    if isJSON {
      console.print([
        "from": .string(source), "to": .string(destination), "difference": JSONValue(difference),
      ])
    } else {
      console.print("\(source) → \(destination)\n\(difference)")
      if difference.isEmpty { console.print("Both versions read each other's stores.") }
    }
    return .good
  }
}
