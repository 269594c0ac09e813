import Foundation
import QuireModel
import QuireSimulation
import QuireTool
import Testing

/// What `quire port` makes of sources; the cases are in `PortCases`.
@Suite struct FolderPortTests {
  private func expect(_ found: [String: String], _ expected: [String: String]) {
    for path in Set(found.keys).union(expected.keys).sorted() where found[path] != expected[path] {
      let difference = UnifiedDiff.text(
        path: path, before: expected[path].map { Array($0.utf8) },
        after: found[path].map { Array($0.utf8) })
      Issue.record("otherwise than expected:\n\(difference)")
    }
  }

  @Test func `there are cases for all rules`() { #expect(PortCase.all.count >= 11) }

  @Test(arguments: PortCase.all)
  func `each rule changes what it is for, and nothing else`(_ port: PortCase) {
    let result = FolderPort(port.before)
    expect(result.applied(to: port.before), port.after)
    #expect(result.findings.map(\.text) == port.findings)
    #expect(result.failures.isEmpty)
  }

  @Test(arguments: PortCase.all)
  func `porting once more changes nothing`(_ port: PortCase) {
    let result = FolderPort(port.after)
    expect(result.applied(to: port.after), port.after)
    #expect(result.changes.isEmpty)
  }

  @Test(arguments: PortCase.all)
  func `a file keeps the ends of its lines`(_ port: PortCase) {
    let port = port.with(newline: "\r\n")
    let result = FolderPort(port.before)
    expect(result.applied(to: port.before), port.after)
    #expect(result.findings.map(\.text) == port.findings)
  }

  @Test(arguments: PortCase.all)
  func `findings after the changes name lines of the changed files`(_ port: PortCase) {
    let result = FolderPort(port.before)
    for (before, after) in zip(result.findings, result.findingsAfterChanges) {
      for (line, other) in zip(before.lines, after.lines) {
        let old = port.before[before.file]?.split(
          separator: "\n", omittingEmptySubsequences: false)[line - 1]
        guard let new = port.after[after.file] else { continue }
        let lines = new.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(other >= 1 && other <= lines.count)
        if lines.contains(where: { $0 == old }) { #expect(lines[other - 1] == old) }
      }
    }
  }

  @Test func `the parts of the files that no rule is for are never touched`() {
    let texts = ["A.swift": "let a = 1\r\n\tlet b = 2 // import CoreData", "B.swift": ""]
    #expect(FolderPort(texts).changes.isEmpty)
  }

  @Test func `a file that cannot be taken apart is named and left, and others are ported`() {
    let port = FolderPort([
      ("A.swift", Array("import CoreData\nlet a = \"open\n".utf8)),
      ("B.swift", Array("import CoreData\n".utf8)),
      ("C.swift", Array("import CoreData\n/* /* */\n".utf8)),
      ("D.swift", Array("import CoreData\nfunc f() {\n  g(\n}\n".utf8)),
      ("E.swift", [0x69, 0xFF, 0x0A]),
    ])
    #expect(
      port.failures.map { "\($0.path) \($0.reason)" } == [
        "A.swift line 2: a text has no end on its line", "C.swift line 2: a comment has no end",
        "D.swift line 4: a bracket closes none", "E.swift line 1: the file is not in UTF-8",
      ])
    #expect(port.changes.map(\.path) == ["B.swift"])
  }

  private static func entities(_ classes: String...) -> [Entity] {
    classes.map { name in
      var entity = Entity("\(name.split(separator: ".").last!)")
      entity.managedObjectClassName = name
      return entity
    }
  }

  @Test func `classes of a model that no file declares are listed`() {
    let port = FolderPort(
      PortCase.files(["Trip.swift": "import CoreData\nclass Trip: NSManagedObject {}\n"]),
      models: [
        .init(
          path: "Trips.xcdatamodeld",
          entities: Self.entities("Trip", "App.Place", "NSManagedObject"))
      ])
    #expect(port.findings.map(\.file) == ["Trips.xcdatamodeld"])
    #expect(port.findings[0].text.hasPrefix("Trips.xcdatamodeld: class Place: no file declares it"))
  }

  @Test func `an app that was written for Core Data is ported but for UIKit`() throws {
    let folder = Fixtures.folder.deletingLastPathComponent()
      .appending(path: "Tests/PortedAppTests/Before")
    var texts: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      texts[name] = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
    let port = FolderPort(texts)
    #expect(
      port.findings.map(\.what) == [
        "NSPersistentContainer(…)", "import UIKit", "addObserver(…queue: .main)",
      ] && port.findings.map(\.lines) == [[14], [2], [26]])
    let after = port.applied(to: texts)
    #expect(after.count == 6 && FolderPort(after).changes.isEmpty)
    let left = ["@NSManaged", "@objc", "#keyPath", "import CoreData"]
    for (path, text) in after {
      for word in left { #expect(!text.contains(word), "\(path): \(word)") }
    }
  }

  // Random edits of real sources: whatever comes of them is ported without a trap, and what was
  // ported is not changed again.
  @Test(arguments: 0..<60)
  func `random sources are ported once`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces = PortCase.all.flatMap { $0.before.sorted { $0.key < $1.key }.map(\.value) }
      .joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false)
    var texts: [String: String] = [:]
    for file in 0..<3 {
      var lines: [Substring] = []
      for _ in 0..<Int(random.next() % 40) {
        let start = Int(random.next() % UInt64(pieces.count))
        lines += pieces[start...].prefix(Int(random.next() % 4) + 1)
      }
      texts["\(file).swift"] = lines.joined(separator: "\n")
    }
    let once = FolderPort(texts)
    let after = once.applied(to: texts)
    let twice = FolderPort(after)
    for change in twice.changes {
      let difference = UnifiedDiff.text(
        path: change.path, before: change.before, after: change.after)
      Issue.record("seed \(seed): ported once more, a file changes again:\n\(difference)")
    }
    #expect(twice.failures == once.failures)
  }
}
