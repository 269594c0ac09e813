import Foundation
import Quire

/// `quire doctor`: what is wrong with a store, and what to do.
struct DoctorCommand: Command {
  static let syntax = CommandSyntax(
    name: "doctor", summary: "what is wrong with a store, in one page, and what to do",
    group: .files,
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      Looks at the store, at the files beside it, and at a backup there. Of a damaged store it tries
      what quire salvage would keep, in a temporary folder. Nothing is written to the store. The
      exit code is 1 if something is wrong.
      """,
    examples: [.init("What to do with a store that does not open", "quire doctor gallery.quire")])

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let diagnosis = try StoreDiagnosis(of: store, console)
    if isJSON {
      console.print([
        "store": .string(store.path),
        "isSound": JSONValue(diagnosis.problems.isEmpty),
        "summary": JSONValue(diagnosis.summary),
        "problems": JSONValue(diagnosis.problems.map(\.what)),
        "advice": JSONValue(diagnosis.advice),
        "notes": JSONValue(diagnosis.notes),
      ])
    } else {
      console.print(text(diagnosis))
    }
    return diagnosis.problems.isEmpty ? .good : .bad
  }

  private func text(_ diagnosis: StoreDiagnosis) -> String {
    var blocks = [store.path + (diagnosis.summary.map { ": \($0)" } ?? "")]
    if diagnosis.problems.isEmpty {
      blocks.append("Nothing is wrong.")
    } else {
      blocks.append(list("What is wrong", diagnosis.problems.map(\.what)))
      blocks.append(
        (["What to do"]
          + diagnosis.advice.enumerated().map { "  \($0.offset + 1). \($0.element)" })
          .joined(separator: "\n"))
    }
    if !diagnosis.notes.isEmpty { blocks.append(list("Good to know", diagnosis.notes)) }
    return blocks.joined(separator: "\n\n")
  }

  private func list(_ title: String, _ lines: [String]) -> String {
    ([title] + lines.map { "  \($0)" }).joined(separator: "\n")
  }
}
