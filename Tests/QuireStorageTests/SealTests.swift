import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// The seals of records, which tell readers in other processes how far they may go.
@Suite struct `Seals of commits` {
  private let disk = HookedDisk()

  private func open(_ durability: Durability = .full) throws -> PageStore {
    var options = Proof.options
    options.durability = durability
    return try PageStore.open("store", options: options, in: disk)
  }

  /// The log beside the store as another process finds it.
  private static func log(on disk: SimulatedDisk) throws -> LogAnatomy? {
    try StoreAnatomy(of: "store", in: SimulatedDisk(disk.files)).log
  }

  private var visible: UInt64? {
    get throws { try Self.log(on: disk.disk)?.visibleThrough?.rawValue }
  }

  @Test func `each commit that has returned is sealed`() throws {
    let store = try open()
    for number in 1...4 as ClosedRange<UInt64> {
      try Proof.put(store, 0..<4, UInt8(number))
      #expect(try visible == number)
    }
    try store.checkpoint()
    #expect(try visible == nil)
    try Proof.put(store, 0..<4, 5)
    #expect(try visible == 5)
  }

  @Test func `so is one that waited without a thread`() async throws {
    let store = try open()
    try Proof.put(store, 0..<4, 1)
    let transaction = try store.beginWrite()
    try transaction.mutableRecordTree("records")?.put([9], for: 9)
    let commit = try transaction.write()
    await withCheckedContinuation { continuation in
      commit.whenDurable { _ in continuation.resume() }
    }
    #expect(try visible == 2)
  }

  /// A record that a crash may take is there to be read before its sync.
  @Test func `no commit is sealed before it is on disk`() throws {
    let store = try open()
    let seen = Mutex<[UInt64?]>([])
    for reason in [SyncReason.logCreation, .commit] {
      disk.before(reason) { [disk = disk.disk] in
        let log = try? Self.log(on: disk)
        // A look that fails is no answer.
        seen.withLock { $0.append(log == nil ? .max : log?.visibleThrough?.rawValue) }
      }
      try Proof.put(store, 0..<4, 1)
    }
    #expect(seen.withLock { $0 } == [nil, 1])
  }

  /// There the last record is what the writer's own snapshots show.
  @Test(arguments: [Durability.ordered, .none])
  func `nothing waits for a seal where commits are not synced one by one`(
    durability: Durability
  ) throws {
    let store = try open(durability)
    for number in 1...3 as ClosedRange<UInt8> { try Proof.put(store, 0..<4, number) }
    let log = try #require(try Self.log(on: disk.disk))
    #expect(!log.hasSeals && log.records.allSatisfy { !$0.isSealed })
    #expect(log.visibleThrough?.rawValue == 3)
  }

  @Test func `a seal that is not whole says nothing`() throws {
    let store = try open()
    for number in 1...2 as ClosedRange<UInt8> { try Proof.put(store, 0..<4, number) }
    var files = disk.disk.files
    let log = try #require(files["store-log"])
    let end = try #require(Proof.records(log).last).upperBound
    for offset in end - 8..<end {
      var torn = log
      torn[offset] ^= 4
      files["store-log"] = torn
      let disk = SimulatedDisk(files)
      #expect(try StoreAnatomy(of: "store", in: disk).log?.visibleThrough?.rawValue == 1)
      let again = try PageStore.open("store", in: disk)
      #expect(try Proof.values(again.snapshot()) == [2, 2, 2, 2])
    }
  }
}
