import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Several threads commit at once, beside checkpoints on the engine's own thread, and the disk
/// dies: what was acknowledged to any of them is there, and what is there is the beginning of one
/// sequence.
@Suite struct `Crashes under several threads` {
  private static let threadCount = 4
  private static let commitCount = Amount.of(sampled: 8, exhaustive: 40)

  private struct Point: Sendable {
    var state: DiskState
    var begun: [Int]
    var acknowledged: [Int]
  }

  private final class Progress: Sendable {
    let begun = Mutex([Int](repeating: 0, count: threadCount))
    let acknowledged = Mutex([Int](repeating: 0, count: threadCount))
    let points = Mutex<[Point]>([])

    func note(_ state: DiskState) {
      // What is acknowledged is asked for first: it may only lag behind what the disk holds.
      let acknowledged = acknowledged.withLock { $0 }
      let begun = begun.withLock { $0 }
      points.withLock {
        $0.append(Point(state: state, begun: begun, acknowledged: acknowledged))
      }
    }
  }

  /// The seed draws what the disk keeps; how the threads meet is another matter each time.
  @Test(
    arguments: [Durability.full, .ordered], 1...Amount.of(debug: 1, release: 3, exhaustive: 10))
  func `a commit acknowledged to any thread survives, with all before it`(
    durability: Durability, seed: Int
  ) async throws {
    var scenario = Scenario([])
    scenario.checkpointByteLimit = 1500 * seed
    scenario.durability = durability
    var options = scenario.options
    options.checkpointsInBackground = true
    options.cacheByteLimit = 64 * 512
    let disk = SimulatedDisk()
    let progress = Progress()
    let store = try PageStore.open(Scenario.path, options: options, in: disk)
    try store.write { transaction in
      try transaction.createRecordTree("threads")
      try transaction.createRecordTree("sequence")
    }
    try store.checkpoint()
    disk.observe { state, _ in progress.note(state) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<Self.threadCount {
        group.addTask { try Self.commit(thread, to: store, progress, isHolding: thread == 0) }
      }
      try await group.waitForAll()
    }
    disk.observe(nil)
    progress.note(disk.state)
    let points = progress.points.withLock { $0 }
    var count = 0
    for (number, point) in points.enumerated() {
      let images = CrashImages(point.state, seed: UInt64(number * 100 + seed))
      try images.visit(limit: Amount.of(sampled: 3, exhaustive: 40)) { image in
        count += 1
        let store = try PageStore.open(Scenario.path, options: options, in: SimulatedDisk(image))
        // Without a sync for each, the newest may be lost, but not some before others.
        try Self.verify(
          store, point, "moment \(number), \(image)",
          isEachThere: durability == .full || image.isComplete)
        try store.close()
        return true
      }
    }
    print(
      "crashes under threads, \(durability), seed \(seed): \(points.count) moments, \(count) images"
    )
    try store.close()
  }

  private static func commit(
    _ thread: Int, to store: PageStore, _ progress: Progress, isHolding: Bool
  ) throws {
    var held: [(snapshot: Snapshot, digest: ContentDigest)] = []
    defer { for held in held { #expect((try? ContentDigest(of: held.snapshot)) == held.digest) } }
    for number in 1...commitCount {
      let transaction = try store.beginWrite()
      let threads = try #require(try transaction.mutableRecordTree("threads"))
      let sequence = try #require(try transaction.mutableRecordTree("sequence"))
      try threads.put([UInt8(number)], for: Int64(thread))
      try sequence.put(
        [UInt8](repeating: UInt8(thread), count: 30), for: (try sequence.lastKey ?? 0) + 1)
      progress.begun.withLock { $0[thread] = number }
      try transaction.commit()
      progress.acknowledged.withLock { $0[thread] = number }
      if isHolding {
        let snapshot = try store.snapshot()
        held.append((snapshot, try ContentDigest(of: snapshot)))
      }
    }
  }

  private static func verify(
    _ store: PageStore, _ point: Point, _ what: String, isEachThere: Bool
  ) throws {
    let snapshot = try store.snapshot()
    let threads = try #require(try snapshot.recordTree("threads"))
    let sequence = try #require(try snapshot.recordTree("sequence"))
    var counts = [Int](repeating: 0, count: threadCount)
    var cursor = sequence.cursor()
    var last: Int64 = 0
    while try cursor.next() {
      #expect(try cursor.key == last + 1, "\(what)")
      last = try cursor.key
      counts[Int(try cursor.storedValue().array[0])] += 1
    }
    for thread in 0..<threadCount {
      let number = try threads.value(for: Int64(thread)).map { Int($0.array[0]) } ?? 0
      #expect(number == counts[thread], "\(what)")
      #expect(
        ((isEachThere ? point.acknowledged[thread] : 0)...point.begun[thread]).contains(number),
        "\(what): thread \(thread) has \(number)")
    }
    #expect(try store.check().isSound)
  }
}
