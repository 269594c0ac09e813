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
  /// The largest size of a series.
  private let largestSize: Int
  private let folder: URL
  /// The folder that it works in.
  let parent: URL
  /// Us and the peers.
  private let engines: [Contender.Engine]

  init(_ arguments: Arguments) throws {
    isShort = arguments["--short"]
    filter = arguments.text("--filter")
    size = try arguments.number("--size", default: 1.0)
    runCount = try arguments.number("--runs", default: isShort ? 1 : 5)
    largestSize = try arguments.number("--largest", default: isShort ? 1_000 : 1_000_000)
    parent =
      arguments.text("--directory").map { URL(filePath: $0, directoryHint: .isDirectory) }
      ?? FileManager.default.temporaryDirectory
    engines = [.quire] + (try Comparison.peers(arguments.text("--peer")))
    folder = parent.appending(path: "quire-bench-\(ProcessInfo.processInfo.processIdentifier)")
  }

  /// - Parameter names: with commas between them; `nil` means the usual ones.
  private static func peers(_ names: String?) throws -> [Contender.Engine] {
    guard let names else { return Contender.Engine.usualPeers }
    let peers = try names.split(separator: ",").map { name in
      guard let peer = Contender.Engine(rawValue: String(name)), peer != .quire else {
        throw BenchmarkError("there is no peer \(name); there are \(Contender.Engine.peerNames)")
      }
      return peer
    }
    // In the order of the columns, each once.
    return Contender.Engine.allCases.filter(peers.contains)
  }

  /// A report for what this compares.
  var report: Report { Report(engines: engines, judges: !isShort) }

  /// - Parameter report: called with each row as soon as it is there.
  func run(_ report: (Row) throws -> Void) throws {
    try WorkFolder.make(folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    if WorkFolder.isInMemory(folder) {
      note("\(folder.path(percentEncoded: false)) has no disk behind it: name one with --directory")
    }
    for workload in Workload.all where isWanted(workload) {
      // What runs for seconds runs once when only seconds are to be spent.
      let modes =
        isShort && workload.countIsSeconds ? workload.modes.prefix(1) : workload.modes[...]
      for mode in modes { try measure(workload, mode).forEach(report) }
    }
    for series in Series.all where isWanted(series) {
      for size in series.sizes where size <= largestSize {
        try measure(series, size).forEach(report)
      }
    }
    note("everything read was what was written")
  }

  private func isWanted(_ workload: Workload) -> Bool {
    guard engines.contains(where: { workload.contender($0) != nil }) else { return false }
    guard let filter else { return true }
    return workload.name.contains(filter) || workload.rows.contains { $0.name.contains(filter) }
  }

  private func isWanted(_ series: Series) -> Bool {
    guard let filter else { return true }
    return series.name.contains(filter) || series.steps.contains { $0.name.contains(filter) }
  }

  /// All steps of a series at one size, each a process of its own, in one folder an engine. What
  /// takes minutes runs once.
  private func measure(_ series: Series, _ size: Int) throws -> [Row] {
    let mode = Mode.ordered
    var rows = series.steps.map {
      Row(name: $0.name, unit: $0.unit, mode: mode, count: size, goals: $0.goals)
    }
    for _ in 0..<(size > 100_000 ? 1 : runCount) {
      for engine in engines where series.steps[0].contender(engine) != nil {
        try WorkFolder.make(folder)
        for (index, step) in series.steps.enumerated() {
          note("\(step.name), \(size) objects, \(engine.rawValue)")
          rows[index].results[engine, default: []] += try output(
            of: step, size, mode, engine)
        }
      }
    }
    return rows
  }

  /// Runs in the order A B C A B C …, so that what disturbs the machine disturbs all.
  private func measure(_ workload: Workload, _ mode: Mode) throws -> [Row] {
    let count = max(
      workload.countIsSeconds ? 1 : 10,
      Int(Double(isShort ? workload.shortCount : workload.count) * size))
    var rows = workload.rows.map {
      Row(name: $0.name, unit: workload.unit, mode: mode, count: count, goals: $0.goals)
    }
    for _ in 0..<runCount {
      for contender in engines.compactMap({ workload.contender($0) }) where contender.runs(in: mode)
      {
        let results = try measure(workload, count, mode, contender)
        for index in rows.indices {
          guard let result = results.first(where: { $0.workload == rows[index].name }) else {
            // A part of the work may be told of ours alone.
            if contender.engine != .quire { continue }
            throw BenchmarkError("\(workload.name) printed no \(rows[index].name)")
          }
          rows[index].results[contender.engine, default: []].append(result)
        }
      }
    }
    return rows
  }

  /// One run, in a process and a folder of its own.
  private func measure(
    _ workload: Workload, _ count: Int, _ mode: Mode, _ contender: Contender
  ) throws -> [Measurement] {
    try WorkFolder.make(folder)
    return try output(of: workload, count, mode, contender.engine)
  }

  private func output(
    of workload: Workload, _ count: Int, _ mode: Mode, _ engine: Contender.Engine
  ) throws -> [Measurement] {
    try ChildProcess.output(of: [
      workload.name, "\(count)", folder.path(percentEncoded: false), mode.rawValue,
      "--peer", engine.rawValue,
    ]).split(separator: "\n").compactMap { Measurement(line: $0) }
  }

  private func note(_ text: String) {
    StandardError.write(text + "\n")
  }
}
