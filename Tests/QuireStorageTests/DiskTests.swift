import QuireSimulation
import QuireStorage
import Testing

/// The operating system's files.
@Suite struct `Stores on disk` {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  @Test func `committed data is there after the store is closed and opened again`() throws {
    let store = try PageStore.open(path)
    try populate(store)
    #expect(folder.names == ["store", "store-log", "store-owner"])
    let contents = try Workload.contents(of: store)
    #expect(try store.check().isSound)
    try store.close()
    #expect(folder.names == ["store"])
    let again = try PageStore.open(path)
    #expect(try Workload.contents(of: again) == contents)
    #expect(try again.check().isSound)
    try again.close()
  }

  @Test func `a store that was not closed is recovered`() throws {
    var store: PageStore? = try PageStore.open(path)
    try populate(try #require(store))
    let contents = try Workload.contents(of: try #require(store))
    store = nil
    let again = try PageStore.open(path)
    #expect(try Workload.contents(of: again) == contents)
    try again.close()
    #expect(folder.names == ["store"])
  }

  /// `TwoProcessesTests` has real processes; here the note is one that can be known in advance.
  @Test func `the error of a locked store says what its owner's note says`() throws {
    try PageStore.open(path).close()
    // What another process does: its own open file, its lock, its note.
    let files = DiskFileSystem()
    var other: (any File)? = try files.open(path, .write)
    #expect(try other?.lock(.exclusive) == true)
    let note = try files.open(path + "-owner", .create)
    try Array("4242\nphotos\nanvil\n86400\n".utf8).withUnsafeBytes { try note.write($0, at: 0) }
    let owner = LockOwner(
      processID: 4242, processName: "photos", host: "anvil", since: 86_400)
    #expect(throws: StorageError.locked(owner)) { try PageStore.open(path) }
    // Whoever only reads is in nobody's way.
    var options = PageStoreOptions()
    options.isReadOnly = true
    try PageStore.open(path, options: options).close()
    #expect(
      "\(StorageError.locked(owner))"
        == "the store is in use by process 4242 (photos) on anvil since 1970-01-02 00:00:00 UTC")
    other = nil
    try PageStore.open(path).close()
  }

  @Test func `the lock is held, and its owner named, as long as the store is open`() throws {
    let store = try PageStore.open(path)
    let other = try DiskFileSystem().open(path, .write)
    #expect(try !other.lock(.exclusive))
    #expect(try !other.lock(.shared))
    let note = try DiskFileSystem().open(path + "-owner", .read)
    let text = try String(unsafeUninitializedCapacity: 100) {
      try note.read(at: 0, into: UnsafeMutableRawBufferPointer($0))
    }
    #expect(text.hasPrefix("\(currentProcessID)\n"))
    try store.close()
    #expect(try other.lock(.exclusive))
  }

  @Test func `readers share a store that nobody writes`() throws {
    try PageStore.open(path).close()
    var options = PageStoreOptions()
    options.isReadOnly = true
    let store = try PageStore.open(path, options: options)
    let other = try DiskFileSystem().open(path, .read)
    #expect(try other.lock(.shared))
    #expect(throws: StorageError.self) { try PageStore.open(path) }
    try store.close()
  }

  @Test func `a read-only store in a read-only folder is readable, log and all`() throws {
    var store: PageStore? = try PageStore.open(path)
    try store?.write { try $0.createRecordTree("a").put([1], for: 1) }
    store = nil
    folder.makeReadOnly(true)
    defer { folder.makeReadOnly(false) }
    var options = PageStoreOptions()
    options.isReadOnly = true
    let reading = try PageStore.open(path, options: options)
    #expect(try reading.read { try $0.recordTree("a")?.count } == 1)
    try reading.close()
    #expect(folder.names == ["store", "store-log", "store-owner"])
  }

  @Test func `paths that cannot be are errors`() throws {
    #expect(throws: StorageError.notFound(path: "/nowhere/at/all/store")) {
      var options = PageStoreOptions()
      options.createIfMissing = false
      _ = try PageStore.open("/nowhere/at/all/store", options: options)
    }
    #expect(throws: StorageError.self) { try PageStore.open(folder.path) }
    #expect(throws: StorageError.self) { try PageStore.open("/nowhere/at/all/store") }
  }
}
