import Foundation
import Testing

/// The steps of `.ci/run` and `.ci/nightly` are those that the workflows call and that
/// `docs/contributing.md` tells about.
@Suite struct StepsTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func lines(_ path: String) throws -> [Substring] {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The steps that the comment at the start of a script names: `#   lint   the formatter's rules`.
  private func steps(of script: String) throws -> Set<String> {
    Set(
      try lines(script).prefix { $0.hasPrefix("#") }.compactMap { line in
        guard line.hasPrefix("#   "), !line.hasPrefix("#    ") else { return nil }
        return line.split(separator: " ").dropFirst().first.map(String.init)
      })
  }

  /// The steps that the functions of a script are; `fuzz` and `kill` are called otherwise.
  private func functions(of script: String) throws -> Set<String> {
    Set(
      try lines(script).compactMap { line in
        line.contains("() {") ? line.split(separator: "(").first.map(String.init) : nil
      })
  }

  /// The words behind the script's name in a workflow, and those of the matrix of steps.
  private func calls(of script: String, in workflow: String) throws -> Set<String> {
    var calls: Set<String> = []
    for line in try lines(".github/workflows/\(workflow)") {
      if let call = line.range(of: "\(script) ") {
        calls.formUnion(line[call.upperBound...].split(separator: " ").map(String.init))
      } else if let matrix = line.range(of: "step: [") {
        calls.formUnion(
          line[matrix.upperBound...].split { !$0.isLetter && $0 != "_" }.map(String.init))
      }
    }
    return calls
  }

  /// The first cells of a table whose head names a script.
  private func rows(_ script: String) throws -> Set<String> {
    let table = try lines("docs/contributing.md").drop {
      !$0.hasPrefix("| step of `\(script)`")
    }.dropFirst(2).prefix { $0.hasPrefix("| `") }
    return Set(
      table.compactMap { $0.split { $0 == "`" || $0 == " " }.dropFirst().first }.map(String.init))
  }

  @Test(arguments: [(".ci/run", "ci.yml"), (".ci/nightly", "nightly.yml")])
  func `steps, workflows and the page about them agree`(script: String, workflow: String) throws {
    let steps = try steps(of: script)
    #expect(steps.count >= 7)
    #expect(try rows(script) == steps)
    let calls = try calls(of: script, in: workflow)
    #expect(calls.isSuperset(of: steps), "\(workflow) does not call \(steps.subtracting(calls))")
    #expect(try functions(of: script).isSuperset(of: steps.subtracting(["fuzz", "kill"])))
  }
}
