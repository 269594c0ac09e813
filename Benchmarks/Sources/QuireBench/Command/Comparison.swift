#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// All workloads, ours and the peers' in turn, each run in a process and a folder of its own.
struct Comparison {
  private let isShort: Bool
  private let filter: String?
  private let size: Double
  private let runCount: Int
  private let folder: URL

  init(_ arguments: Arguments) throws {
    isShort = arguments["--short"]
    filter = arguments.text("--filter")
    size = try arguments.number("--size", default: 1.0)
    runCount = try arguments.number("--runs", default: isShort ? 1 : 5)
    let parent =
      arguments.text("--directory").map { URL(filePath: $0, directoryHint: .isDirectory) }
      ?? FileManager.default.temporaryDirectory
    folder = parent.appending(path: "quire-bench-\(ProcessInfo.processInfo.processIdentifier)")
  }

  /// - Parameter report: called with each row as soon as it is there.
  func run(_ report: (Row) -> Void) throws {
    try WorkFolder.make(folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    if WorkFolder.isInMemory(folder) {
      note("\(folder.path(percentEncoded: false)) has no disk behind it: name one with --directory")
    }
    for workload in Workload.all where filter.map({ workload.name.contains($0) }) ?? true {
      for mode in workload.modes { report(try measure(workload, mode)) }
    }
    note("everything read was what was written")
  }

  /// Runs in the order A B A B …, so that what disturbs the machine disturbs both.
  private func measure(_ workload: Workload, _ mode: Mode) throws -> Row {
    let count = max(10, Int(Double(isShort ? workload.shortCount : workload.count) * size))
    var row = Row(workload: workload, mode: mode, count: count)
    for _ in 0..<runCount {
      for contender in workload.contenders {
        try WorkFolder.make(folder)
        let output = try ChildProcess.output(of: [
          workload.name, "\(count)", folder.path(percentEncoded: false), mode.rawValue,
          "--peer", contender.engine.rawValue,
        ])
        guard let line = output.split(separator: "\n").last, let result = Measurement(line: line)
        else { throw BenchmarkError("\(workload.name) printed \(output)") }
        row.results[contender.engine, default: []].append(result)
      }
    }
    return row
  }

  private func note(_ text: String) {
    StandardError.write(text + "\n")
  }
}
