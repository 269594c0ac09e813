import QuireStorage

/// A child made by `fork` that goes on with what its parent has open. Whatever it tries is refused,
/// and nothing has happened then, on the disk or in memory: here parent and child share it.
struct IntrudingChild {
  let store: PageStore?
  let transaction: WriteTransaction?
  let snapshot: Snapshot?

  func intrude(on disk: SimulatedDisk) throws {
    let before = (disk.operationCount, store?.statistics)
    try disk.asChild {
      if let store { try intrude(store) }
      if let transaction {
        try refused("commit") { try transaction.commit() }
        try refused("commitAndShow") { _ = try transaction.commitAndShow() }
        try refused("createRecordTree") { try transaction.createRecordTree("intruder") }
        try refused("treeNames") { _ = try transaction.treeNames() }
        transaction.abort()
      }
      if let snapshot {
        try refused("the names of a snapshot") { _ = try snapshot.treeNames() }
        try refused("a tree of a snapshot") { _ = try snapshot.recordTree("records") }
      }
    }
    guard (disk.operationCount, store?.statistics) == before else {
      throw Violation("a child has changed something")
    }
  }

  private func intrude(_ store: PageStore) throws {
    try refused("beginWrite") { _ = try store.beginWrite() }
    try refused("checkpoint") { try store.checkpoint() }
    try refused("beginCheckpoint") { try store.beginCheckpoint() }
    try refused("writeCheckpoint") { try store.writeCheckpoint() }
    try refused("completeCheckpoint") { try store.completeCheckpoint() }
    try refused("removeLog") { try store.removeLog() }
    try refused("compact") { try store.compact() }
    try refused("backUp") { try store.backUp(to: "intruder") }
    try refused("snapshot") { _ = try store.snapshot() }
    try refused("check") { _ = try store.check() }
    try refused("close") { try store.close() }
    store.limitCache(to: 0)
    _ = store.statistics
  }

  private func refused(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch StorageError.forked {
      return
    }
    throw Violation("\(what) is not refused in a child")
  }
}
