import QuireSimulation
import QuireStorage
import Testing

/// Versions that something works on while snapshots expire, with no memory at all for what
/// snapshots keep.
///
/// The version that a checkpoint was writing expired like any other. Its pages were read after they
/// were freed; a page that was allocated anew at an old address counted as written, and never was.
/// Commits that had returned were lost, and nothing said so.
@Suite struct OwnedVersionTests {
  private func options(_ change: (inout PageStoreOptions) -> Void = { _ in }) -> PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.retainedByteLimit = 0
    options.durability = .ordered
    options.checkpointsInBackground = false
    change(&options)
    return options
  }

  /// Sets keys to a byte; those of one leaf lie together.
  private func put(_ store: PageStore, _ keys: Range<Int64>, _ byte: UInt8) throws {
    try store.write { transaction in
      let tree =
        try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
      for key in keys { try tree.put([UInt8](repeating: byte, count: 60), for: key) }
    }
  }

  private func bytes(_ reader: some TreeReader) throws -> [UInt8] {
    var cursor = try #require(try reader.recordTree("records")).cursor()
    var bytes: [UInt8] = []
    while try cursor.next() { bytes.append(try cursor.storedValue().array[0]) }
    return bytes
  }

  private func isExpired(_ snapshot: Snapshot) -> Bool {
    do throws(StorageError) {
      _ = try snapshot.treeNames()
      return false
    } catch .snapshotExpired {
      return true
    } catch {
      return false
    }
  }

  @Test func `a checkpoint writes the state it began with, whatever versions expire`() throws {
    let disk = HookedDisk()
    let store = try PageStore.open("store", options: options(), in: disk)
    try put(store, 0..<400, 1)
    try store.checkpoint()
    let held = try store.snapshot()
    try put(store, 0..<400, 2)
    // Right before the checkpoint's first sync, commits pass, and more of them before the next one.
    disk.before(.checkpointLog) {
      for byte in 3..<9 as Range<UInt8> { try? self.put(store, 0..<200, byte) }
    }
    disk.before(.checkpointPages) {
      for byte in 9..<15 as Range<UInt8> { try? self.put(store, 100..<300, byte) }
    }
    try store.beginCheckpoint()
    try store.writeCheckpoint()
    #expect(!disk.isWaiting)
    // What the checkpoint wrote is what a crash would find: the log has the rest.
    try store.completeCheckpoint()
    #expect(isExpired(held))
    let expected =
      [UInt8](repeating: 8, count: 100) + [UInt8](repeating: 14, count: 200)
      + [UInt8](repeating: 2, count: 100)
    #expect(try bytes(try store.snapshot()) == expected)
    #expect(try store.check().isSound)
    try store.close()
    let reopened = try PageStore.open("store", options: options(), in: disk)
    #expect(try bytes(try reopened.snapshot()) == expected)
    #expect(try reopened.check().isSound)
  }

  /// When a newer version expired, what an older one shows as well was freed with it.
  @Test func `a backup shows one commit although newer snapshots expire`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: options(), in: fileSystem)
    try put(store, 0..<4_000, 1)
    var held: [Snapshot] = []
    var byte: UInt8 = 1
    try store.backUp(to: "backup", in: fileSystem) { _, _ in
      for _ in 0..<3 {
        byte += 1
        try self.put(store, 0..<4_000, byte)
        held.append(try store.snapshot())
      }
      return true
    }
    // Not all: of one that a checkpoint has written, the file has every page.
    #expect(held.count { isExpired($0) } > 3)
    let backup = try PageStore.open("backup", options: options(), in: fileSystem)
    #expect(try bytes(try backup.snapshot()) == [UInt8](repeating: 1, count: 4_000))
    #expect(try backup.check().isSound)
    #expect(try bytes(try store.snapshot()) == [UInt8](repeating: byte, count: 4_000))
  }

  @Test func `an inspection ends although commits pass`() throws {
    let store = try PageStore.open("store", options: options(), in: MemoryFileSystem())
    try put(store, 0..<4_000, 1)
    var byte: UInt8 = 1
    let report = try store.check { _, _ in
      byte += 1
      // The closure must not throw; a commit that fails is seen below.
      try? self.put(store, 0..<4_000, byte)
    }
    #expect(report.isSound && byte > 3)
    #expect(try bytes(try store.snapshot()) == [UInt8](repeating: byte, count: 4_000))
  }

  enum Ending: CaseIterable, Sendable { case expired, closed }

  /// What an older version shows was freed at once when no other version could be read, although
  /// somebody was reading it.
  @Test(arguments: Ending.allCases)
  func `a value that is being read stays as it is when its snapshot ends`(ending: Ending) throws {
    let options = options { if ending == .closed { $0.retainedByteLimit = 256 << 20 } }
    var store: PageStore? = try PageStore.open("store", options: options, in: MemoryFileSystem())
    let opened = try #require(store)
    try put(opened, 0..<400, 1)
    let snapshot = try opened.snapshot()
    let tree = try #require(try snapshot.recordTree("records"))
    // The leaf with the last keys is not changed before the snapshot has ended.
    try tree.withValue(for: 399) { value in
      for byte in 2..<5 as Range<UInt8> { try put(opened, 0..<50, byte) }
      if ending == .closed {
        try opened.close()
        store = nil
      } else {
        #expect(isExpired(snapshot))
        for byte in 5..<12 as Range<UInt8> { try put(opened, 0..<400, byte) }
      }
      #expect(value.count == 60 && value.allSatisfy { $0 == 1 })
    }
    let answer: StorageError?
    do throws(StorageError) {
      _ = try tree.value(for: 399)
      answer = nil
    } catch {
      answer = error
    }
    switch answer {
    case .snapshotExpired?: #expect(ending == .expired)
    case .closed?: #expect(ending == .closed)
    default: Issue.record("a snapshot that has ended answers \(String(describing: answer))")
    }
  }

  @Test func `a value whose snapshot expires while it is read from the file is no damage`() throws {
    let disk = HookedDisk()
    let options = options { $0.cacheByteLimit = 0 }
    let long = 200_000
    @Sendable func put(_ store: PageStore, _ byte: UInt8, _ key: Int64) throws {
      try store.write { transaction in
        let tree =
          try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
        try tree.put([UInt8](repeating: byte, count: long), for: key)
      }
    }
    do {
      let store = try PageStore.open("store", options: options, in: disk)
      try put(store, 1, 1)
      try store.close()
    }
    let store = try PageStore.open("store", options: options, in: disk)
    let snapshot = try store.snapshot()
    let tree = try #require(try snapshot.recordTree("records"))
    disk.beforeRead(3) {
      // The checkpoint keeps old pages for the snapshot, so that it expires with the next commit,
      // which uses the pages of its value again; nobody keeps these when they are overwritten.
      try? put(store, 2, 1)
      try? store.checkpoint()
      try? put(store, 3, 2)
      try? store.checkpoint()
    }
    let error = #expect(throws: StorageError.self) { _ = try tree.value(for: 1) }
    guard case .snapshotExpired(_, let commit, _, _) = error else {
      Issue.record("the answer is \(String(describing: error))")
      return
    }
    #expect(commit == snapshot.commitNumber)
    let newest = try #require(try store.snapshot().recordTree("records"))
    #expect(try newest.value(for: 1)?.array == [UInt8](repeating: 2, count: long))
    #expect(try newest.value(for: 2)?.array == [UInt8](repeating: 3, count: long))
    #expect(try store.check().isSound)
  }

  /// The crash suites run it at every operation of the disk; it would tell nothing otherwise.
  @Test func `snapshots expire in the scenario that is to make them expire`() throws {
    let run = ScenarioRun(.expiring, on: SimulatedDisk())
    try run.run()
    #expect(run.expiredCount > 0)
  }

  /// Only what snapshots alone keep counts, so that one is not ended for what a checkpoint keeps.
  @Test func `a snapshot does not expire for what others keep`() throws {
    let store = try PageStore.open(
      "store", options: options { $0.retainedByteLimit = 60_000 }, in: MemoryFileSystem())
    try put(store, 0..<2_000, 1)
    try store.checkpoint()
    try put(store, 0..<2_000, 2)
    try store.beginCheckpoint()
    // The version of the checkpoint keeps every page.
    try put(store, 0..<2_000, 3)
    let held = try store.snapshot()
    try put(store, 0..<20, 4)
    try put(store, 0..<20, 5)
    #expect(store.statistics.retainedByteCount > 60_000)
    #expect(try bytes(held) == [UInt8](repeating: 3, count: 2_000))
    try store.writeCheckpoint()
    try store.completeCheckpoint()
    #expect(try store.check().isSound)
  }
}
