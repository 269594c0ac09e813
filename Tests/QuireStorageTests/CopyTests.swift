import QuireSimulation
import QuireStorage
import Testing

@Suite("Backups and compaction")
struct CopyTests {
  private func filled(
    _ fileSystem: any FileSystem, entryCount: Int = 4000, pageSize: Int = 512
  ) throws -> PageStore {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    let store = try PageStore.open("store", options: options, in: fileSystem)
    try store.write { transaction in
      let records = try transaction.createRecordTree("records")
      let index = try transaction.createIndexTree("index")
      for number in 0..<entryCount {
        try records.put([UInt8](repeating: UInt8(number & 0xFF), count: 50), for: Int64(number))
        try index.put([], for: Array("\(number)".utf8))
      }
      try records.put([UInt8](repeating: 7, count: 5000), for: -1)
    }
    return store
  }

  private func contents(_ snapshot: Snapshot) throws -> [Int64: [UInt8]] {
    var result: [Int64: [UInt8]] = [:]
    var cursor = try #require(try snapshot.recordTree("records")).cursor()
    while try cursor.next() { result[try cursor.key] = try cursor.storedValue().array }
    return result
  }

  @Test func `a backup is the store as it was, whatever is written meanwhile`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try filled(fileSystem)
    let expected = try contents(try store.snapshot())
    var calls = 0
    try store.backUp(to: "backup", in: fileSystem) { done, total in
      calls += 1
      #expect(done <= total)
      try store.write { try #require(try $0.mutableRecordTree("records")).put([1], for: 1) }
      if calls == 2 { try store.checkpoint() }
      return true
    }
    #expect(calls > 2)
    let backup = try PageStore.open("backup", in: fileSystem)
    #expect(try contents(try backup.snapshot()) == expected)
    #expect(backup.identity == store.identity)
    #expect(try backup.check().isSound)
    #expect(try store.check().isSound)
    #expect(throws: StorageError.alreadyExists(path: "backup")) {
      try store.backUp(to: "backup", in: fileSystem)
    }
  }

  @Test func `a cancelled backup leaves no file`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try filled(fileSystem)
    #expect(throws: StorageError.cancelled) {
      try store.backUp(to: "backup", in: fileSystem) { _, _ in false }
    }
    #expect(!fileSystem.paths.contains { $0.hasPrefix("backup") })
  }

  @Test func `a store in memory is saved to a file by a backup`() throws {
    let fileSystem = MemoryFileSystem()
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("records")
      for key in 0..<500 as Range<Int64> { try tree.put([1, 2, UInt8(key & 0xFF)], for: key) }
    }
    try store.backUp(to: "saved", in: fileSystem)
    let saved = try PageStore.open("saved", in: fileSystem)
    #expect(try contents(try saved.snapshot()) == (try contents(try store.snapshot())))
    #expect(try saved.check().isSound)
  }

  @Test func `compaction gives back what was removed, and readers go on`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try filled(fileSystem)
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("records"))
      for key in 0..<4000 as Range<Int64> where key % 8 != 0 { try tree.remove(key) }
    }
    let old = try store.snapshot()
    let expected = try contents(old)
    let before = store.statistics
    try store.compact()
    let after = store.statistics
    #expect(after.pageCount < before.pageCount * 3 / 4)
    #expect(after.freePageCount == 0)
    #expect(after.commitNumber == CommitNumber(rawValue: before.commitNumber.rawValue + 1))
    #expect(try contents(old) == expected)
    #expect(try contents(try store.snapshot()) == expected)
    #expect(try store.check().isSound)
    #expect(fileSystem.paths == ["store", "store-owner"])
    try store.write { try #require(try $0.mutableRecordTree("records")).put([5], for: 5) }
    #expect(try contents(old) == expected)
    try store.checkpoint()
    try store.close()
    #expect(fileSystem.bytes(of: "store")?.count == store.statistics.pageCount * 512)
    let reopened = try PageStore.open("store", in: fileSystem)
    #expect(try contents(try reopened.snapshot()).count == expected.count + 1)
    #expect(try reopened.check().isSound)
  }

  /// The new name can be on the disk before the log's end is: both are changes of one folder, of
  /// which a crash may keep either.
  @Test func `a log that comes back after a compaction is history`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try filled(fileSystem)
    let log = try #require(fileSystem.bytes(of: "store-log"))
    try store.compact()
    let expected = try contents(try store.snapshot())
    let compacted = try #require(fileSystem.bytes(of: "store"))
    let crashed = MemoryFileSystem()
    crashed.setBytes(compacted, of: "store")
    crashed.setBytes(log, of: "store-log")
    let reopened = try PageStore.open("store", in: crashed)
    #expect(try contents(try reopened.snapshot()) == expected)
    try reopened.write { try #require(try $0.mutableRecordTree("records")).put([5], for: 5) }
    try reopened.close()
    #expect(crashed.paths == ["store"])
  }

  @Test func `a cancelled compaction changes nothing`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try filled(fileSystem, entryCount: 9000)
    #expect(throws: StorageError.cancelled) { try store.compact { _, _ in false } }
    #expect(fileSystem.paths == ["store", "store-owner"])
    try store.write { try #require(try $0.mutableRecordTree("records")).put([5], for: 5) }
    try store.close()
    let reopened = try PageStore.open("store", in: fileSystem)
    #expect(try reopened.snapshot().recordTree("records")?.value(for: 5)?.array == [5])
    #expect(try reopened.check().isSound)
  }
}
