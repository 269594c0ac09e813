import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// One writer, eight readers, and somebody who calls for checkpoints, on threads of their own.
///
/// Before each commit the writer says what the commit will hold, as a sum over its entries; readers
/// add up what their snapshots show, at once and again when many commits have passed. A second or
/// two long, or as many as `QUIRE_SECONDS` says; `docs/testing.md` says how to run it under the
/// thread sanitizer.
@Suite struct `Concurrent readers against the writer's sums` {
  private static let duration =
    environmentValue("QUIRE_SECONDS").flatMap(Int.init).map { .seconds($0) }
    ?? Amount.of(debug: Duration.milliseconds(300), release: .seconds(2))

  enum Place: CaseIterable, Sendable {
    case memory, files
    /// Files on a disk whose syncs take as long as some commits, and no memory for anything.
    case slowFiles
  }

  @Test(arguments: Place.allCases)
  func `every snapshot adds up, however late it is read`(place: Place) throws {
    let store: PageStore
    switch place {
    case .memory: store = .inMemory(pageSize: 512)
    case .files:
      var options = PageStoreOptions()
      options.pageSize = 512
      options.cacheByteLimit = 64 << 10
      options.checkpointByteLimit = 256 << 10
      store = try .open("store", options: options, in: MemoryFileSystem())
    case .slowFiles:
      var options = PageStoreOptions()
      options.pageSize = 512
      options.cacheByteLimit = 0
      options.checkpointByteLimit = 0
      options.transactionByteLimit = 0
      options.retainedByteLimit = 0
      store = try .open(
        "store", options: options,
        in: SlowDisk(MemoryFileSystem(), recordCount: 5) { $0 != .commit })
    }
    let first = try store.snapshot()
    let match = Match(store, end: .now + Self.duration, mayExpire: place == .slowFiles)
    let readers = (0..<8).map { number in { @Sendable in match.read(number) } }
    Threads.run([{ match.write() }, { match.checkpoint() }] + readers)
    #expect(match.failures.isEmpty, "\(match.failures)")
    let counts = match.counts
    print("concurrent model, \(place): \(counts)")
    #expect(counts.commits >= Match.fewestCommits && counts.verified > 0)
    // Past so many commits, one that was taken before all of them.
    #expect(try match.isShown(first) == (place != .slowFiles))
    #expect(try store.check().isSound)
    try store.close()
  }
}

/// The store that everybody is at, and what each commit of it should hold.
private final class Match: Sendable {
  struct Sum: Hashable, Sendable {
    var count = 0
    var value: UInt64 = 0
  }

  struct Counts: CustomStringConvertible {
    var commits = 0
    var verified = 0
    var verifiedLate = 0
    var checkpoints = 0
    var expired = 0

    var description: String {
      "\(commits) commits, \(verified) snapshots verified at once, \(verifiedLate) late, "
        + "\(expired) expired, \(checkpoints) checkpoints"
    }
  }

  private struct State {
    /// What the trees hold after each commit.
    var sums: [CommitNumber: [Sum]] = [:]
    var counts = Counts()
    var failures: [String] = []
  }

  private let store: PageStore
  private let end: ContinuousClock.Instant
  /// Whether snapshots may expire, which they say then rather than show anything.
  private let mayExpire: Bool
  private let state = Mutex(State())
  // Apart from the state, which nine threads would otherwise wait for after each snapshot.
  private let commitCount = Atomic(0)
  private let hasFailed = Atomic(false)

  /// A busy machine takes longer for these than the test is meant to.
  static let fewestCommits = 20

  init(_ store: PageStore, end: ContinuousClock.Instant, mayExpire: Bool) {
    self.store = store
    self.mayExpire = mayExpire
    self.end = end
    state.withLock { $0.sums[store.statistics.commitNumber] = [Sum(), Sum()] }
  }

  var counts: Counts {
    var counts = state.withLock { $0.counts }
    counts.commits = commitCount.load(ordering: .relaxed)
    return counts
  }
  var failures: [String] { state.withLock { $0.failures } }

  private var isOver: Bool {
    hasFailed.load(ordering: .relaxed)
      || ContinuousClock.now >= end
        && commitCount.load(ordering: .relaxed) >= Match.fewestCommits
  }

