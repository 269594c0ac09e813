import Foundation
import QuireSimulation
import Testing

/// What the guides show stands in their tests, word for word, and is compiled and run there.
@Suite struct GuidePagesTests {
  private static let file = URL(filePath: #filePath)

  /// The lines of a guide's tests, without indentation and empty lines.
  private func testedLines(of guide: Page) throws -> [String] {
    var lines = try String(contentsOf: guide.testFile, encoding: .utf8)
    if guide.path.hasSuffix("/getting-started.md") {
      let program = Self.file.deletingLastPathComponent().appending(
        path: "GettingStarted/main.swift")
      lines += "\n" + (try String(contentsOf: program, encoding: .utf8))
    }
    return lines.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func stands(_ paragraph: [String], in lines: [String]) -> Bool {
    guard let first = paragraph.first else { return true }
    return lines.indices.contains { index in
      lines[index] == first && lines[index...].starts(with: paragraph)
    }
  }

  @Test(arguments: Page.guides)
  func `every block of code and of output is tested`(_ guide: Page) throws {
    let tested = try testedLines(of: guide)
    for block in guide.blocks where !block.isManifest && !block.isShell {
      for paragraph in block.paragraphs {
        #expect(
          stands(paragraph, in: tested),
          "\(block.place): not in \(guide.testFile.lastPathComponent): \(paragraph)")
      }
    }
    for block in guide.blocks where block.isShell && block.lines[0].hasPrefix("$ quire ") {
      let command = block.lines[0].dropFirst(2)
      #expect(
        tested.contains { $0.contains("\"\(command)\"") }, "\(block.place) is run nowhere")
    }
  }

  @Test(arguments: Page.guides)
  func `a guide has a length that is read in one go`(_ guide: Page) {
    #expect((80...250).contains(guide.lines.count - 1), "\(guide.path)")
    var isFenced = false
    for (index, line) in guide.lines.enumerated() {
      if line.hasPrefix("```") { isFenced.toggle() }
      if isFenced || line.hasPrefix("|") { continue }
      #expect(line.count <= 125, "\(guide.path):\(index + 1) has \(line.count) columns")
    }
  }

  @Test func `there are guides for all that people set out to do`() {
    #expect(Page.guides.count >= 16)
  }

  /// The manifests name products that the package has, and are read by the package manager's
  /// compiler.
  @Test func `every manifest in a guide is one`() throws {
    let own = try String(
      contentsOf: Page.root.appending(path: "Package.swift"), encoding: .utf8)
    let blocks = Page.guides.flatMap(\.blocks).filter(\.isManifest)
    #expect(!blocks.isEmpty)
    for block in blocks {
      let text = block.lines.joined(separator: "\n")
      for product in text.matches(of: /product\(name: "(\w+)", package: "quire"\)/) {
        #expect(own.contains("name: \"\(product.1)\""), "\(block.place)")
      }
      #expect(try mistakes(of: text) == "", "\(block.place)")
    }
  }

  /// What the compiler says about the form of a program.
  private func mistakes(of program: String) throws -> String {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let url = folder.url.appending(path: "manifest.swift")
    try Data(program.utf8).write(to: url)
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["swiftc", "-parse", url.path()]
    let pipe = Pipe()
    compiler.standardError = pipe
    try compiler.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    return text
  }

  // MARK: Links

  private static let pages =
    ["README.md"] + Page.names(in: "docs") + Page.names(in: "docs/guides")

  /// The anchors that GitHub makes of the headings of a page.
  private func anchors(of page: Page) -> Set<String> {
    Set(
      page.lines.filter { $0.hasPrefix("#") }.map { line in
        line.drop { $0 == "#" }.dropFirst().lowercased().filter {
          $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_"
        }.replacing(" ", with: "-")
      })
  }

  @Test(arguments: pages)
  func `every link leads to a file and a heading that are there`(_ path: String) throws {
    let page = try Page(path)
    let folder = Page.root.appending(path: path).deletingLastPathComponent()
    for match in page.lines.joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/) {
      let link = String(match.1)
      if link.contains("://") { continue }
      let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let target =
        parts[0].isEmpty
        ? Page.root.appending(path: path)
        : folder.appending(path: String(parts[0])).standardizedFileURL
      #expect(FileManager.default.fileExists(atPath: target.path()), "\(path): \(link)")
      if parts.count == 2, target.pathExtension == "md" {
        let name = target.path().dropFirst(Page.root.standardizedFileURL.path().count)
        let anchors = anchors(of: try Page(String(name.drop { $0 == "/" })))
        #expect(anchors.contains(String(parts[1])), "\(path): \(link)")
      }
    }
  }

  /// The README's figures are of `docs/benchmarks.md`, and change with it.
  @Test func `the figures of the README are those of the benchmarks`() throws {
    let readme = try Page("README.md").lines
    let benchmarks = try Page("docs/benchmarks.md").lines.joined(separator: "\n")
    let rows = try readme[#require(readme.firstIndex(of: "## Benchmarks"))...]
      .filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count >= 8)
    for row in rows {
      let cells = row.split(separator: "|")
      for cell in cells where cell.contains(/[0-9]\.[0-9]|\/s|ms/) {
        for number in cell.matches(of: /[0-9]+(\.[0-9]+)?/) {
          #expect(benchmarks.contains(number.0), "\(row)")
        }
      }
    }
  }

  @Test func `the index names every page`() throws {
    let index = try Page("docs/README.md").lines.joined(separator: "\n")
    for path in Self.pages.dropFirst() where path != "docs/README.md" {
      #expect(index.contains("(\(path.dropFirst("docs/".count))"), "\(path)")
    }
  }
}
