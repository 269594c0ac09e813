import Foundation
import QuireTool
import Testing

/// Every command that answers has its answer as one JSON value, with the keys that the page shows.
@Suite struct JSONAnswerTests {
  /// Commands whose output is text in a language of its own: JSON Lines, code, scripts.
  private static let texts: Set<String> = ["dump", "schema", "completion"]

  /// Words behind a command, in a folder with a store, its model, a CSV file and a source.
  private static let words: [String: [String]] = [
    "demo": ["--fixtures", "FIXTURES"], "models": ["g.quire"], "diff": ["g.quire", "g.quire"],
    "generate": ["g.quire", "--to", "code"], "port": ["sources"],
    "import": ["SOURCE", "--model", "SOURCEMODEL", "--to", "i.quire"],
    "migrate": ["g.quire", "--model", "MODEL"], "backup": ["g.quire", "--to", "b.quire"],
    "restore": ["copy.quire", "--to", "g.quire"], "compact": ["g.quire"], "stat": ["g.quire"],
    "check": ["g.quire"], "doctor": ["g.quire"], "salvage": ["g.quire", "--to", "s.quire"],
    "show": ["g.quire", "--to", "g.html", "--open", "no"],
    "query": ["g.quire", "--entity", "Artist", "--columns", "objectID,name"],
    "ship": ["g.quire", "--to", "shipped", "--once"],
    "get": ["g.quire", "Artist/1"],
    "explain": ["g.quire", "--entity", "Artist"],
    "edit": ["g.quire", "--do", "set Artist/1 name=x; insert Note body=x; delete Note/1"],
    "export": ["g.quire", "--to", "out"],
    "load": ["User.csv", "--to", "g.quire"], "fixtures": ["made", "--model", "MODEL"],
  ]

  private static let page = try! String(
    contentsOf: Fixtures.folder.deletingLastPathComponent().appending(path: "docs/tool.md"),
    encoding: .utf8)

  /// What the page says of a command.
  private func section(_ name: String) -> Substring {
    guard let start = Self.page.range(of: "\n## quire \(name)\n") else { return "" }
    let rest = Self.page[start.upperBound...]
    return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
  }

  @Test(arguments: Tool.syntaxes.map(\.name))
  func `a command answers with one JSON value, or the page says that it does not`(
    name: String
  ) throws {
    let syntax = try #require(Tool.syntaxes.first { $0.name == name })
    let hasJSON = syntax.options.contains { $0.name == "json" }
    #expect(hasJSON == !Self.texts.contains(name))
    // The first line of the section is how the command is called.
    if name != "dump" {
      let usage = syntax.usage.split { $0 == " " || $0 == "\n" }.dropFirst().joined(separator: " ")
      #expect(section(name).contains("`\(usage)`"), "\(usage)")
    }
    guard hasJSON else { return }
    if name == "import" && !RealData.isPresent { return }
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    for copy in ["g.quire", "copy.quire"] {
      try FileManager.default.copyItem(atPath: store, toPath: folder.path(copy))
    }
    try "email,slug\na@example.org,a\n".write(
      toFile: folder.path("User.csv"), atomically: false, encoding: .utf8)
    try FileManager.default.createDirectory(
      atPath: folder.path("sources"), withIntermediateDirectories: false)
    try "import CoreData\n".write(
      toFile: folder.path("sources/a.swift"), atomically: false, encoding: .utf8)
    let words = try #require(Self.words[name], "\(name) has no words here").map { word in
      switch word {
      case "FIXTURES": Fixtures.folder.path
      case "MODEL": Fixtures.model
      case "SOURCE": try RealData.path("artsy-folio/stores/ArtsyPartner_1.4.sqlite")
      case "SOURCEMODEL": try RealData.path("artsy-folio/ArtsyPartner.xcdatamodeld")
      default: word
      }
    }
    let process = try ToolProcess(["quire", name] + words + ["--json"], in: folder.path)
    #expect(process.wait() == 0, "\(process.errors)")
    let value = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
    guard let object = value as? [String: Any] else {
      #expect(name == "query" && value is [[String: Any]])
      return
    }
    #expect(!object.isEmpty)
    for key in object.keys {
      #expect(section(name).contains("\"\(key)\""), "docs/tool.md, quire \(name): no key \(key)")
    }
  }
}
