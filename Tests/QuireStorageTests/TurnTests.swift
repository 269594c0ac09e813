import QuireSimulation
import QuireStorage
import Testing

/// Processes that write a store in turn.
@Suite struct Turns {
  private let disk = SimulatedDisk()

  private func opened(
    _ number: UInt64, _ durability: Durability = .full, isShared: Bool = true
  ) throws -> PageStore {
    var options = Proof.options
    options.isShared = isShared
    options.durability = durability
    options.turnWaitLimit = .zero
    options.turnKeepInterval = .zero
    return try PageStore.open("store", options: options, in: OtherProcess(disk, number: number))
  }

  /// The first byte of each value.
  private static func values(_ reader: some TreeReader) throws -> [UInt8] {
    guard var cursor = try reader.recordTree("records")?.cursor() else { return [] }
    var values: [UInt8] = []
    while try cursor.next() { values.append(try cursor.valueBytes[0]) }
    return values
  }

  @Test(arguments: [Durability.full, .ordered, .none])
  func `each sees what the other has committed`(durability: Durability) throws {
    let stores = [try opened(1, durability), try opened(2, durability)]
    for number: UInt8 in 1...60 {
      let store = stores[Int(number) % 2]
      try store.write { transaction in
        if number > 1 {
          #expect(try Set(Self.values(transaction)) == [number - 1])
        }
        let tree =
          try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
        for key in 0..<60 { try tree.put([UInt8](repeating: number, count: 60), for: Int64(key)) }
      }
      #expect(try Set(stores[0].read { try Proof.values($0) }) == [number])
      #expect(try Set(stores[1].read { try Proof.values($0) }) == [number])
      if number % 13 == 0 { try store.checkpoint() }
      if number % 17 == 0 { try store.removeLog() }
      if number % 23 == 0 { try store.compact() }
    }
    try stores[0].close()
    #expect(try stores[1].check().isSound)
    try stores[1].close()
    #expect(try disk.paths(beginningWith: "") == ["store"])
  }

  @Test func `a turn is one process's alone`() throws {
    let (one, other) = (try opened(1), try opened(2))
    try Proof.put(one, 0..<6, 1)
    let transaction = try one.beginWrite()
    let error = #expect(throws: StorageError.self) { try other.beginWrite().abort() }
    if case .locked(let owner) = error {
      #expect(owner.processName.hasSuffix(" 1"))
    } else {
      Issue.record("two processes write at once: \(String(describing: error))")
    }
    transaction.abort()
    try Proof.put(other, 0..<6, 2)
  }

  @Test func `a store stays shared`() throws {
    let alone = try opened(1, isShared: false)
    try Proof.put(alone, 0..<6, 1)
    #expect(throws: StorageError.self) { try opened(2) }
    try alone.close()
    let (one, other) = (try opened(1), try opened(2, isShared: false))
    try Proof.put(other, 0..<6, 2)
    try Proof.put(one, 0..<6, 3)
    try other.compact()
    let third = try opened(3, isShared: false)
    try Proof.put(third, 0..<6, 4)
    #expect(try one.read { try Proof.values($0) } == [4, 4, 4, 4, 4, 4])
  }

  @Test func `a store that goes, or is replaced, is no store for a turn`() throws {
    let (one, other) = (try opened(1), try opened(2))
    try Proof.put(one, 0..<6, 1)
    try one.backUp(to: "backup", in: disk)
    try Proof.put(other, 0..<6, 2)
    #expect(try one.read { try Proof.values($0) } == [2, 2, 2, 2, 2, 2])
    var options = PageStoreOptions()
    options.isReadOnly = true
    let backup = try PageStore.open("backup", options: options, in: disk)
    try backup.restore(to: "store", in: disk)
    // An earlier state: whoever has written the later one is told.
    #expect(throws: StorageError.replaced(path: "store")) { try other.beginWrite().abort() }
    #expect(throws: StorageError.replaced(path: "store")) { try one.beginWrite().abort() }
    let third = try opened(3, isShared: false)
    #expect(try third.read { try Proof.values($0) } == [1, 1, 1, 1, 1, 1])
    try Proof.put(third, 0..<6, 3)
    try third.close()
    let fourth = try opened(4)
    try PageStore.destroy("store", isForced: false, in: disk)
    #expect(throws: StorageError.nameLost(path: "store")) { try fourth.beginWrite().abort() }
    #expect(try fourth.read { try Proof.values($0) } == [3, 3, 3, 3, 3, 3])
  }

