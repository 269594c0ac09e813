import Foundation
import QuireSimulation
import Testing

/// The commands of `docs/tool.md`, run in a folder with a store of the gallery, print what the page
/// shows.
@Suite struct ToolPageTests {
  /// Blocks whose first command needs what the page does not show how to make: a store that is
  /// damaged or has a log, sources of an app, or a store of Core Data. Suites of `QuireToolTests`
  /// test these commands. `demo` and `fixtures` take seconds.
  private static let unrun: Set<String> = [
    "demo", "dump gallery.quire --log", "dump gallery.quire --pages", "explain",
    "export gallery.quire --to gallery --format csv", "fixtures", "import", "port", "schema",
  ]

  private struct Example: Sendable, CustomTestStringConvertible {
    var block: Page.Block
    var command: String { String(block.lines[0].dropFirst(2)) }
    var testDescription: String { command }
  }

  private static let examples: [Example] =
    (try? Page("docs/tool.md"))?.blocks.filter(\.isShell).map { Example(block: $0) }.filter {
      example in
      // A store that is not sound has a block of its own.
      !unrun.contains { example.command.hasPrefix("quire \($0)") }
        && !example.block.lines.contains { $0.contains(" is not sound") }
    } ?? []

  @Test(arguments: examples)
  private func `a command prints what the page shows`(_ example: Example) throws {
    let shell = try Shell(in: try TemporaryFolder())
    try shell.runSilently("cp 'Fixtures/Gallery/Gallery 2.0.quire' gallery.quire")
    if example.command.hasPrefix("quire salvage")
      || example.block.lines.contains("What is wrong")
    {
      try shell.damage("gallery.quire", page: 14)
    }
    if example.command.hasPrefix("quire load") {
      try shell.runSilently("quire export gallery.quire --to gallery")
    }
    try shell.run(example.block)
  }

  @Test func `most of the page is run`() { #expect(Self.examples.count >= 12) }
}
