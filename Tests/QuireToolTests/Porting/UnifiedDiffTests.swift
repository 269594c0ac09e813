import Foundation
import QuireSimulation
import QuireTool
import Testing

@Suite struct UnifiedDiffTests {
  @Test func `a change has three lines around it`() {
    let before = (1...12).map { "\($0)\n" }.joined()
    let after = before.replacing("6\n", with: "six\nand\n")
    #expect(
      UnifiedDiff.text(path: "A/B.txt", before: Array(before.utf8), after: Array(after.utf8)) == """
        --- a/A/B.txt
        +++ b/A/B.txt
        @@ -3,7 +3,8 @@
         3
         4
         5
        -6
        +six
        +and
         7
         8
         9

        """)
    #expect(
      UnifiedDiff.text(path: "A", before: Array(before.utf8), after: Array(before.utf8)) == "")
  }

  @Test func `new files, files that go, and last lines without a newline are said`() {
    #expect(
      UnifiedDiff.text(path: "A", before: nil, after: Array("a".utf8))
        == "--- /dev/null\n+++ b/A\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n")
    #expect(
      UnifiedDiff.text(path: "A", before: Array("a\n".utf8), after: nil)
        == "--- a/A\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n")
  }

  /// `patch` of the system, if there is one.
  private static let patch = ["/usr/bin/patch", "/bin/patch", "/usr/local/bin/patch"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(.enabled(if: patch != nil, "needs the program patch"), arguments: 0..<25)
  func `patch makes the one file of the other`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func text() -> [String] {
      (0..<Int(random.next() % 30)).map { _ in
        "\(random.next() % 9)\(random.next() % 5 == 0 ? "\r" : "")"
      }
    }
    let before = text()
    var after = before
    for _ in 0..<Int(random.next() % 5) {
      let place = Int(random.next() % UInt64(after.count + 1))
      let end = min(after.count, place + Int(random.next() % 4))
      after.replaceSubrange(place..<end, with: text().prefix(4))
    }
    let ends = random.next() % 2 == 0 ? "\n" : ""
    let old = before.joined(separator: "\n") + (before.isEmpty ? "" : "\n")
    let new = after.joined(separator: "\n") + (after.isEmpty ? "" : ends)
    let folder = try TemporaryFolder()
    try Data(old.utf8).write(to: URL(filePath: folder.path("A.txt")))
    let difference = UnifiedDiff.text(
      path: "A.txt", before: Array(old.utf8), after: Array(new.utf8))
    #expect(difference.isEmpty == (old == new))
    if difference.isEmpty { return }
    try Data(difference.utf8).write(to: URL(filePath: folder.path("A.diff")))
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.patch))
    process.arguments = ["--binary", "-s", "-p1", "-d", folder.path, "-i", folder.path("A.diff")]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let made = (try? Data(contentsOf: URL(filePath: folder.path("A.txt")))) ?? Data()
    #expect(String(decoding: made, as: UTF8.self) == new, "seed \(seed)\n\(difference)")
  }
}
