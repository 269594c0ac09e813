import Foundation
import QuireTool
import Testing

/// The three programs of `Tests/PortedPrograms`: what `quire port` makes of them is what the
/// package compiles and tests, but for the lines that were changed by hand, one of a hundred at
/// most.
@Suite struct ForeignProgramsTests {
  private static let programs = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "PortedPrograms")

  /// A text of a file of the port's result that a person has changed.
  struct Edit {
    let file: String
    let before: String
    let after: String

    init(_ file: String, _ before: String, _ after: String) {
      (self.file, self.before, self.after) = (file, before, after)
    }

    /// Lines that were changed, added or removed.
    var lineCount: Int {
      func lines(_ text: String) -> Int {
        text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }.count
      }
      return max(lines(before), lines(after), 1)
    }
  }

  static let byHand: [String: [Edit]] = [
    "Lark": [
      Edit(
        "Lark/Lists/FetchedResultsDataSource.swift",
        "import UIKit\n",
        "\n#if canImport(UIKit)\n  import UIKit\n#endif\n"),
      Edit(
        "Lark/Lists/SightingsViewController.swift",
        "import UIKit\n",
        "\n#if canImport(UIKit)\n  import UIKit\n#endif\n"),
      Edit(
        "Lark/Lists/SpeciesViewController.swift",
        "import UIKit\n",
        "\n#if canImport(UIKit)\n  import UIKit\n#endif\n"),
      Edit(
        "Lark/Stack/CoreDataStack.swift",
        "import UIKit\n",
        ""),
      Edit(
        "Lark/Stack/CoreDataStack.swift",
        "let bundle = Bundle(for: CoreDataStack.self)",
        "let bundle = Bundle.module"),
      Edit(
        "Lark/Stack/CoreDataStack.swift",
        "modelName + \".momd\"",
        "modelName + \".xcdatamodeld\""),
      Edit(
        "Lark/Stack/CoreDataStack.swift",
        "return Bundle(for: CoreDataStack.self).resourceURL?",
        "return Bundle.module.resourceURL?"),
      Edit(
        "Lark/Stack/CoreDataStack.swift",
        "version + \".mom\"",
        "version + \".xcdatamodel\""),
      Edit(
        "Lark/Stack/ContextNotifications.swift",
        "var innerIterator",
        "let innerIterator"),
      Edit(
        "Lark/Stack/PersistentHistoryTracker.swift",
        "self?.queue.async { self?.process",
        "self?.queue.async { [self] in self?.process"),
      Edit(
        "Lark/Lists/Statistics.swift",
        "      let request = model.fetchRequestFromTemplate(\n"
          + "        withName: \"SightingsOfSpecies\", substitutionVariables: [\"CODE\": code]).map({ NSFetchRequest<Sighting>($0) })\n",
        "      let request = model.fetchRequestFromTemplate(\n"
          + "        withName: \"SightingsOfSpecies\", substitutionVariables: [\"CODE\": code]\n"
          + "      ).map({ NSFetchRequest<Sighting>($0) })\n"),
    ],
    "Courier": [
      Edit(
        "Core/Migration/ModelVersion.swift",
        "let subdirectory = \"Courier.momd\"",
        "let subdirectory = \"Courier.xcdatamodeld\""),
      Edit(
        "Core/Migration/ModelVersion.swift",
        "      Bundle.module.url(forResource: rawValue, withExtension: \"xcdatamodel\", subdirectory: subdirectory)\n"
          + "      ?? Bundle.module.url(forResource: rawValue, withExtension: \"xcdatamodel\", subdirectory: subdirectory)\n",
        "      Bundle.module.url(\n"
          + "        forResource: rawValue, withExtension: \"xcdatamodel\", subdirectory: subdirectory)\n"
      ),
      Edit(
        "CoreTests/MigrationTests.swift",
        "    var made: Any?\n",
        "    nonisolated(unsafe) var made: Any?\n"),
    ],
    "Cellar": [
      Edit(
        "Sources/Cellar/Queries/Copier.swift",
        "for case let member as NSManagedObject in object.mutableOrderedSetValue(forKey: name) {",
        "for member in object.mutableOrderedSetValue(forKey: name) {"),
      Edit(
        "Sources/Cellar/Queries/Copier.swift",
        "for case let member as NSManagedObject in object.mutableSetValue(forKey: name) {",
        "for member in object.mutableSetValue(forKey: name) {"),
      Edit(
        "Sources/Cellar/Queries/Query.swift",
        "public import Foundation\n",
        "import Foundation\n"),
      Edit(
        "Sources/Cellar/Storage/Archive.swift",
        "public import QuireCoreData\n",
        "import QuireCoreData\n"),
      Edit(
        "Sources/Cellar/Storage/ChangeFeed.swift",
        "public import Foundation\n",
        "import Foundation\n"),
      Edit(
        "Sources/Cellar/Storage/SettingsStore.swift",
        "public import QuireCoreData\n",
        "import QuireCoreData\n"),
    ],
  ]

  /// Imports in order, as the formatter has them.
  private func sorted(_ text: String) -> String {
    var (lines, run): ([Substring], [Substring]) = ([], [])
    func name(_ line: Substring) -> Substring { line.split(separator: " ").last ?? "" }
    let all: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false)
    for line in all + ["end"] {
      if line.hasPrefix("import ") || line.hasPrefix("public import ") {
        run.append(line)
      } else {
        lines += run.sorted { name($0) < name($1) }
        run = []
        lines.append(line)
      }
    }
    return lines.dropLast().joined(separator: "\n")
  }

  private func sources(in folder: URL) throws -> [String: String] {
    var texts: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    where path.hasSuffix(".swift") {
      texts[path] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }
    return texts
  }

  @Test(arguments: ["Lark", "Courier", "Cellar"])
  func `the port writes a program that runs, but for one line of a hundred`(
    _ name: String
  ) throws {
    let folder = try TemporaryFolder()
    let copy = folder.url.appending(path: "program")
    let before = Self.programs.appending(path: "\(name)/Before")
    try FileManager.default.copyItem(at: before, to: copy)
    let run = ToolRun("port", copy.path, "--write")
    #expect(run.code == .good, "\(run.errors)")
    var texts = try sources(in: copy).mapValues(sorted)
    let edits = try #require(Self.byHand[name])
    for edit in edits {
      let parts = texts[edit.file]?.components(separatedBy: edit.before) ?? []
      #expect(parts.count == 2, "\(edit.file): \(edit.before)")
      texts[edit.file] = parts.joined(separator: edit.after)
    }
    var ported = try sources(in: Self.programs.appending(path: "\(name)/Ported"))
    ported["Lark/UIKit.swift"] = nil
    #expect(Set(ported.keys) == Set(texts.keys))
    for (path, text) in ported { #expect(texts[path] == text, "\(path) is ported otherwise") }
    let lines = try sources(in: before).values.reduce(0) {
      $0 + $1.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    }
    #expect(lines >= 1_500)
    #expect(edits.reduce(0) { $0 + $1.lineCount } * 100 <= lines)
  }
}
