import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One writer that adds new keys all over the tree, and one reader of the keys that were there
/// before, for N seconds.
enum Concurrency {
  static let startCount = 100_000
  private static let batchCount = 100
  private static let readCount = 1_000

  /// What the writer is to do.
  final class Writing {
    fileprivate let deadline: ContinuousClock.Instant
    private let batchCount: Int
    /// The first index; other writers have others.
    private let start: Int
    /// How long it waits before each commit.
    private let pause: Duration
    /// A file to make before the first commit, when the store is open.
    var sign: URL?
    fileprivate(set) var count = 0
    /// When each commit that waited was begun.
    private(set) var starts: [Moment] = []

    init(
      _ deadline: ContinuousClock.Instant, batchCount: Int = Concurrency.batchCount, start: Int = 0,
      pause: Duration = .zero
    ) {
      self.deadline = deadline
      self.batchCount = batchCount
      self.start = start
      self.pause = pause
    }

    /// The numbers for one commit; `nil` when time is up.
    func nextBatch() -> [Int]? {
      guard ContinuousClock.now < deadline else { return nil }
      if let sign {
        _ = FileManager.default.createFile(atPath: sign.path(percentEncoded: false), contents: nil)
        self.sign = nil
      }
      defer { count += batchCount }
      if pause > .zero {
        Threads.sleep(for: pause)
        starts.append(.now)
      }
      return (start + count..<start + count + batchCount).map(Concurrency.newNumber)
    }
  }

  /// What the reader is to do.
  final class Reading {
    let deadline: ContinuousClock.Instant
    private let readCount: Int
    private(set) var count = 0
    private(set) var sum = KeyValueSum()

    init(_ deadline: ContinuousClock.Instant, readCount: Int = Concurrency.readCount) {
      self.deadline = deadline
      self.readCount = readCount
    }

    /// The numbers to get from one snapshot; `nil` when time is up.
    func nextReads() -> [Int]? {
      guard ContinuousClock.now < deadline else { return nil }
      defer { count += readCount }
      return (count..<count + readCount).map(Concurrency.readNumber)
    }

    func add(_ part: KeyValueSum) { sum = sum + part }
  }

  /// Runs both on threads of their own, records the two rows, and checks what was read and what is
  /// there afterwards.
  static func measure(
    _ run: Run, write: (Writing) throws -> Void, read: (Reading) throws -> Void,
    scan: () throws -> KeyValueSum
  ) throws {
    let deadline = ContinuousClock.now + .seconds(run.count)
    let (writing, reading) = (Writing(deadline), Reading(deadline))
    try run.time {
      try Threads.run(2) { try $0 == 0 ? write(writing) : read(reading) }
    }
    run.record("conc_reads", reading.count)
    run.record("conc_writes", writing.count)
    try run.expect(
      reading.sum, .expected((0..<reading.count).lazy.map(readNumber), withKeys: false),
      "what was got")
    try run.expect(
      try scan(),
      .expected(0..<startCount) + .expected((0..<writing.count).lazy.map(newNumber)),
      "what was there at the end")
  }

  // MARK: Processes

  /// The same, with readers in processes of their own.
  static func measure(_ run: Run, readers: Int, _ steps: some KeyValueSteps) throws {
    let writing = Writing(ContinuousClock.now + .seconds(run.count))
    let counts = Mutex<[Int]>([])
    try run.time {
      try Threads.run(1 + readers) { number in
        if number == 0 { return try steps.write(writing, run) }
        let text = try ChildProcess.output(of: [
          "reader", "\(run.count)", run.folder.path(percentEncoded: false), run.mode.rawValue,
          run.engine.rawValue,
        ])
        guard let count = Int(text.filter(\.isNumber)) else {
          throw BenchmarkError("a reader says “\(text)”")
        }
        counts.withLock { $0.append(count) }
      }
    }
    run.record("proc_reads_\(readers)", counts.withLock { $0.reduce(0, +) })
    run.record("proc_writes_\(readers)", writing.count)
    try run.expect(
      try steps.sum(run),
      .expected(0..<startCount) + .expected((0..<writing.count).lazy.map(newNumber)),
      "what was there at the end")
  }

  /// What such a process does.
  ///
  /// - Parameter words: seconds, folder, mode, engine.
  static func readInChild(_ words: [String]) throws {
    guard words.count == 4, let count = Int(words[0]), let mode = Mode(rawValue: words[2]),
      let engine = Contender.Engine(rawValue: words[3]),
      let steps = KeyKind.bytes.engines.first(where: { $0.0 == engine })?.1
    else { throw BenchmarkError(QuireBench.usage) }
    let run = Run(
      count: count, folder: URL(filePath: words[1], directoryHint: .isDirectory), mode: mode,
      engine: engine)
    let reading = Reading(ContinuousClock.now + .seconds(count))
    try steps.read(reading, run)
    try run.expect(
      reading.sum, .expected((0..<reading.count).lazy.map(readNumber), withKeys: false),
      "what was got")
    print(reading.count)
  }

  /// Where the indexes of a process's numbers begin that writes in turn with others.
  private static func start(ofTurns process: Int) -> Int { process << 40 }

  /// Processes that each commit one entry at a time.
  static func measureTurns(_ run: Run, processes: Int, _ steps: some KeyValueSteps) throws {
    let counts = Mutex(Array(repeating: 0, count: processes))
    try run.time {
      try Threads.run(processes) { number in
        let text = try ChildProcess.output(of: [
          "turns", "\(run.count)", run.folder.path(percentEncoded: false), run.mode.rawValue,
          run.engine.rawValue, "\(number)",
        ])
        guard let count = Int(text.filter(\.isNumber)) else {
          throw BenchmarkError("a writer says “\(text)”")
        }
        counts.withLock { $0[number] = count }
      }
    }
    let written = counts.withLock { $0 }
    run.record("proc_turns_\(processes)", written.reduce(0, +))
    var expected = KeyValueSum.expected(0..<startCount)
    for (number, count) in written.enumerated() {
      let start = start(ofTurns: number)
      expected = expected + .expected((start..<start + count).lazy.map(newNumber))
    }
    try run.expect(try steps.sum(run), expected, "what was there at the end")
  }

  /// What such a process does.
  ///
  /// - Parameter words: seconds, folder, mode, engine, number.
  static func takeTurnsInChild(_ words: [String]) throws {
    guard words.count == 5, let count = Int(words[0]), let mode = Mode(rawValue: words[2]),
      let engine = Contender.Engine(rawValue: words[3]), let number = Int(words[4]),
      let steps = KeyKind.bytes.engines.first(where: { $0.0 == engine })?.1
    else { throw BenchmarkError(QuireBench.usage) }
    let run = Run(
      count: count, folder: URL(filePath: words[1], directoryHint: .isDirectory), mode: mode,
      engine: engine)
    let writing = Writing(
      ContinuousClock.now + .seconds(count), batchCount: 1, start: start(ofTurns: number))
    try steps.writeInTurn(writing, run)
    print(writing.count)
  }

  static func readNumber(_ index: Int) -> Int {
    Int(mix(UInt64(index)) % UInt64(startCount))
  }

  /// `mix` meets no number twice; that it meets one below `startCount` does not happen.
  static func newNumber(_ index: Int) -> Int {
    Int(Int64(bitPattern: mix(UInt64(index))))
  }
}
