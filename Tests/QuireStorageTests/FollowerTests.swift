import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Readers of a store that another process writes.
@Suite struct Followers {
  /// A store that is written to, and the same as another process has it.
  private struct Pair {
    let disk = HookedDisk()
    let other: OtherProcess
    let writer: PageStore

    init(_ durability: Durability = .full) throws {
      other = OtherProcess(disk)
      var options = Proof.options
      options.durability = durability
      options.imageByteLimit = 1024
      writer = try PageStore.open("store", options: options, in: disk)
    }

    func reader(cacheByteLimit: Int = 64 << 20) throws -> PageStore {
      var options = Proof.options
      options.isReadOnly = true
      options.cacheByteLimit = cacheByteLimit
      return try PageStore.open("store", options: options, in: other)
    }
  }

  private static func values(_ store: PageStore) throws -> [UInt8] {
    try store.read { try Proof.values($0) }
  }

  @Test(arguments: [Durability.full, .ordered, .none])
  func `a reader sees each commit once it has returned`(durability: Durability) throws {
    let pair = try Pair(durability)
    let reader = try pair.reader()
    var number: UInt8 = 0
    func commit() throws {
      number += 1
      try Proof.put(pair.writer, 0..<60, number)
      #expect(try Set(Self.values(reader)) == [number])
      #expect(try reader.snapshot().commitNumber == pair.writer.snapshot().commitNumber)
    }
    for _ in 0..<3 {
      for _ in 0..<3 { try commit() }
      try pair.writer.checkpoint()
      try commit()
      try pair.writer.removeLog()
      #expect(try Set(Self.values(reader)) == [number])
      for _ in 0..<3 { try commit() }
      try pair.writer.compact()
      #expect(try Set(Self.values(reader)) == [number])
      for _ in 0..<3 { try commit() }
    }
    #expect(try reader.check().isSound)
    try pair.writer.close()
    #expect(try Set(Self.values(reader)) == [number])
    try reader.close()
  }

