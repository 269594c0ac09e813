import Foundation
import QuireTool
import Testing

@Suite struct OddFileTests {
  // The engine refused a named pipe; then the tool opened it once more, to see whether it is a
  // SQLite file, and waited for ever.
  @Test(arguments: ["check", "stat", "dump"])
  func `a named pipe is refused, and nobody waits for it`(_ command: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("pipe")
    let make = Process()
    make.executableURL = URL(filePath: "/usr/bin/env")
    make.arguments = ["mkfifo", path]
    try make.run()
    make.waitUntilExit()
    let run = ToolRun(command, path)
    #expect(run.code == .bad)
    #expect(run.errors.contains("\(path) is not a Quire store: it is not a file"))
  }
}