  @Test(arguments: [Durability.full, .ordered])
  func `whoever dies while it opens a store, the others go on`(durability: Durability) throws {
    var options = Proof.options
    options.isShared = true
    options.durability = durability
    options.turnWaitLimit = .zero
    options.turnKeepInterval = .zero
    var count = 0
    var isWhole = false
    while !isWhole {
      let disk = SimulatedDisk()
      let one = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 1))
      for number: UInt8 in 1...5 { try Proof.put(one, 0..<6, number) }
      let process = OtherProcess(disk, number: 2)
      process.die(after: count)
      let other = try? PageStore.open("store", options: options, in: process)
      isWhole = other != nil
      #expect(try Set(one.read { try Proof.values($0) }) == [5])
      try Proof.put(one, 0..<6, 6)
      let third = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 3))
      #expect(try Set(third.read { try Proof.values($0) }) == [6], "after \(count) changes")
      #expect(try third.check().isSound)
      count += 1
    }
    #expect(count > 6)
  }

  /// Each operation of a process fails once; then another process has its turn, and the first one
  /// again. Most pages of what is built and given up go around the log.
  @Test(arguments: SimulatedDisk.Fault.allCases, [Durability.full, .ordered])
  func `whatever fails in a turn, the others go on`(
    fault: SimulatedDisk.Fault, durability: Durability
  ) throws {
    var options = Proof.options
    options.isShared = true
    options.durability = durability
    options.turnWaitLimit = .zero
    options.turnKeepInterval = .zero
    options.transactionByteLimit = 24 * 512
    options.reserveByteLimit = 0
    var (position, poisoned, isPast) = (0, 0, false)
    let pace = Amount.of(debug: 3, release: 1)
    while !isPast {
      let disk = SimulatedDisk()
      let one = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 1))
      let other = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 2))
      try Proof.put(one, 0..<60, 1)
      let start = disk.operationCount
      disk.fail(at: start + position + 1, with: fault)
      var (returned, possible): (UInt8, Set<UInt8>) = (1, [1])
      func step(_ number: UInt8, _ body: () throws -> Void) throws {
        possible.insert(number)
        do {
          try body()
          (returned, possible) = (number, [number])
        } catch let error as StorageError {
          if error == .closed { throw error }
        }
      }
      try step(2) { try Proof.put(one, 0..<60, 2) }
      do {
        let transaction = try one.beginWrite()
        defer { transaction.abort() }
        let tree = try transaction.createRecordTree("given up")
        for key in 0..<200 as Range<Int64> {
          try tree.put([UInt8](repeating: 9, count: 200), for: key)
        }
      } catch {}
      try step(3) {
        try one.write { transaction in
          let large = try transaction.createRecordTree("large")
          for key in 0..<200 as Range<Int64> {
            try large.put([UInt8](repeating: 3, count: 200), for: key)
          }
          let tree = try #require(try transaction.mutableRecordTree("records"))
          for key in 0..<60 as Range<Int64> {
            try tree.put([UInt8](repeating: 3, count: 60), for: key)
          }
        }
      }
      do { try one.checkpoint() } catch {}
      try step(4) { try Proof.put(one, 0..<60, 4) }
      isPast = disk.operationCount < start + position + 1
      disk.heal()
      let found = try Set(other.read { try Proof.values($0) })
      #expect(found.count == 1 && found.isSubset(of: possible.union([returned])), "\(position)")
      try Proof.put(other, 0..<60, 5)
      #expect(try other.check().isSound, "operation \(position)")
      do {
        try Proof.put(one, 0..<60, 6)
        #expect(try Set(other.read { try Proof.values($0) }) == [6], "operation \(position)")
      } catch StorageError.poisoned {
        poisoned += 1
        #expect(try Set(one.read { try Proof.values($0) }) == [5], "operation \(position)")
      }
      position += pace
    }
    #expect(position > 40)
    // A full disk is no reason, but where a sync or the write of a meta page meets it.
    if fault.isNoSpace { #expect(poisoned < position / pace / 20) }
    print("turns, \(fault), \(durability): \(position) operations, \(poisoned) poisoned")
  }

  @Test func `what one reader has seen, another one sees`() throws {
    var options = Proof.options
    options.isShared = true
    options.turnKeepInterval = .zero
    let process = OtherProcess(disk, number: 1)
    let writer = try PageStore.open("store", options: options, in: process)
    try Proof.put(writer, 0..<6, 1)
    options.isReadOnly = true
    let reader = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 2))
    // Called on this very thread.
    nonisolated(unsafe) var readerNumber: UInt64 = 2
    let reading = options
    process.beforeEachChange { [disk] in
      do {
        readerNumber += 1
        let other = try PageStore.open(
          "store", options: reading, in: OtherProcess(disk, number: readerNumber))
        let (first, second) = (try other.snapshot(), try reader.snapshot())
        #expect(first.commitNumber <= second.commitNumber)
      } catch {
        Issue.record(error)
      }
    }
    for number: UInt8 in 2..<8 {
      try writer.removeLog()
      try Proof.put(writer, 0..<6, number)
      try Proof.put(writer, 0..<6, number)
    }
    process.beforeEachChange(nil)
    #expect(readerNumber > 30)
  }

  @Test func `a copy and a check are made, whoever writes meanwhile`() throws {
    var options = Proof.options
    options.isShared = true
    options.cacheByteLimit = 0
    options.turnWaitLimit = .zero
    options.turnKeepInterval = .zero
    let process = OtherProcess(disk, number: 1)
    let one = try PageStore.open("store", options: options, in: process)
    let other = try opened(2)
    try Proof.put(one, 0..<300, 1)
    // Called on this very thread.
    nonisolated(unsafe) var number: UInt8 = 1
    nonisolated(unsafe) var refusals = 0
    process.beforeEachRead {
      do {
        try Proof.put(other, 0..<300, number &+ 1)
        try other.checkpoint()
        number &+= 1
      } catch StorageError.locked {
        refusals += 1
      } catch {
        Issue.record(error)
      }
    }
    #expect(try one.check().isSound)
    #expect(refusals > 0)
    try one.backUp(to: "backup", in: disk)
    process.beforeEachRead(nil)
    options.isReadOnly = true
    let backup = try PageStore.open("backup", options: options, in: disk)
    #expect(try Set(backup.read { try Proof.values($0) }).count == 1)
    #expect(number > 3)
  }

  @Test func `a suspended store has no lock, and takes none`() throws {
    let (one, other) = (try opened(1), try opened(2))
    try Proof.put(one, 0..<6, 1)
    let transaction = try one.beginWrite()
    #expect(throws: StorageError.writerBusy) { try one.suspend() }
    transaction.abort()
    try one.suspend()
    #expect(throws: StorageError.suspended) { try one.beginWrite().abort() }
    try Proof.put(other, 0..<6, 2)
    #expect(try one.read { try Proof.values($0) } == [2, 2, 2, 2, 2, 2])
    one.resume()
    try Proof.put(one, 0..<6, 3)
    try one.suspend()
    try one.close()
    #expect(try other.read { try Proof.values($0) } == [3, 3, 3, 3, 3, 3])
    let alone = try PageStore.open("alone", options: Proof.options, in: disk)
    #expect(throws: StorageError.self) { try alone.suspend() }
    try PageStore.inMemory().suspend()
  }

  @Test func `whoever writes, and whoever dies, what has returned stays`() throws {
    var commits = 0
    var deaths = 0
    var (refused, looks, late) = (0, 0, 0)
    for seed in Seeds.upTo(Amount.of(debug: 60, release: 2_000, exhaustive: 50_000)) {
      let run = try TurnRun(seed: seed)
      do {
        try run.play(60)
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
      commits += run.counts.commits
      deaths += run.counts.deaths
      refused += run.counts.refused
      looks += run.counts.looks
      late += run.counts.late
    }
    print(
      "turns: \(commits) commits, \(deaths) deaths, \(refused) refused, \(looks) looks, \(late) late"
    )
  }
}
