import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// What somebody meets who comes to a store that another process is writing.
extension Concurrency {
  /// A moment that two processes of one machine can compare, in nanoseconds.
  struct Moment {
    var nanoseconds: Int

    static var now: Moment {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Moment(nanoseconds: time.tv_sec * 1_000_000_000 + time.tv_nsec)
    }
  }

  /// Waits for what another process commits.
  final class Hearing {
    private let deadline: ContinuousClock.Instant
    private var isHeard = true
    private(set) var moments: [Moment] = []

    init(_ deadline: ContinuousClock.Instant) { self.deadline = deadline }

    /// The number to look for in the newest state; `nil` when time is up.
    func next() -> Int? {
      guard ContinuousClock.now < deadline else { return nil }
      return Concurrency.newNumber(moments.count)
    }

    /// - Parameter sum: what was found of the number.
    func add(_ sum: KeyValueSum) { if sum.count > 0 { moments.append(.now) } }
  }

  /// Opens the store as a reader, reads one entry and closes it, beside a process that writes.
  static func measureOpenings(_ run: Run, _ steps: some KeyValueSteps) throws {
    let reading = Reading(ContinuousClock.now + .seconds(run.count), readCount: 1)
    let writing = Mutex(0)
    try run.time {
      try Threads.run(2) { number in
        if number == 1 {
          // LMDB's first connection makes its locks anew, also those that a second one has just got.
          while !FileManager.default.fileExists(atPath: sign(run).path(percentEncoded: false)) {
            guard ContinuousClock.now < reading.deadline else { return }
            Threads.sleep(for: .milliseconds(1))
          }
          return try steps.openAndRead(reading, run)
        }
        let (count, _) = try write(in: run)
        writing.withLock { $0 = count }
      }
    }
    run.record("proc_open", reading.count)
    try run.expect(
      reading.sum, .expected((0..<reading.count).lazy.map(readNumber), withKeys: false),
      "what was got")
    try check(run, steps, newCount: writing.withLock { $0 })
  }

  /// The time from the beginning of a commit until another process sees it, which looks all the
  /// time: the median.
  static func measureHearing(_ run: Run, _ steps: some KeyValueSteps) throws {
    let hearing = Hearing(ContinuousClock.now + .seconds(run.count + 1))
    let starts = Mutex([Int]())
    try run.time {
      try Threads.run(2) { number in
        if number == 1 { return try steps.hear(hearing, run) }
        let (_, moments) = try write(in: run, isPaced: true)
        starts.withLock { $0 = moments }
      }
    }
    let begun = starts.withLock { $0 }
    let latencies = zip(begun, hearing.moments).map { $1.nanoseconds - $0 }.sorted()
    guard latencies.count > 10, latencies.count == begun.count else {
      throw BenchmarkError("of \(begun.count) commits \(hearing.moments.count) were heard")
    }
    let median = latencies[latencies.count / 2]
    run.record("proc_heard", latencies.count, in: .nanoseconds(median * latencies.count))
    try check(run, steps, newCount: begun.count)
  }

  private static func sign(_ run: Run) -> URL { run.url("writing") }

  private static func check(_ run: Run, _ steps: some KeyValueSteps, newCount: Int) throws {
    try run.expect(
      try steps.sum(run),
      .expected(0..<startCount) + .expected((0..<newCount).lazy.map(newNumber)),
      "what was there at the end")
  }

  /// Writes in a process of its own.
  ///
  /// - Parameter isPaced: whether it puts one entry every two milliseconds.
  /// - Returns: how many entries, and when each commit was begun, if it is paced.
  private static func write(
    in run: Run, isPaced: Bool = false
  ) throws -> (count: Int, starts: [Int]) {
    let text = try ChildProcess.output(of: [
      "writer", "\(run.count)", run.folder.path(percentEncoded: false), run.mode.rawValue,
      run.engine.rawValue, isPaced ? "paced" : "busy",
    ])
    let numbers = text.split(whereSeparator: \.isWhitespace).map { Int($0) ?? -1 }
    guard let count = numbers.first, !numbers.contains(-1) else {
      throw BenchmarkError("a writer says “\(text.prefix(100))”")
    }
    return (count, Array(numbers.dropFirst()))
  }

  /// What such a process does.
  ///
  /// - Parameter words: seconds, folder, mode, engine, whether it is paced.
  static func writeInChild(_ words: [String]) throws {
    guard words.count == 5, let count = Int(words[0]), let mode = Mode(rawValue: words[2]),
      let engine = Contender.Engine(rawValue: words[3]),
      let steps = KeyKind.bytes.engines.first(where: { $0.0 == engine })?.1
    else { throw BenchmarkError(QuireBench.usage) }
    let run = Run(
      count: count, folder: URL(filePath: words[1], directoryHint: .isDirectory), mode: mode,
      engine: engine)
    let deadline = ContinuousClock.now + .seconds(count)
    let writing =
      words[4] == "paced"
      ? Writing(deadline, batchCount: 1, pause: .milliseconds(2)) : Writing(deadline)
    writing.sign = sign(run)
    try steps.write(writing, run)
    print(writing.count)
    for start in writing.starts { print(start.nanoseconds) }
  }
}
