import QuireSimulation
import QuireStorage
import Testing

// The file of an open store was removed. Three saves and the closing reported nothing, and nothing
// was left of them: they were on disk, in a file without a name.

/// A store whose file, or whose log, is removed while it is open.
@Suite struct `Files removed while a store is open` {
  /// How the store's file goes.
  enum Removal: CaseIterable {
    case removed, replacedByAnother

    func remove(_ path: String, on disk: SimulatedDisk) throws {
      try disk.remove(path)
      if self == .replacedByAnother { disk.alter { $0.put(Array("another".utf8), at: path) } }
    }
  }

  private func open(
    _ disk: SimulatedDisk, _ durability: Durability = .full
  ) throws -> PageStore {
    var options = Proof.options
    options.durability = durability
    return try PageStore.open("store", options: options, in: disk)
  }

  private func expectLost(_ what: String, _ body: () throws -> Void) {
    #expect(throws: StorageError.nameLost(path: "store"), "\(what)", performing: body)
  }

  @Test(arguments: Removal.allCases, [0, 1, 2])
  func `the next commit says that the file is gone, and a backup keeps what was committed`(
    removal: Removal, committedBefore: Int
  ) throws {
    let disk = SimulatedDisk()
    var store = try open(disk)
    try Proof.put(store, 0..<40, 1)
    if committedBefore == 0 {
      // The next commit is the first one after opening.
      try store.close()
      store = try open(disk)
    }
    if committedBefore == 2 {
      try store.checkpoint()
      try Proof.put(store, 0..<40, 1)
    }
    try removal.remove("store", on: disk)
    let others = disk.files["store"]
    expectLost("the next commit") { try Proof.put(store, 0..<40, 2) }
    expectLost("the one after it") { try Proof.put(store, 0..<40, 3) }
    expectLost("a checkpoint") { try store.checkpoint() }
    #expect(
      "\(StorageError.nameLost(path: "/a/store"))".contains("/a/store was removed"))
    // Reading goes on, and what was acknowledged is kept.
    #expect(try Proof.values(store.snapshot()) == [UInt8](repeating: 1, count: 40))
    try store.backUp(to: "backup", in: disk)
    expectLost("closing") { try store.close() }
    #expect(disk.files["store"] == others)
    if removal == .removed { #expect(disk.files.keys.sorted() == ["backup"]) }
    let backup = try PageStore.open("backup", options: Proof.options, in: disk)
    #expect(try Proof.values(backup.snapshot()) == [UInt8](repeating: 1, count: 40))
    #expect(try backup.check().isSound)
    try backup.close()
  }

  /// Their commits are not synced one by one, and are not asked for the name one by one.
  @Test(arguments: Removal.allCases, [Durability.ordered, .none])
  func `without full durability a checkpoint says it, or closing at the latest`(
    removal: Removal, durability: Durability
  ) throws {
    for hasCheckpoint in [true, false] {
      let disk = SimulatedDisk()
      let store = try open(disk, durability)
      try Proof.put(store, 0..<40, 1)
      try removal.remove("store", on: disk)
      if hasCheckpoint {
        try Proof.put(store, 0..<40, 2)
        expectLost("a checkpoint") { try store.checkpoint() }
        expectLost("the next commit") { try Proof.put(store, 0..<40, 3) }
        try store.backUp(to: "backup", in: disk)
        let backup = try PageStore.open("backup", options: Proof.options, in: disk)
        #expect(try Proof.values(backup.snapshot())[0] == 2)
        try backup.close()
      }
      expectLost("closing") { try store.close() }
    }
  }

  @Test func `the first commit after opening says it whatever the durability`() throws {
    for durability in [Durability.full, .ordered, .none] {
      let disk = SimulatedDisk()
      let store = try open(disk, durability)
      try disk.remove("store")
      expectLost("\(durability)") { try Proof.put(store, 0..<40, 1) }
    }
  }

  /// A file that was moved away has a name, and is whole when it is closed.
  @Test func `a store that was moved goes on`() throws {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try Proof.put(store, 0..<40, 1)
    disk.alter { $0.move("store", to: "moved") }
    try Proof.put(store, 0..<40, 2)
    try store.close()
    let moved = try PageStore.open("moved", options: Proof.options, in: disk)
    #expect(try Proof.values(moved.snapshot()) == [UInt8](repeating: 2, count: 40))
  }

  /// A commit in a log without a name is durable, and no recovery would find it.
  @Test func `a commit after its log was removed survives a crash`() throws {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try Proof.put(store, 0..<40, 1)
    try store.checkpoint()
    try Proof.put(store, 0..<40, 2)
    try disk.remove("store-log")
    try Proof.put(store, 0..<40, 3)
    let states = [disk.state]
    try Proof.put(store, 0..<40, 4)
    for (state, value) in zip(states + [disk.state], [3, 4] as [UInt8]) {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(values == [UInt8](repeating: value, count: 40), "\(image)")
      }
    }
    try store.close()
  }

  /// Several threads commit, and the log goes.
  @Test func `commits of several threads survive the removal of their log`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    var options = PageStoreOptions()
    options.checkpointsInBackground = true
    let store = try PageStore.open(path, options: options)
    try store.write { _ = try $0.createRecordTree("records") }
    runOnThreads(4) { thread in
      #expect(throws: Never.self) {
        for number in 0..<20 as Range<Int64> {
          try store.write { transaction in
            let tree = try transaction.mutableRecordTree("records")
            try tree?.put([1], for: Int64(thread) * 100 + number)
          }
          if thread == 0, number % 5 == 0 { try DiskFileSystem().remove(path + "-log") }
        }
      }
    }
    try store.close()
    let again = try PageStore.open(path)
    #expect(try again.snapshot().recordTree("records")?.count == 80)
    try again.close()
  }
}
