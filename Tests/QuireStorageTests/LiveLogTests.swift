import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Logs of stores that are being written to.
@Suite struct `Live logs` {
  private static func made(
    on disk: HookedDisk, _ durability: Durability, count: Int64 = 60
  ) throws -> PageStore {
    var options = Proof.options
    options.durability = durability
    let store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 0..<count, 1)
    try store.checkpoint()
    for number in 2...4 as ClosedRange<UInt8> { try Proof.put(store, 0..<20, number) }
    return store
  }

  /// The records that count follow each other up to the commit that is said to be the last.
  private static func expectWhole(
    _ live: LiveLog, _ commits: ClosedRange<UInt64>, _ comment: Comment
  ) {
    #expect(live.findings.isEmpty, "\(comment): \(live.findings)")
    #expect(commits.contains(live.commit.rawValue), comment)
    guard let log = live.log else { return }
    let counting = log.records.filter { $0.state == .counts }.map(\.commit.rawValue)
    if let first = counting.first {
      #expect(counting == Array(first...live.commit.rawValue), comment)
    }
    #expect(log.records.allSatisfy { $0.state != .torn && $0.state != .unreached }, comment)
    #expect(log.notes.isEmpty, comment)
  }

  /// What a process does that writes: another record, several, a checkpoint, so many that the log
  /// begins at its start again, a new log, a new file.
  private static let actions: [@Sendable (PageStore, UInt8) throws -> Void] = [
    { store, number in try Proof.put(store, 0..<20, number) },
    { store, number in for _ in 0..<3 { try Proof.put(store, 0..<20, number) } },
    { store, number in
      try Proof.put(store, 0..<20, number)
      try store.checkpoint()
      for _ in 0..<12 { try Proof.put(store, 0..<60, number) }
    },
    { store, number in
      for _ in 0..<40 {
        try Proof.put(store, 0..<60, number)
        try store.checkpoint()
      }
    },
    { store, number in
      try store.removeLog()
      try Proof.put(store, 0..<20, number)
    },
    { store, number in
      try store.compact()
      try Proof.put(store, 0..<20, number)
    },
  ]

  @Test(arguments: [Durability.full, .ordered], 0..<6)
  func `a writer at any moment leaves what is shown one commit`(
    durability: Durability, action: Int
  ) throws {
    var read = 1
    while true {
      let disk = HookedDisk()
      let store = try Self.made(on: disk, durability)
      let first = try store.snapshot().commitNumber.rawValue
      disk.readInPieces(of: 512)
      let hasActed = Mutex(false)
      disk.beforeRead(read) {
        hasActed.withLock { $0 = true }
        try? Self.actions[action](store, 5)
      }
      let live = try LiveLog(of: "store", in: disk)
      disk.beforeRead(.max) {}
      let last = try store.snapshot().commitNumber.rawValue
      Self.expectWhole(live, first...last, "read \(read)")
      if !hasActed.withLock({ $0 }) { break }
      read += Amount.of(debug: 3, release: 1)
    }
    #expect(read > 10)
  }

  /// A record is read before its sync.
  @Test func `what a crash may take is not shown`() throws {
    let disk = HookedDisk()
    let store = try Self.made(on: disk, .full)
    let before = try store.snapshot().commitNumber
    let seen = Mutex<[CommitNumber?]>([])
    disk.before(.commit) {
      guard let live = try? LiveLog(of: "store", in: disk) else { return }
      let last = live.log?.records.last { $0.state == .counts }?.commit
      seen.withLock { $0 = [live.commit, last] }
    }
    try Proof.put(store, 0..<20, 5)
    #expect(seen.withLock { $0 } == [before, before])
    #expect(try LiveLog(of: "store", in: disk).commit.rawValue == before.rawValue + 1)
  }

  /// Found again and again in a log that does not go on.
  @Test func `damage is said to be damage`() throws {
    let disk = SimulatedDisk()
    let store = try Self.made(on: HookedDisk(disk), .full)
    var bytes = try #require(disk.files["store-log"])
    let second = Proof.records(bytes)[1]
    bytes[second.lowerBound + 100] ^= 1
    disk.alter { $0.put(bytes, at: "store-log") }
    let live = try LiveLog(of: "store", in: disk)
    #expect(live.findings.contains { $0.message.contains("store-log") }, "\(live.findings)")
    #expect(live.log?.records.contains { $0.state == .torn } == true)
    withExtendedLifetime(store) {}
  }

  @Test func `a log that is missing is said to be`() throws {
    let disk = SimulatedDisk()
    let store = try Self.made(on: HookedDisk(disk), .full)
    try disk.remove("store-log")
    let live = try LiveLog(of: "store", in: disk)
    #expect(live.log == nil && live.findings.count == 1, "\(live.findings)")
    withExtendedLifetime(store) {}
  }

  /// Each reading finds a record without the beginning of its predecessor, which was not there yet.
  @Test func `a log that grows while it is read is shown all the same`() throws {
    let disk = HookedDisk()
    // The log is so long that it does not grow meanwhile.
    let store = try Self.made(on: disk, .full, count: 2_000)
    let first = try store.snapshot().commitNumber.rawValue
    disk.readInPieces(of: 512)
    disk.beforeEachLogRead { offset in
      let end = Proof.records(disk.disk.files["store-log"] ?? []).last?.upperBound ?? 0
      guard offset > end, offset <= end + 512 else { return }
      for number in 5...6 as ClosedRange<UInt8> { try? Proof.put(store, 0..<20, number) }
    }
    let live = try LiveLog(of: "store", in: disk)
    disk.beforeEachLogRead(nil)
    let last = try store.snapshot().commitNumber.rawValue
    #expect(last >= first + 4, "it was read once")
    Self.expectWhole(live, first...last, "growing")
  }

  /// A store that has a log, and whose meta pages say otherwise each time they are looked at.
  @Test func `a store that never stands still is said to be too fast`() throws {
    let disk = HookedDisk()
    let store = try Self.made(on: disk, .none)
    let isBusy = Mutex(false)
    @Sendable func act() {
      // Not from the reads that it makes itself.
      let wasBusy = isBusy.withLock { isBusy in
        defer { isBusy = true }
        return isBusy
      }
      guard !wasBusy else { return }
      try? Proof.put(store, 0..<4, 9)
      try? store.checkpoint()
      isBusy.withLock { $0 = false }
      disk.beforeRead(1, act)
    }
    disk.beforeRead(1, act)
    #expect {
      try LiveLog(of: "store", in: disk)
    } throws: { error in
      if case .snapshotTooOld? = error as? StorageError { true } else { false }
    }
    disk.beforeRead(.max) {}
  }

  @Test func `a process that writes without a pause is read as it goes`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let started = try Signal()
      let writer = try ChildProcess {
        var options = PageStoreOptions()
        options.checkpointByteLimit = 256 << 10
        options.durability = .ordered
        let store = try PageStore.open(path, options: options)
        var number: UInt8 = 0
        while true {
          try Proof.put(store, 0..<40, number)
          if number == 3 { started.send(0) }
          number &+= 1
        }
      }
      _ = started.receive()
      var last: UInt64 = 0
      for _ in 0..<Amount.of(debug: 40, release: 400) {
        let live = try LiveLog(of: path)
        guard live.findings.isEmpty else { throw Violation("\(live.findings)") }
        let counting = (live.log?.records ?? []).filter { $0.state == .counts }
          .map(\.commit.rawValue)
        let commit = live.commit.rawValue
        guard counting.isEmpty || counting == Array(counting[0]...commit), commit >= last else {
          throw Violation("\(counting.last ?? 0), commit \(commit), before \(last)")
        }
        last = commit
      }
      writer.kill()
      guard last > 10 else { throw Violation("the writer did not go on") }
    }
  }

  @Test func `who may write to a store is known without keeping a turn from coming`() throws {
    let disk = SimulatedDisk()
    var options = Proof.options
    options.isShared = true
    options.turnKeepInterval = .zero
    let store = try PageStore.open("store", options: options, in: OtherProcess(disk))
    try Proof.put(store, 0..<4, 1)
    guard case .nextInTurn? = try PageStore.writer(of: "store", in: disk) else {
      Issue.record("the store is shared, and it is nobody's turn")
      return
    }
    try store.write { transaction in
      _ = try transaction.createRecordTree("other")
      guard case .process? = try PageStore.writer(of: "store", in: disk) else {
        Issue.record("it is a process's turn")
        return
      }
    }
    try store.close()
    let alone = try PageStore.open("alone", options: Proof.options, in: OtherProcess(disk))
    guard case .process? = try PageStore.writer(of: "alone", in: disk) else {
      Issue.record("a process has it")
      return
    }
    try alone.close()
    #expect(try PageStore.writer(of: "alone", in: disk) == nil)
  }
}
