#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One workload in this process: `quire-bench WORKLOAD N DIRECTORY [MODE]`.
struct SingleRun {
  let workload: Workload
  let count: Int
  let folder: URL
  let mode: Mode
  let contender: Contender

  /// - Parameter words: workload, N, directory and, unless the first one is meant, mode.
  init(_ words: [String], peer: String?) throws {
    guard words.count == 3 || words.count == 4 else { throw BenchmarkError(QuireBench.usage) }
    guard let workload = Workload.named(words[0]) else {
      let names = Workload.all.map(\.name).joined(separator: " ")
      throw BenchmarkError("there is no workload \(words[0]); there are \(names)")
    }
    guard let count = Int(words[1]), count > 0 else {
      throw BenchmarkError("N is a number above 0, not \(words[1])")
    }
    let mode = words.count == 4 ? Mode(rawValue: words[3]) : workload.modes.first
    guard let mode, mode == .ordered || workload.modes.contains(mode) else {
      throw BenchmarkError(
        "\(workload.name) runs with \(workload.modes.map(\.rawValue).joined(separator: ", "))")
    }
    let engine =
      peer == nil ? workload.contenders.first?.engine : Contender.Engine(rawValue: peer ?? "")
    guard let contender = engine.flatMap({ workload.contender($0) }), contender.runs(in: mode)
    else { throw BenchmarkError("\(workload.name) has no peer \(peer ?? "") in mode \(mode)") }
    self.workload = workload
    self.count = count
    folder = URL(filePath: words[2], directoryHint: .isDirectory)
    self.mode = mode
    self.contender = contender
  }

  /// Runs everything and prints the line, or the lines.
  func measure() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if contender.fixture != nil, mode != .memory { try makeFixtureInChild() }
    try FreeMemory.bringBack()
    let run = newRun(count)
    try contender.body(run)
    let diskBytes = try mode == .memory ? 0 : WorkFolder.allocatedByteCount(of: folder)
    for line in Measurement.all(workload, run, diskBytes: diskBytes) { print(line.line) }
    try contender.verify?(run)
  }

  /// In memory a body makes its own fixture, and the memory for that counts.
  func makeFixture() throws {
    try contender.fixture?(newRun(count))
  }

  private func newRun(_ count: Int) -> Run {
    Run(count: count, folder: folder, mode: mode, engine: contender.engine)
  }

  private func makeFixtureInChild() throws {
    _ = try ChildProcess.output(of: [
      "fixture", workload.name, "\(count)", folder.path(percentEncoded: false), mode.rawValue,
      "--peer", contender.engine.rawValue,
    ])
  }

  /// Whether memory stays where it is after as many runs again: `--leaks`.
  ///
  /// - Throws: when the resident memory grew by more than a tenth of a KiB each time.
  func checkForLeaks() throws {
    guard contender.fixture == nil else {
      throw BenchmarkError("--leaks is for workloads without fixture: stack_create")
    }
    let half = max(count / 2, 1)
    try contender.body(newRun(half))
    let before = ProcessMemory.resident
    try contender.body(newRun(half))
    let after = ProcessMemory.resident
    print("\(workload.name)_leaks \(count) resident_kb \(before) after_second_half \(after)")
    guard after - before <= max(half / 10, 64) else {
      throw BenchmarkError("the second \(half) took \(after - before) KiB that were not given back")
    }
  }
}
