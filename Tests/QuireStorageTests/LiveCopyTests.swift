import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Copies of stores that are being written to.
@Suite struct `Live copies` {
  /// Does so much to a store that whatever was read before is of another time.
  private static func change(_ store: PageStore, _ number: UInt8) throws {
    try Proof.put(store, 0..<60, number)
    if number % 2 == 0 { try store.checkpoint() }
    if number % 5 == 0 { try store.compact() }
  }

  /// A store with some commits, the last of them in its log.
  private static func made(
    on disk: HookedDisk, _ durability: Durability
  ) throws -> PageStore {
    var options = Proof.options
    options.durability = durability
    options.imageByteLimit = 1024
    let store = try PageStore.open("store", options: options, in: disk)
    for number in 1...3 as ClosedRange<UInt8> { try change(store, number) }
    return store
  }

  /// The writer acts before one of the reads, whichever it is: what comes out is one of the commits
  /// that were there meanwhile, as a whole.
  @Test(arguments: [Durability.full, .ordered], [1, 4])
  func `a writer at any moment leaves the copy one commit`(
    durability: Durability, changes: Int
  ) throws {
    var read = 1
    var later = 0
    while true {
      let disk = HookedDisk()
      let store = try Self.made(on: disk, durability)
      let hasActed = Mutex(false)
      disk.beforeRead(read) {
        hasActed.withLock { $0 = true }
        for number in 4..<4 + UInt8(changes) { try? Self.change(store, number) }
      }
      try LiveCopy.make(of: "store", at: "copy", in: disk)
      disk.beforeRead(.max) {}
      let copy = try PageStore.open("copy", options: Proof.options, in: disk)
      #expect(try copy.check().isSound, "read \(read)")
      let values = Set(try Proof.values(copy.snapshot()))
      #expect(values.count == 1, "read \(read): \(values)")
      #expect(values.allSatisfy { (3...UInt8(3 + changes)).contains($0) })
      if values != [3] { later += 1 }
      // No read was the one.
      if !hasActed.withLock({ $0 }) { break }
      read += Amount.of(debug: 3, release: 1)
    }
    #expect(read > 10 && later > 0)
  }

  /// A map that a checkpoint overwrites is asked for by every page of its group: no damage.
  @Test func `a writer at any moment is no damage where there are many maps`() throws {
    @Sendable func change(_ store: PageStore, _ number: UInt8) throws {
      try Proof.put(store, 0..<3_000, number)
      try store.checkpoint()
    }
    var read = 1
    while true {
      let disk = HookedDisk()
      var options = Proof.options
      options.cacheByteLimit = 0
      let store = try PageStore.open("store", options: options, in: disk)
      try change(store, 1)
      let hasActed = Mutex(false)
      disk.beforeRead(read) {
        hasActed.withLock { $0 = true }
        for number in 2...3 as ClosedRange<UInt8> { try? change(store, number) }
      }
      try LiveCopy.make(of: "store", at: "copy", in: disk, options: options)
      disk.beforeRead(.max) {}
      let copy = try PageStore.open("copy", options: options, in: disk)
      #expect(try copy.check().isSound, "read \(read)")
      #expect(Set(try Proof.values(copy.snapshot())).count == 1, "read \(read)")
      if !hasActed.withLock({ $0 }) { break }
      read += Amount.of(debug: 23, release: 5)
    }
    #expect(read > 20)
  }

  /// A record is read before its sync.
  @Test func `what a crash may take is not copied`() throws {
    let disk = HookedDisk()
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<4, 1)
    let seen = Mutex<[UInt8]>([])
    disk.before(.commit) {
      guard (try? LiveCopy.make(of: "store", at: "copy", in: disk)) != nil,
        let copy = try? PageStore.open("copy", in: disk),
        let values = try? Proof.values(copy.snapshot())
      else { return }
      seen.withLock { $0 = values }
    }
    try Proof.put(store, 0..<4, 2)
    #expect(seen.withLock { $0 } == [1, 1, 1, 1])
  }

  @Test func `damage is said to be damage, and nothing is left`() throws {
    let disk = SimulatedDisk()
    try Proof.put(try PageStore.open("store", options: Proof.options, in: disk), 0..<60, 1)
    try PageStore.open("store", options: Proof.options, in: disk).close()
    var bytes = try #require(disk.files["store"])
    bytes[6 * 512 + 200] ^= 1
    disk.alter { $0.put(bytes, at: "store") }
    do {
      try LiveCopy.make(of: "store", at: "copy", in: disk)
      Issue.record("it is copied")
    } catch {
      guard case .damaged(let page, _) = error else { throw error }
      #expect(page.rawValue == 6)
    }
    #expect(disk.files.keys.sorted() == ["store"])
  }

  @Test func `a process that writes without a pause is copied as it goes`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let started = try Signal()
      let writer = try ChildProcess {
        var options = PageStoreOptions()
        options.checkpointByteLimit = 64 << 10
        options.durability = .ordered
        let store = try PageStore.open(path, options: options)
        var number: UInt8 = 0
        while true {
          try store.write { transaction in
            let tree =
              try transaction.mutableRecordTree("a") ?? transaction.createRecordTree("a")
            for key in 0..<400 as Range<Int64> {
              try tree.put([UInt8](repeating: number, count: 60), for: key)
            }
          }
          if number == 3 { started.send(0) }
          if number % 50 == 49 { try store.compact() }
          number &+= 1
        }
      }
      _ = started.receive()
      var seen: Set<UInt8> = []
      for round in 0..<Amount.of(debug: 12, release: 60) {
        let copy = folder.path + "/copy-\(round)"
        try LiveCopy.make(of: path, at: copy)
        let store = try PageStore.open(copy)
        guard try store.check().isSound else { throw Violation("the copy is not sound") }
        let values = try store.read { snapshot in
          var values: Set<UInt8> = []
          guard var cursor = try snapshot.recordTree("a")?.cursor() else { return values }
          while try cursor.next() { values.formUnion(try cursor.storedValue().array) }
          return values
        }
        guard values.count == 1 else { throw Violation("of several commits: \(values)") }
        seen.formUnion(values)
        try store.close()
      }
      writer.kill()
      guard seen.count > 1 else { throw Violation("always the same") }
    }
  }
}
