import Foundation
import QuireTool
import Testing

/// The two programs that `docs/core-data-names.md` tells of: what `quire port` makes of them is
/// what `QuireCoreDataTests` compiles and runs, but for the lines that were changed by hand.
@Suite struct PortedProgramsTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A program before it was ported, and as it runs, from the folder of the tests.
  private struct Program {
    let before: String
    let ported: String
    /// By file: the lines of the port's result that were changed, and what they have become.
    let byHand: [String: [(String, String)]]
  }

  private static let trips = Program(
    before: "PortedAppTests/Before", ported: "QuireCoreDataTests/Trips",
    byHand: [
      "TripsViewController.swift": [
        ("import UIKit\n", "\n#if canImport(UIKit)\n  import UIKit\n#endif\n"),
        ("stack.viewContext, queue: .main", "stack.viewContext, queue: nil"),
      ]
    ])

  private static let ledger = Program(
    before: "QuireCoreDataTests/Ledger/Before", ported: "QuireCoreDataTests/Ledger/App",
    byHand: [:])

  private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

  @Test func `the port writes the programs that run, but for lines changed by hand`() throws {
    for program in [Self.trips, Self.ledger] {
      let folder = try TemporaryFolder()
      let copy = folder.url.appending(path: "program")
      let before = Self.tests.appending(path: program.before)
      try FileManager.default.copyItem(at: before, to: copy)
      let run = ToolRun("port", copy.path, "--write")
      #expect(run.code == .good, "\(run.errors)")
      for file in try FileManager.default.contentsOfDirectory(atPath: before.path) {
        // As the formatter sorts them.
        var result = try text(copy.appending(path: file)).replacing(
          "import QuireCoreData\nimport Foundation\n",
          with: "import Foundation\nimport QuireCoreData\n")
        for (line, change) in program.byHand[file] ?? [] {
          let parts = result.components(separatedBy: line)
          #expect(parts.count == 2, "\(file): \(line)")
          result = parts.joined(separator: change)
        }
        let ported = Self.tests.appending(path: program.ported).appending(path: file)
        #expect(try text(ported) == result, "\(file) is ported otherwise")
      }
    }
    let names = Self.tests.appending(path: "QuireCoreDataTests/CoreDataNames.swift")
    #expect(try text(names).contains("typealias NSPredicate = QuireCoreData.NSPredicate"))
  }
}
