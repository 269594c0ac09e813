import QuireSimulation
import QuireStorage
import Testing

/// What is seldom called, and must be right all the same.
@Suite("Corners")
struct CornerTests {
  @Test func `the ends of trees are found, in snapshots and in transactions`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let records = try transaction.createRecordTree("records")
      let index = try transaction.createIndexTree("index")
      #expect(try records.firstKey == nil)
      for number in 1...3 as ClosedRange<Int64> { try records.put([UInt8(number)], for: number) }
      for byte in 1...3 as ClosedRange<UInt8> { try index.put([byte], for: [byte]) }
      // The empty key comes before all others.
      try index.put([0], for: [])
      #expect(try index.value(for: [])?.array == [0])
      #expect(try index.contains([]))
      #expect(try records.firstKey == 1)
      #expect(try records.lastKey == 3)
      #expect(records.count == 3)
      #expect(index.count == 4)
      #expect(try records.contains(2))
      try [2 as UInt8].withUnsafeBytes { key in
        let isThere = try index.contains(key)
        let value = try index.value(for: key)?.array
        #expect(isThere && value == [2])
      }
      var cursor = records.cursor()
      #expect(throws: StorageError.self) { try cursor.key }
      #expect(try cursor.last())
      #expect(try cursor.next() == false)
      #expect(throws: StorageError.self) { try cursor.valueBytes }
    }
    let index = try #require(try store.snapshot().indexTree("index"))
    var cursor = index.cursor()
    #expect(try cursor.last())
    #expect(try cursor.storedValue().array == [3])
    #expect(try cursor.first())
    #expect(try cursor.key.isEmpty)
    #expect(try store.snapshot().recordTree("records")?.firstKey == 1)
  }

  @Test func `a tree emptied entry by entry is a leaf again`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    try Proof.put(store, 0..<500, 1)
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("records"))
      for key in 0..<500 as Range<Int64> { #expect(try tree.remove(key)) }
      #expect(try tree.remove(1) == false)
      try tree.put([1], for: 1)
      try tree.removeAll()
      #expect(tree.count == 0)
    }
    #expect(try store.check().isSound)
    #expect(try Proof.values(try store.snapshot()).isEmpty)
  }

  @Test func `names of trees have the length of keys`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let name = String(repeating: "n", count: store.keyByteLimit)
      try transaction.createRecordTree(name)
      #expect(throws: StorageError.keyTooLong(byteCount: name.utf8.count + 1, limit: 90)) {
        try transaction.createRecordTree(name + "n")
      }
    }
  }

  @Test func `a store that must be new is made, once`() throws {
    let fileSystem = MemoryFileSystem()
    var options = Proof.options
    options.mustNotExist = true
    try PageStore.open("store", options: options, in: fileSystem).close()
    #expect(throws: StorageError.alreadyExists(path: "store")) {
      try PageStore.open("store", options: options, in: fileSystem)
    }
  }

  @Test func `a store's files are removed, unless somebody has it open`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    try PageStore.remove(path)
    var store: PageStore? = try PageStore.open(path)
    try store.map { try Proof.put($0, 0..<3, 1) }
    #expect(throws: StorageError.self) { try PageStore.remove(path) }
    store = nil
    #expect(folder.names == ["store", "store-log", "store-owner"])
    try PageStore.remove(path)
    #expect(folder.names == [])
  }

  // A store in the making died, and the disk kept the name of its log alone. Nothing of that name
  // could be made any more.
  @Test func `remove also deletes the files left beside a store that is gone`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let fileSystem = DiskFileSystem()
    var store: PageStore? = try PageStore.open(path)
    try store.map { try Proof.put($0, 0..<3, 1) }
    store = nil
    try fileSystem.remove(path)
    #expect(folder.names == ["store-log", "store-owner"])
    try PageStore.remove(path)
    #expect(folder.names == [])
  }

  @Test func `a file on disk ends behind its last page in use`() throws {
    let folder = try TemporaryFolder()
    let store = try PageStore.open(folder.path + "/store")
    try Proof.put(store, 0..<9000, 1)
    try store.checkpoint()
    let before = store.statistics.fileByteCount
    try store.write { try $0.dropTree("records") }
    try store.checkpoint()
    #expect(store.statistics.fileByteCount < before / 10)
    try store.close()
    let file = try DiskFileSystem().open(folder.path + "/store", .read)
    #expect(try file.byteCount() == store.statistics.fileByteCount)
  }

  @Test func `every error says what happened, with its numbers`() {
    let commit = CommitNumber(rawValue: 7)
    let page = PageID(rawValue: 9)
    let texts: [(StorageError, [String])] = [
      (.keyTooLong(byteCount: 1000, limit: 986), ["1000", "986"]),
      (.forked, ["forked"]),
      (
        .snapshotExpired(holder: "A.swift:3", commit: commit, retainedByteCount: 12, limit: 11),
        ["A.swift:3", "7", "12", "11"]
      ),
      (.transactionTooLarge(byteCount: 12, limit: 11), ["12", "11", "transactionByteLimit"]),
      (.storeFull(pageLimit: 5), ["5 pages"]),
      (.poisoned(cause: .noSpaceLeft(path: "p")), ["reopen", "no space left on the disk for p"]),
      (.damaged(page: page, reason: "so"), ["page 9", "so"]),
      (.logDamaged(path: "l", firstLost: commit, lastLost: commit), ["l", "7"]),
      (.logCutShort(path: "l", byteCount: 5, atLeast: 7), ["l", "5", "7"]),
      (.locked(.unknown), ["an unknown process"]),
      (.io(operation: "read", path: "p", code: 5, message: "m"), ["read", "p", "m", "5"]),
    ]
    for (error, parts) in texts {
      for part in parts { #expect("\(error)".contains(part), "\(error)") }
    }
    let old = LockOwner(processID: 1, processName: "p", host: "h", since: -1)
    #expect("\(old)" == "process 1 (p) on h since 1969-12-31 23:59:59 UTC")
  }

  @Test func `an inspection is readable`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: Proof.options, in: fileSystem)
    try Proof.put(store, 0..<40, 1)
    try store.close()
    var bytes = try #require(fileSystem.bytes(of: "store"))
    let sound = try PageStore.open("store", options: Proof.options, in: fileSystem)
    #expect("\(try sound.check())".hasPrefix("sound: "))
    try sound.close()
    bytes[6 * 512 + 100] ^= 1
    fileSystem.setBytes(bytes, of: "store")
    let damaged = try PageStore.open("store", options: Proof.options, in: fileSystem)
    #expect("\(try damaged.check())".contains("page 6: its checksum is wrong"))
    try damaged.close()
  }

  @Test func `files in memory behave as files`() throws {
    let fileSystem = MemoryFileSystem()
    let file = try fileSystem.open("a", .create)
    try file.truncate(to: 10)
    #expect(fileSystem.bytes(of: "a") == [UInt8](repeating: 0, count: 10))
    let reader = try fileSystem.open("a", .read)
    #expect(throws: StorageError.self) {
      try [UInt8](repeating: 1, count: 3).withUnsafeBytes { try reader.write($0, at: 0) }
    }
    #expect(throws: StorageError.notFound(path: "b")) { try fileSystem.publish("b", as: "c") }
    #expect(throws: StorageError.notFound(path: "b")) { try fileSystem.replace("a", by: "b") }
  }

  /// The note is gone, as if a clean-up had taken it: the lock is held all the same.
  @Test func `a lock without a note has an unknown owner`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", in: fileSystem)
    try fileSystem.remove("store-owner")
    // As another process would see it, which does not share this one's stores.
    #expect(throws: StorageError.locked(.unknown)) { try PageStore.remove("store", in: fileSystem) }
    try store.close()
  }

  /// The meta page is sealed, and what it says of the log is nonsense.
  @Test func `a log that is said to begin nowhere is damage`() throws {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<3, 1)
    var files = disk.files
    var bytes = try #require(files["store"])
    let newer = bytes[512 + 8] > bytes[1024 + 8] ? 1 : 2
    bytes[newer * 512 + 40] = 3
    let identity = try #require(Proof.options.identity)
    PageSealing.seal(&bytes, page: newer, pageSize: 512, identity: identity)
    files["store"] = bytes
    #expect(throws: StorageError.self) {
      try PageStore.open("store", options: Proof.options, in: SimulatedDisk(files))
    }
  }

  /// Catalog and trees lie under right checksums, and say what cannot be: used twice, free, of a
  /// kind that there is not, of a length that is not.
  @Test func `a catalog that makes no sense is damage`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: Proof.options, in: fileSystem)
    try store.write { transaction in
      try transaction.createRecordTree("a").put([1], for: 1)
      try transaction.createRecordTree("b").put([2], for: 2)
    }
    try store.close()
    let bytes = try #require(fileSystem.bytes(of: "store"))
    let identity = try #require(Proof.options.identity)
    // Entries of 16 bytes at the end of page 4: kind, flags, root, count.
    let catalog = 4 * 512..<5 * 512
    let roots = catalog.filter { bytes[$0] == 1 && bytes[min($0 + 4, 5 * 512 - 1)] >= 5 }
    #expect(roots.count >= 2)
    var findings: Set<String> = []
    for start in roots where start + 16 <= catalog.upperBound {
      for (offset, value) in [(0, 9), (4, 5), (4, 6), (4, 200), (8, 77)] as [(Int, UInt8)] {
        var changed = bytes
        changed[start + offset] = value
        PageSealing.seal(&changed, page: 4, pageSize: 512, identity: identity)
        fileSystem.setBytes(changed, of: "store")
        do throws(StorageError) {
          let store = try PageStore.open("store", options: Proof.options, in: fileSystem)
          findings.formUnion(try store.check().findings.map(\.message))
        } catch {
          findings.insert("\(error)")
        }
      }
    }
    for part in ["makes no sense", "two references to it", "entries, the catalog says"] {
      #expect(findings.contains { $0.contains(part) }, "\(part): \(findings)")
    }
  }
}
