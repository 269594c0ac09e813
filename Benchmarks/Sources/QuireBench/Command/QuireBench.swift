#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Measures Quire beside its peers.
//
//   one run       fixture in a child process → timed body → figures → check of what is on disk
//   comparison    for each workload and mode: ours, each peer's, ours, … each a run in a child
//   process
//
// A workload is a value (`Workloads/Workload.swift`) with a step for each engine. What it reads it
// must compare with what was written, for the peer as for us: a wrong answer ends the run.

@main
enum QuireBench {
  static let usage = """
    quire-bench WORKLOAD N DIRECTORY [MODE] [--peer PEER] [--leaks]
      one run; prints: workload n seconds ops_per_s bytes_on_disk peak_rss_kb
    quire-bench run [--short] [--filter NAME] [--size FACTOR] [--largest N] [--runs R]
                    [--peer PEER,...] [--json] [--directory D]
      ours and the peers' in turn; prints a table
    quire-bench publish [--docs FOLDER] [--from-results] [--check] [options of run]
      the same, kept in FOLDER/benchmarks/results.jsonl, and FOLDER/benchmarks.md written from that
    quire-bench list
    modes: full (each commit synced), ordered (not waited for), none (never synced), memory
    peers: sqlite, tuned (SQLite with 256 MB of cache), lmdb, machine (the disk alone)
    """

  static func main() {
    do {
      try run(try Arguments(Array(CommandLine.arguments.dropFirst())))
    } catch {
      StandardError.write("quire-bench: \(error)\n")
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) throws {
    guard let first = arguments.words.first, !arguments["--help"] else { return print(usage) }
    switch first {
    case "list":
      for workload in Workload.all + Series.all.flatMap(\.steps) {
        let modes = workload.modes.map(\.rawValue).joined(separator: " ")
        print("\(workload.name): \(workload.summary) (\(modes); N = \(workload.count))")
      }
    case "run":
      try compare(arguments)
    case "publish":
      try PublishCommand(arguments).run()
    case "fixture":
      let words = Array(arguments.words.dropFirst())
      try SingleRun(words, peer: arguments.text("--peer")).makeFixture()
    case "reader":
      try Concurrency.readInChild(Array(arguments.words.dropFirst()))
    case "writer":
      try Concurrency.writeInChild(Array(arguments.words.dropFirst()))
    case "turns":
      try Concurrency.takeTurnsInChild(Array(arguments.words.dropFirst()))
    case "touch":
      FreeMemory.touch()
    default:
      let run = try SingleRun(arguments.words, peer: arguments.text("--peer"))
      try arguments["--leaks"] ? run.checkForLeaks() : run.measure()
    }
  }

  private static func compare(_ arguments: Arguments) throws {
    let comparison = try Comparison(arguments)
    var report = comparison.report
    if arguments["--json"] {
      try comparison.run { show(report.json($0)) }
    } else {
      print("quire beside SQLite \(SQLiteDatabase.version) and LMDB \(LMDBEnvironment.version)\n")
      print(report.header)
      try comparison.run { show(report.line($0)) }
    }
    StandardError.write(report.summary + "\n")
  }

  /// Rows are to be seen when they are there, also through a pipe.
  static func show(_ line: String) {
    print(line)
    fflush(nil)
  }
}

/// What people are told beside the figures.
enum StandardError {
  static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { platformWrite(2, $0.baseAddress, $0.count) }
  }
}

private func platformWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, start, count)
}