  @Test func `a reader takes nothing in again that is still right`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<2_000, 1)
    try pair.writer.checkpoint()
    let reader = try pair.reader()
    _ = try Self.values(reader)
    for number in 2...4 as ClosedRange<UInt8> {
      try Proof.put(pair.writer, 0..<2, number)
      // The next one has gone beyond what the reader has come to.
      try pair.writer.checkpoint()
      if number == 3 { try Proof.put(pair.writer, 1_000..<1_001, number) }
      let before = pair.other.readCount
      let values = try Self.values(reader)
      #expect(values[0] == number && values[1_999] == 1)
      #expect(pair.other.readCount - before < 60)
    }
  }

  /// A record is read before its sync.
  @Test func `what a crash may take is not shown`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<4, 1)
    let reader = try pair.reader()
    let seen = Mutex<[UInt8]>([])
    pair.disk.before(.commit) {
      let values = try? Self.values(reader)
      seen.withLock { $0 = values ?? [] }
    }
    try Proof.put(pair.writer, 0..<4, 2)
    #expect(seen.withLock { $0 } == [1, 1, 1, 1])
    #expect(try Self.values(reader) == [2, 2, 2, 2])
  }

  @Test func `a snapshot that is held is one commit, or too old`() throws {
    for cacheByteLimit in [0, 64 << 20] {
      let pair = try Pair()
      try Proof.put(pair.writer, 0..<600, 1)
      try pair.writer.checkpoint()
      let reader = try pair.reader(cacheByteLimit: cacheByteLimit)
      let unread = try reader.snapshot()
      let read = try pair.reader(cacheByteLimit: cacheByteLimit).snapshot()
      #expect(try Set(Proof.values(read)) == [1])
      try Proof.put(pair.writer, 0..<600, 2)
      // Its pages are in the file.
      #expect(try Set(Proof.values(unread)) == [1])
      let unreadByNow = try reader.snapshot()
      try Proof.put(pair.writer, 0..<600, 3)
      try pair.writer.checkpoint()
      #expect(try Set(Self.values(reader)) == [3])
      if cacheByteLimit > 0 {
        // The log changes what is in memory.
        #expect(try Set(Proof.values(unreadByNow)) == [2])
        #expect(try Set(Proof.values(read)) == [1])
      } else {
        for snapshot in [unreadByNow, read] {
          #expect(throws: StorageError.snapshotTooOld(tries: 1)) { try Proof.values(snapshot) }
        }
      }
    }
  }

  @Test func `what a snapshot has read stays its own when the newest one lets go of it`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<600, 1)
    try pair.writer.checkpoint()
    let reader = try pair.reader()
    let first = try reader.snapshot()
    #expect(try Set(Proof.values(first)) == [1])
    try Proof.put(pair.writer, 0..<600, 2)
    let second = try reader.snapshot()
    #expect(try Set(Proof.values(second)) == [2])
    // Pages that go around the log, in the places of such as are free by now.
    try Proof.build(pair.writer, "large", 3)
    try pair.writer.checkpoint()
    for _ in 0..<2 {
      let newest = try reader.snapshot()
      #expect(try Set(Proof.values(newest)) == [2])
      #expect(try Set(Proof.values(newest, in: "large")) == [3])
      #expect(try Set(Proof.values(first)) == [1])
      #expect(try Set(Proof.values(second)) == [2])
      try pair.writer.write { try $0.dropTree("large") }
      try Proof.build(pair.writer, "large", 3)
      try pair.writer.checkpoint()
    }
    #expect(try reader.check().isSound)
  }

  /// What a dead process had not synced is shown while nobody writes; the next writer is about to
  /// recover it, and does not say so yet.
  @Test func `a reader does not go back while a log is recovered`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<4, 1)
    let files = Mutex<[String: FileContent]>([:])
    pair.disk.before(.commit) {
      let now = pair.disk.disk.state.files
      files.withLock { $0 = now }
    }
    try Proof.put(pair.writer, 0..<4, 2)
    let disk = HookedDisk(SimulatedDisk(files.withLock { $0.mapValues(\.bytes) }))
    var options = Proof.options
    options.isReadOnly = true
    let reader = try PageStore.open("store", options: options, in: OtherProcess(disk))
    #expect(try Self.values(reader) == [2, 2, 2, 2])
    let seen = Mutex<[[UInt8]]>([])
    for reason in [SyncReason.recoveredLog, .logFolder, .checkpointPages, .checkpointMeta] {
      disk.before(reason) {
        let values = (try? Self.values(reader)) ?? []
        seen.withLock { $0.append(values) }
      }
    }
    let writer = try PageStore.open("store", options: Proof.options, in: disk)
    #expect(seen.withLock { $0.count } >= 3)
    #expect(seen.withLock { $0.allSatisfy { $0 == [2, 2, 2, 2] } })
    try Proof.put(writer, 0..<4, 3)
    #expect(try Self.values(reader) == [3, 3, 3, 3])
  }

  @Test func `damage is damage, whether somebody writes or not`() throws {
    for isBeingWritten in [true, false] {
      let pair = try Pair()
      try Proof.put(pair.writer, 0..<600, 1)
      try pair.writer.checkpoint()
      try Proof.put(pair.writer, 0..<1, 2)
      if !isBeingWritten { try pair.writer.close() }
      let reader = try pair.reader(cacheByteLimit: 0)
      pair.disk.disk.alter { $0.spoil("store", at: 90 * 512 + 200) }
      do {
        _ = try Self.values(reader)
        Issue.record("it is read")
      } catch {
        guard case StorageError.damaged(let page, _) = error else { throw error }
        #expect(page.rawValue == 90)
      }
      #expect(try reader.check().findings.contains { $0.page == PageID(rawValue: 90) })
    }
  }

  @Test func `a store that another one replaces, or an earlier state, is opened again`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<6, 1)
    try pair.writer.backUp(to: "backup", in: pair.disk)
    try Proof.put(pair.writer, 0..<6, 2)
    let reader = try pair.reader()
    let held = try reader.snapshot()
    try pair.writer.close()
    let backup = try PageStore.open("backup", options: Proof.options, in: pair.disk)
    try backup.restore(to: "store", in: pair.disk)
    #expect(throws: StorageError.replaced(path: "store")) { try reader.snapshot() }
    #expect(try Proof.values(held) == [2, 2, 2, 2, 2, 2])
    try reader.close()
    let again = try pair.reader()
    #expect(try Self.values(again) == [1, 1, 1, 1, 1, 1])
    try backup.replace("store", identity: StoreIdentity(high: 5, low: 5), in: pair.disk)
    #expect(throws: StorageError.replaced(path: "store")) { try again.snapshot() }
    #expect("\(StorageError.replaced(path: "store"))".contains("open it again"))
  }

  @Test func `a store that goes is shown as it was`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<6, 1)
    try pair.writer.close()
    let reader = try pair.reader()
    try PageStore.destroy("store", isForced: false, in: pair.disk)
    #expect(try Self.values(reader) == [1, 1, 1, 1, 1, 1])
  }

  @Test func `a reader writes nothing and keeps nobody out`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<6, 1)
    try pair.writer.close()
    let reader = try pair.reader()
    let count = pair.disk.disk.operationCount
    _ = try Self.values(reader)
    #expect(pair.disk.disk.operationCount == count)
    let writer = try PageStore.open("store", options: Proof.options, in: pair.disk)
    try Proof.put(writer, 0..<6, 2)
    #expect(try Self.values(reader) == [2, 2, 2, 2, 2, 2])
    #expect(throws: StorageError.readOnly) { try reader.beginWrite() }
    try reader.close()
  }

  @Test(arguments: [Scenario.scripted, .upgrading] + Scenario.special)
  func `each state that a reader is shown is one that was there`(scenario: Scenario) throws {
    for seed in 1...Amount.of(debug: 6, release: 100, exhaustive: 2_000) as ClosedRange<UInt64> {
      try FollowedRun(scenario, seed: seed).play()
    }
  }

  @Test func `whatever is done to a store, a reader is shown a state of it`() throws {
    var looks = (count: 0, later: 0, refused: 0)
    for seed in Seeds.upTo(Amount.of(debug: 60, release: 2_000, exhaustive: 50_000)) {
      var scenario = Scenario.random(seed: seed)
      scenario.durability = [.full, .full, .ordered, .none][Int(seed % 4)]
      let run = try FollowedRun(scenario, seed: seed)
      do {
        try run.play()
      } catch {
        Issue.record("\(error)\n\(scenario)")
        return
      }
      looks.count += run.looks.count
      looks.later += run.looks.later
      looks.refused += run.looks.refused
    }
    print(
      "followers: \(looks.count) states shown, \(looks.later) later ones, \(looks.refused) too old")
    #expect(looks.count > 10 * looks.refused)
  }
}
