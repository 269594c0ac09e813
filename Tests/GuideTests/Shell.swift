import Foundation
import QuireSimulation
import Testing

/// Runs the commands that a page shows, in a folder, and compares what they print with the page.
///
/// Commands are run by `sh`; `quire` is the tool of this build. In a page, a line `…` stands for
/// any lines, and a line that ends with `…` for a line that begins like it. What differs from run
/// to run and from machine to machine is not compared: paths, times, dates and UUIDs.
struct Shell {
  let folder: TemporaryFolder
  /// Commands that are run in the place of others, as these would build a package.
  private var replacements: [String: String] = [:]

  init(in folder: TemporaryFolder) throws {
    self.folder = folder
    // The pages name the files of the repository as from its root.
    try FileManager.default.createSymbolicLink(
      at: folder.url.appending(path: "Fixtures"),
      withDestinationURL: Page.root.appending(path: "Fixtures"))
  }

  /// Where the build has put the tool: beside this bundle of tests.
  private static let products: URL? = [
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
    Page.root.appending(path: ".build/debug"),
  ].first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "quire").path()) }

  func replacing(_ command: String, with other: String) -> Shell {
    var shell = self
    shell.replacements[command] = other
    return shell
  }

  /// Changes four bytes of a page of a store.
  func damage(_ name: String, page: Int) throws {
    let url = folder.url.appending(path: name)
    var data = try Data(contentsOf: url)
    let start = page * 4096 + 200
    data.replaceSubrange(start..<start + 4, with: Data("XXXX".utf8))
    try data.write(to: url)
  }

  /// Runs a command whose output does not matter.
  func runSilently(_ command: String) throws { _ = try output(of: command) }

  func run(_ block: Page.Block) throws {
    var index = 0
    while index < block.lines.count {
      let command = String(block.lines[index].dropFirst(2))
      let rest = block.lines[(index + 1)...]
      let end = rest.firstIndex { $0.hasPrefix("$ ") } ?? block.lines.count
      let output = try output(of: replacements[command] ?? command)
      #expect(
        Self.matches(output.map(neutral)[...], block.lines[(index + 1)..<end].map(neutral)[...]),
        "\(block.place): \(command) prints\n\(output.joined(separator: "\n"))")
      index = end
    }
  }

  /// The lines that a command prints, of both kinds of output.
  private func output(of command: String) throws -> [String] {
    let products = try #require(Self.products, "the build has no tool quire")
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = folder.url
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PATH": "\(products.path()):/usr/bin:/bin"]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    var lines = text.components(separatedBy: "\n")
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  private func neutral(_ line: String) -> String {
    var line = line.replacing(folder.path, with: "/home/me")
    line.replace(/[0-9.,]+ (ms|µs|s)\b/, with: "# ms")
    line.replace(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/, with: "UUID")
    line.replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "DATE")
    // A column is as wide as what is in it.
    line.replace(/\ {2,}/, with: " ")
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Whether lines are what a page shows.
  static func matches(_ lines: ArraySlice<String>, _ shown: ArraySlice<String>) -> Bool {
    guard let first = shown.first else { return lines.isEmpty }
    if first == "…" {
      return (lines.startIndex...lines.endIndex).contains {
        matches(lines[$0...], shown.dropFirst())
      }
    }
    guard let line = lines.first else { return false }
    let isSame = first.hasSuffix("…") ? line.hasPrefix(first.dropLast()) : line == first
    return isSame && matches(lines.dropFirst(), shown.dropFirst())
  }
}
