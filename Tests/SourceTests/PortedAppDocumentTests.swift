import Foundation
import Testing

/// `docs/porting.md` tells what became of every line of the app in `Tests/PortedAppTests`.
@Suite struct PortedAppDocumentTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let app = root.appending(path: "Tests/PortedAppTests")
  private static let names = [
    "CoreDataStack", "Trip", "TripEditor", "TripImporter", "TripsViewController",
  ]

  private func page() throws -> String {
    try String(contentsOf: Self.root.appending(path: "docs/porting.md"), encoding: .utf8)
  }

  private func lines(_ folder: String, _ name: String) throws -> [String] {
    try String(
      contentsOf: Self.app.appending(path: "\(folder)/\(name).swift"), encoding: .utf8
    ).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The numbers of the lines of one file that another has nowhere.
  private func numbers(of lines: [String], without others: [String]) -> [Int] {
    let others = Set(others)
    return lines.enumerated().filter { !$1.isEmpty && !others.contains($1) }.map { $0.offset + 1 }
  }

  /// `Trip 4, 7–9; TripEditor 1`, the first cell of a row.
  private func told(_ page: String) -> [String: [Int]] {
    var told: [String: [Int]] = [:]
    for row in page.split(separator: "\n") where row.hasPrefix("| ") {
      for part in row.split(separator: "|")[0].split(separator: ";") {
        let words = part.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, Self.names.contains(words[0]) else { continue }
        for range in words[1].split(separator: ",") {
          let ends = range.split(separator: "–").compactMap {
            Int($0.trimmingCharacters(in: .whitespaces))
          }
          guard let first = ends.first, let last = ends.last, first <= last else { continue }
          told[words[0], default: []] += Array(first...last)
        }
      }
    }
    return told
  }

  @Test func `each line that changed is told once, and no other`() throws {
    let page = try page()
    let told = told(page)
    var (changed, new, all) = (0, 0, 0)
    for name in Self.names {
      let (before, after) = (try lines("Before", name), try lines("App", name))
      let numbers = numbers(of: before, without: after)
      #expect(told[name]?.sorted() == numbers, "\(name)")
      changed += numbers.count
      new += self.numbers(of: after, without: before).count
      all += before.count - 1
    }
    #expect(page.contains("\(changed) of the \(all) lines are not in the ported app; \(new) stand"))
  }

  @Test func `nothing of Core Data is left in the ported app`() throws {
    for name in Self.names {
      #expect(try lines("Before", name).contains("import CoreData"))
      for line in try lines("App", name) {
        #expect(
          !line.contains("import CoreData") && !line.contains("NSManaged"), "\(name): \(line)")
      }
    }
  }
}
