import Foundation
import Testing

/// One run of a program in a process of its own, with the tool on its path.
///
/// Output goes to files, so that a program that writes much never waits for this one to read it.
final class ToolProcess {
  /// The folder with the tool that was built along with the tests.
  static let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

  private let process = Process()
  private let folder: TemporaryFolder

  /// Starts the program that the first word names, with the others as its arguments.
  ///
  /// - Parameter terminal: where output and errors go, in place of files.
  init(
    _ words: [String], in directory: String, environment: [String: String] = [:],
    input: String? = nil, terminal: PseudoTerminal? = nil
  ) throws {
    // A program that has ended reads nothing any more: that is an error, not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    folder = try TemporaryFolder()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = URL(filePath: directory)
    let inherited = ProcessInfo.processInfo.environment
    var all = inherited
    all["PATH"] = "\(Self.folder.path):\(inherited["PATH"] ?? "/usr/bin:/bin")"
    for name in ["NO_COLOR", "COLUMNS", "TERM"] { all[name] = nil }
    process.environment = all.merging(environment) { $1 }
    for name in ["input", "output", "errors"] {
      try Data((name == "input" ? input ?? "" : "").utf8)
        .write(to: URL(filePath: folder.path(name)))
    }
    process.standardInput = FileHandle(forReadingAtPath: folder.path("input"))
    process.standardOutput =
      terminal?.end ?? FileHandle(forWritingAtPath: folder.path("output"))
    process.standardError = terminal?.end ?? FileHandle(forWritingAtPath: folder.path("errors"))
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the end.
  ///
  /// - Returns: the exit code, and 128 more than its number for a signal, as shells have it.
  func wait() -> Int32 {
    process.waitUntilExit()
    let status = process.terminationStatus
    return process.terminationReason == .uncaughtSignal ? 128 + status : status
  }

  var output: String { (try? String(contentsOfFile: folder.path("output"), encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOfFile: folder.path("errors"), encoding: .utf8)) ?? "" }
}
