import QuireStorage
import Testing

/// Opening, closing, sharing and locking.
@Suite struct `Stores` {
  @Test func `an empty store has five pages`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", in: fileSystem)
    try store.close()
    #expect(fileSystem.bytes(of: "store")?.count == 5 * 4096)
    #expect(fileSystem.paths == ["store"])
  }

  @Test func `a clean close leaves one file, and it has everything`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", in: fileSystem)
    try store.write { try $0.createRecordTree("a").put([1, 2, 3], for: 7) }
    #expect(fileSystem.paths == ["store", "store-log", "store-owner"])
    try store.close()
    #expect(fileSystem.paths == ["store"])
    let again = try PageStore.open("store", in: fileSystem)
    #expect(try again.read { try $0.recordTree("a")?.value(for: 7)?.array } == [1, 2, 3])
    try again.close()
  }

  @Test func `closing without a commit writes nothing`() throws {
    let fileSystem = MemoryFileSystem()
    try PageStore.open("store", in: fileSystem).close()
    let before = fileSystem.bytes(of: "store")
    let store = try PageStore.open("store", in: fileSystem)
    _ = try store.snapshot()
    try store.beginWrite().abort()
    try store.close()
    #expect(fileSystem.bytes(of: "store") == before)
  }

  @Test func `the same operations give the same bytes`() throws {
    func run() throws -> [UInt8]? {
      let fileSystem = MemoryFileSystem()
      var options = PageStoreOptions()
      options.identity = StoreIdentity(high: 1, low: 2)
      options.pageSize = 512
      let store = try PageStore.open("store", options: options, in: fileSystem)
      try populate(store)
      try store.close()
      return fileSystem.bytes(of: "store")
    }
    let first = try run()
    #expect(first != nil)
    #expect(try first == run())
  }

  @Test func `a read-only store recovers in memory and writes nothing`() throws {
    let fileSystem = MemoryFileSystem()
    try abandoned(in: fileSystem)
    let before = fileSystem.paths.map { fileSystem.bytes(of: $0) }
    var options = PageStoreOptions()
    options.isReadOnly = true
    let store = try PageStore.open("store", options: options, in: fileSystem)
    #expect(try store.read { try $0.recordTree("a")?.count } == 1)
    #expect(throws: StorageError.readOnly) { try store.beginWrite() }
    #expect(throws: StorageError.readOnly) { try store.checkpoint() }
    try store.close()
    #expect(fileSystem.paths.map { fileSystem.bytes(of: $0) } == before)
  }

  /// A store whose process "crashed": one commit, in the log only.
  private func abandoned(in fileSystem: MemoryFileSystem) throws {
    let store = try PageStore.open("store", in: fileSystem)
    try store.write { try $0.createRecordTree("a").put([1], for: 1) }
  }

  @Test func `a missing log is an error that says so`() throws {
    let fileSystem = MemoryFileSystem()
    try abandoned(in: fileSystem)
    try fileSystem.remove("store-log")
    #expect(throws: StorageError.logMissing(path: "store-log")) {
      try PageStore.open("store", in: fileSystem)
    }
  }

  @Test func `another store's log is an error that says so`() throws {
    let (one, other) = (MemoryFileSystem(), MemoryFileSystem())
    try abandoned(in: one)
    try abandoned(in: other)
    one.setBytes(try #require(other.bytes(of: "store-log")), of: "store-log")
    #expect(throws: StorageError.logForeign(path: "store-log")) {
      try PageStore.open("store", in: one)
    }
  }

  @Test func `a file that is not a store is refused and left unchanged`() throws {
    let fileSystem = MemoryFileSystem()
    for bytes in [[], [1, 2, 3], [UInt8](repeating: 65, count: 20_000)] as [[UInt8]] {
      fileSystem.setBytes(bytes, of: "letter")
      do {
        _ = try PageStore.open("letter", in: fileSystem)
        Issue.record("it was opened")
      } catch .notAStore(let path, _) {
        #expect(path == "letter")
      }
      #expect(fileSystem.bytes(of: "letter") == bytes)
    }
  }

  @Test func `opening twice in a process gives two handles on one store`() throws {
    let fileSystem = MemoryFileSystem()
    let one = try PageStore.open("store", in: fileSystem)
    let other = try PageStore.open("store", in: fileSystem)
    try one.write { try $0.createRecordTree("a").put([5], for: 5) }
    #expect(try other.read { try $0.recordTree("a")?.count } == 1)
    try one.close()
    #expect(throws: StorageError.closed) { try one.snapshot() }
    #expect(throws: StorageError.closed) { try one.beginWrite() }
    try other.write { _ = try $0.createIndexTree("b") }
    try other.close()
    try other.close()
    #expect(fileSystem.paths == ["store"])
  }

  @Test func `a nested write on one thread is an error, not a deadlock`() throws {
    let store = PageStore.inMemory()
    let transaction = try store.beginWrite()
    #expect(throws: StorageError.writerBusy) { try store.beginWrite() }
    #expect(throws: StorageError.writerBusy) { try store.close() }
    transaction.abort()
    try store.write { _ = try $0.createRecordTree("a") }
  }

  @Test func `options that contradict what is there are refused`() throws {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.createIfMissing = false
    #expect(throws: StorageError.notFound(path: "store")) {
      try PageStore.open("store", options: options, in: fileSystem)
    }
    try PageStore.open("store", in: fileSystem).close()
    options.mustNotExist = true
    #expect(throws: StorageError.alreadyExists(path: "store")) {
      try PageStore.open("store", options: options, in: fileSystem)
    }
    options = PageStoreOptions()
    options.pageSize = 1000
    #expect(throws: StorageError.self) {
      try PageStore.open("other", options: options, in: fileSystem)
    }
    #expect(fileSystem.paths == ["store"])
  }
}

/// Puts enough into a store to have inner nodes, overflow values and free pages.
func populate(_ store: PageStore) throws {
  try store.write { transaction in
    let records = try transaction.createRecordTree("records")
    let index = try transaction.createIndexTree("index")
    for number in 0..<150 {
      let text = [UInt8]("value \(number)".utf8)
      let long = [UInt8](repeating: 9, count: 700)
      try records.put(number % 20 == 0 ? long : text, for: Int64(number))
      try index.put([], for: text)
    }
  }
  try store.write { transaction in
    let records = try transaction.mutableRecordTree("records")
    for number in stride(from: 0, to: 150, by: 3) { try records?.remove(Int64(number)) }
  }
}
