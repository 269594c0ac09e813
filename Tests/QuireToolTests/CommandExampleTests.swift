import Foundation
import QuireTool
import Testing

/// The examples of the help, typed into a shell where there is a store and a model.
@Suite struct CommandExampleTests {
  /// Commands whose examples need what the package does not have, or would change it.
  private static let unrun: Set<String> = ["demo", "fixtures", "import"]

  private func words(_ line: Substring) -> [String] {
    var words: [String] = []
    for (index, part) in line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    {
      if index % 2 == 1 {
        words.append(String(part))
      } else {
        words += part.split(separator: " ").map(String.init)
      }
    }
    return words
  }

  @Test(arguments: Tool.syntaxes.map(\.name))
  func `the examples of a command run as they stand`(name: String) throws {
    let syntax = try #require(Tool.syntaxes.first { $0.name == name })
    #expect(!syntax.examples.isEmpty && syntax.examples.count < 4)
    let help = ToolRun("help", name).output
    for example in syntax.examples {
      #expect(help.contains("\n\n  # \(example.purpose)\n  \(example.line)\n"))
      #expect(example.line.contains("quire \(name) "))
      // Also what is not run has the command's syntax.
      for part in example.line.split(separator: "&&") {
        let words = words(part.prefix { $0 != ">" })
        if words.first == "quire" {
          #expect(throws: Never.self) { try Tool.check(Array(words.dropFirst())) }
        }
      }
      guard !Self.unrun.contains(name) else { continue }
      let folder = try TemporaryFolder()
      try FileManager.default.copyItem(
        atPath: Fixtures.store("Gallery 2.0"), toPath: folder.path("gallery.quire"))
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("Gallery.xcdatamodeld"), withDestinationPath: Fixtures.model)
      try FileManager.default.createDirectory(
        atPath: folder.path("Sources"), withIntermediateDirectories: false)
      let run = try ToolProcess(["sh", "-c", example.line], in: folder.path)
      #expect(run.wait() == 0, "\(example.line)\n\(run.errors)")
      #expect(run.errors.allSatisfy { _ in run.errors.hasPrefix("note: ") }, "\(run.errors)")
    }
  }
}