  private func attempt(_ who: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      state.withLock { $0.failures.append("\(who): \(error)") }
      hasFailed.store(true, ordering: .relaxed)
    }
  }

  private struct Wrong: Error, CustomStringConvertible {
    var description: String
  }

  // MARK: Writing

  func write() {
    attempt("the writer") {
      var generator = SeededGenerator(seed: 8)
      var oracle = [TreeOracle(.record), TreeOracle(.index)]
      var sums = [Sum(), Sum()]
      let keys = KeyUniverse.of(.random, limit: store.keyByteLimit)
      while !isOver {
        let transaction = try store.beginWrite()
        let before = (oracle, sums)
        let records =
          try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
        let index =
          try transaction.mutableIndexTree("index") ?? transaction.createIndexTree("index")
        for _ in 0...generator.below(30) {
          let tree = generator.below(2)
          let key = generator.below(400)
          if generator.below(3) == 0 {
            oracle[tree].remove(key, subtractingFrom: &sums[tree], keys)
            _ = try tree == 0 ? records.remove(keys.numbers[key]) : index.remove(keys.bytes(key))
          } else {
            let byteCount = generator.below(30) == 0 ? generator.below(2000) : generator.below(40)
            let entry = TreeOracle.Entry(
              key: key, byteCount: byteCount, fill: generator.below(ModelValue.fillLimit))
            oracle[tree].remove(key, subtractingFrom: &sums[tree], keys)
            oracle[tree].put(entry)
            sums[tree].add(entry, oracle[tree].kind, keys)
            _ =
              try tree == 0
              ? records.put(entry.value, for: keys.numbers[key])
              : index.put(entry.value, for: keys.bytes(key))
          }
        }
        if generator.below(10) == 0 {
          transaction.abort()
          (oracle, sums) = before
          continue
        }
        state.withLock { $0.sums[transaction.commitNumber] = sums }
        try transaction.commit()
        commitCount.add(1, ordering: .relaxed)
      }
    }
  }

  func checkpoint() {
    attempt("the checkpoint") {
      while !isOver {
        try store.checkpoint()
        state.withLock { $0.counts.checkpoints += 1 }
        // Others are to get through the turnstile as well.
        for _ in 0..<20 where !isOver { _ = try store.check().isSound }
      }
    }
  }

  // MARK: Reading

  func read(_ number: Int) {
    attempt("reader \(number)") {
      var generator = SeededGenerator(seed: UInt64(number))
      var held: [Snapshot] = []
      var (verified, late, expired) = (0, 0, 0)
      while !isOver {
        let snapshot = try store.snapshot()
        if try isShown(snapshot) { verified += 1 } else { expired += 1 }
        if generator.below(4) == 0 { held.append(snapshot) }
        if held.count > 6 {
          let shown = try isShown(held.remove(at: generator.below(held.count)))
          if shown { late += 1 } else { expired += 1 }
        }
      }
      for snapshot in held {
        if try isShown(snapshot) { late += 1 } else { expired += 1 }
      }
      state.withLock { state in
        state.counts.verified += verified
        state.counts.verifiedLate += late
        state.counts.expired += expired
      }
    }
  }

  /// Verifies a snapshot, unless it has expired.
  func isShown(_ snapshot: Snapshot) throws -> Bool {
    do {
      try verify(snapshot)
      return true
    } catch StorageError.snapshotExpired where mayExpire {
      return false
    }
  }

  private func verify(_ snapshot: Snapshot) throws {
    var found = [Sum(), Sum()]
    if let tree = try snapshot.recordTree("records") {
      var cursor = tree.cursor()
      while try cursor.next() {
        let key = try cursor.key
        found[0].add(withUnsafeBytes(of: key) { Sum.hash($0) }, try cursor.valueBytes)
      }
      withExtendedLifetime(cursor) {}
      guard tree.count == found[0].count else { throw Wrong(description: "a wrong count") }
    }
    if let tree = try snapshot.indexTree("index") {
      var cursor = tree.cursor()
      // The other way round.
      while try cursor.previous() { found[1].add(Sum.hash(try cursor.key), try cursor.valueBytes) }
      withExtendedLifetime(cursor) {}
      guard tree.count == found[1].count else { throw Wrong(description: "a wrong count") }
    }
    // A commit of nothing takes the place of one whose pages went around the log and that was given
    // up: the content is that of the one before.
    let expected = state.withLock { $0.sums[snapshot.contentCommit] }
    guard expected == found else {
      throw Wrong(
        description: "commit \(snapshot.contentCommit) shows \(found), not \(expected ?? [])")
    }
  }
}

extension Match.Sum {
  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3.hash(bytes, seed: 1) }

  mutating func add(_ key: UInt64, _ value: UnsafeRawBufferPointer) {
    count += 1
    self.value &+= key &* 31 ^ XXH3.hash(value, seed: key)
  }

  mutating func add(_ entry: TreeOracle.Entry, _ kind: TreeKind, _ keys: KeyUniverse) {
    add(Match.Sum.hash(of: entry.key, kind, keys), entry.value)
  }

  mutating func subtract(_ entry: TreeOracle.Entry, _ kind: TreeKind, _ keys: KeyUniverse) {
    var one = Match.Sum()
    one.add(entry, kind, keys)
    count -= 1
    value &-= one.value
  }

  private static func hash(of key: Int, _ kind: TreeKind, _ keys: KeyUniverse) -> UInt64 {
    switch kind {
    case .record: withUnsafeBytes(of: keys.numbers[key]) { hash($0) }
    case .index: hash(keys.bytes(key))
    }
  }
}

extension TreeOracle {
  fileprivate mutating func remove(
    _ key: Int, subtractingFrom sum: inout Match.Sum, _ keys: KeyUniverse
  ) {
    guard let entry = entry(for: key) else { return }
    sum.subtract(entry, kind, keys)
    remove(key)
  }
}
