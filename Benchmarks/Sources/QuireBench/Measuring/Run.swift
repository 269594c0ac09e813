#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One run of one contender: what it is asked for, and what was measured.
final class Run {
  /// N of the workload's definition.
  let count: Int
  let folder: URL
  let mode: Mode
  let engine: Contender.Engine
  /// How many operations were timed; N unless the workload says otherwise.
  var operationCount: Int
  private(set) var duration = Duration.zero
  /// The peak of the resident memory in KiB at the end of the timed part.
  private(set) var peakMemory = 0
  /// What of it was spent in calls that write or wait for the disk (``DiskCalls``).
  private(set) var diskDuration = Duration.zero
  /// The operations of each row, where a workload makes several at once.
  private(set) var parts: [(name: String, operationCount: Int, duration: Duration)] = []

  init(count: Int, folder: URL, mode: Mode, engine: Contender.Engine) {
    self.count = count
    self.folder = folder
    self.mode = mode
    self.engine = engine
    operationCount = count
  }

  /// Whether the peer is SQLite with more cache than we have.
  var isTuned: Bool { engine == .tuned }

  /// Notes one of several rows; its time is that of the run when it is `nil`.
  func record(_ name: String, _ operationCount: Int, in duration: Duration? = nil) {
    parts.append((name, operationCount, duration ?? self.duration))
  }

  /// Times `body`. Several timed parts add up.
  // A call, so that a profiler can tell what is timed from what is not.
  @inline(never)
  func time<Result>(_ body: () throws -> Result) rethrows -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let diskStart = DiskCalls.duration
    let result = try body()
    duration += clock.now - start
    diskDuration += DiskCalls.duration - diskStart
    peakMemory = ProcessMemory.peak
    return result
  }

  /// Times `body`, which does ``operationCount`` operations, so many times.
  ///
  /// - Returns: the last result.
  func time<Result>(rounds: Int, _ body: () throws -> Result) rethrows -> Result {
    let result = try time {
      for _ in 1..<rounds { _ = try body() }
      return try body()
    }
    operationCount *= rounds
    return result
  }

  /// Stops the run when a result is not what was written: a fast wrong answer is no figure.
  func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
    guard found != expected else { return }
    throw BenchmarkError("\(what): found \(found), expected \(expected)")
  }

  func path(_ name: String) -> String { url(name).path(percentEncoded: false) }
  func url(_ name: String) -> URL { folder.appending(path: name) }
}

/// A line that a run prints, which any peer's program can print too.
struct Measurement: Equatable {
  var workload: String
  var count: Int
  var seconds: Double
  var operationsPerSecond: Double
  var diskBytes: Int
  var peakKilobytes: Int

  var line: String {
    "\(workload) \(count) \(seconds) \(operationsPerSecond) \(diskBytes) \(peakKilobytes)"
  }

  /// What was measured: one line, or one for each part.
  static func all(_ workload: Workload, _ run: Run, diskBytes: Int) -> [Measurement] {
    let parts =
      run.parts.isEmpty ? [(workload.name, run.operationCount, run.duration)] : run.parts
    return parts.map { name, count, duration in
      Measurement(name, operationCount: count, in: duration, run, diskBytes: diskBytes)
    }
  }

  private init(
    _ name: String, operationCount: Int, in duration: Duration, _ run: Run, diskBytes: Int
  ) {
    workload = name
    count = run.count
    seconds = duration / .seconds(1)
    operationsPerSecond = Double(operationCount) / seconds
    self.diskBytes = diskBytes
    peakKilobytes = run.peakMemory
  }

  init(
    workload: String, count: Int, seconds: Double, operationsPerSecond: Double, diskBytes: Int,
    peakKilobytes: Int
  ) {
    self.workload = workload
    self.count = count
    self.seconds = seconds
    self.operationsPerSecond = operationsPerSecond
    self.diskBytes = diskBytes
    self.peakKilobytes = peakKilobytes
  }

  /// - Returns: `nil` when the line has another form.
  init?(line: Substring) {
    let fields = line.split(whereSeparator: { $0 == " " }).map(String.init)
    guard fields.count == 6, let count = Int(fields[1]), let seconds = Double(fields[2]),
      let rate = Double(fields[3]), let disk = Int(fields[4]), let peak = Int(fields[5])
    else { return nil }
    workload = fields[0]
    self.count = count
    self.seconds = seconds
    operationsPerSecond = rate
    diskBytes = disk
    peakKilobytes = peak
  }
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
