import Foundation
import QuireTool
import Testing

/// The commands of `docs/tools-you-know.md`, run in the order in which they stand there.
@Suite struct EquivalentsTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/tools-you-know.md")

  /// The words of a command line, as a shell makes them.
  private func words(_ line: Substring) -> [String] {
    var words: [String] = []
    var (word, quote): (String?, Character?) = (nil, nil)
    for character in line {
      if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character == " " {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + [word].compactMap { $0 }
  }

  /// The commands on the page that name a file, each between two backticks, each once.
  private func commands() throws -> [[String]] {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let commands = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap { row in
      row.split(separator: "`").filter { $0.hasPrefix("quire ") && $0.contains(".quire") }
    }
    var seen: Set<Substring> = []
    return commands.filter { seen.insert($0).inserted }.map { Array(words($0).dropFirst()) }
  }

  @Test func `each command that the page shows does what it says there`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: Fixtures.store("Gallery 2.7"), toPath: folder.path("gallery.quire"))
    let files: Set = [
      "backup.quire", "classes", "copy.quire", "early.quire", "exported", "gallery.html",
      "gallery.quire",
      "gallery.svg", "json-lines", "model.svg", "rescued.quire", "shipped", "swift",
    ]
    let commands = try commands()
    #expect(commands.count >= 20)
    for command in commands {
      let run = ToolRun(command.map { files.contains($0) ? folder.path($0) : $0 })
      #expect(run.code == .good, "\(command): \(run.errors)")
      #expect(!run.output.isEmpty && !run.output.contains("(0 rows)"), "\(command) finds nothing")
    }
    for file in files {
      #expect(FileManager.default.fileExists(atPath: folder.path(file)), "\(file)")
    }
  }
}
