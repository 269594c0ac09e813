/// One writer that adds new keys all over the tree, and one reader of the keys that were there
/// before, for N seconds.
enum Concurrency {
  static let startCount = 100_000
  private static let batchCount = 100
  private static let readCount = 1_000

  /// What the writer is to do.
  final class Writing {
    fileprivate let deadline: ContinuousClock.Instant
    fileprivate(set) var count = 0
    fileprivate init(_ deadline: ContinuousClock.Instant) { self.deadline = deadline }

    /// The numbers for one commit; `nil` when time is up.
    func nextBatch() -> [Int]? {
      guard ContinuousClock.now < deadline else { return nil }
      defer { count += batchCount }
      return (count..<count + batchCount).map(Concurrency.newNumber)
    }
  }

  /// What the reader is to do.
  final class Reading {
    fileprivate let deadline: ContinuousClock.Instant
    fileprivate(set) var count = 0
    fileprivate(set) var sum = KeyValueSum()
    fileprivate init(_ deadline: ContinuousClock.Instant) { self.deadline = deadline }

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

  private static func readNumber(_ index: Int) -> Int {
    Int(mix(UInt64(index)) % UInt64(startCount))
  }

  /// `mix` meets no number twice; that it meets one below `startCount` does not happen.
  private static func newNumber(_ index: Int) -> Int {
    Int(Int64(bitPattern: mix(UInt64(index))))
  }
}
