import Foundation
import Testing

/// A page of the documentation, cut into its fenced blocks.
struct Page: Sendable, CustomTestStringConvertible {
  /// From the root of the package: `docs/guides/testing.md`.
  let path: String
  let lines: [String]
  let blocks: [Block]

  /// What stands between two fences.
  struct Block: Sendable {
    /// The page's path and the number of the first line, for messages.
    var place: String
    /// `swift`, or empty.
    var language: String
    var lines: [String]

    /// Whether the block shows commands and what they print.
    var isShell: Bool { lines.first?.hasPrefix("$ ") == true }
    var isManifest: Bool { lines.first?.hasPrefix("// swift-tools-version") == true }

    /// The parts between empty lines, each line without its indentation; no imports.
    var paragraphs: [[String]] {
      lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("import ") }
        .split(separator: "").map(Array.init)
    }
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  init(_ path: String) throws {
    self.path = path
    lines = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
      .components(separatedBy: "\n")
    var blocks: [Block] = []
    var open: Block?
    for (index, line) in lines.enumerated() {
      let code = line.trimmingCharacters(in: .whitespaces)
      if code.hasPrefix("```") {
        if let block = open {
          blocks.append(block)
          open = nil
        } else {
          open = Block(
            place: "\(path):\(index + 2)", language: String(code.dropFirst(3)), lines: [])
        }
      } else {
        open?.lines.append(line)
      }
    }
    self.blocks = blocks
  }

  var testDescription: String { path }

  /// The guide of a name, such as `testing`.
  static func guide(_ name: String) throws -> Page { try Page("docs/guides/\(name).md") }

  static let guides: [Page] = names(in: "docs/guides").compactMap { try? Page($0) }

  /// The pages in a folder, in the order of their names.
  static func names(in folder: String) -> [String] {
    let url = root.appending(path: folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
    return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
  }

  /// The file with the tests of a guide: `ModelsAndDeclarationsGuideTests.swift`.
  var testFile: URL {
    let name = path.split(separator: "/").last?.dropLast(3) ?? ""
    let words = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return Self.root.appending(path: "Tests/GuideTests/\(words.joined())GuideTests.swift")
  }

  /// Runs the block of commands that begins with a command, and compares what they print.
  func run(_ command: String, in shell: Shell) throws {
    let block = try #require(
      blocks.first { $0.lines.first == "$ \(command)" }, "\(path) has no block “$ \(command)”")
    try shell.run(block)
  }
}
