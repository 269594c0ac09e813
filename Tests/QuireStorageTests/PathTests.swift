import QuireSimulation
import QuireStorage
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// What a path may lead to besides a plain file.
@Suite struct PathTests {
  let folder: TemporaryFolder
  var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  private func write(_ number: Int64, to store: PageStore?) throws {
    try store?.write {
      try ($0.mutableRecordTree("a") ?? $0.createRecordTree("a")).put([1], for: number)
    }
  }

  private func count(at path: String) throws -> Int? {
    let store = try PageStore.open(path)
    defer { try? store.close() }
    return try store.read { try $0.recordTree("a")?.count }
  }

  // A store opened through a symbolic link had its log beside the link. After a crash the store
  // opened by its own name, and the other way round, was told that its log was missing.
  @Test func `the log lies beside the file, whatever link the store was opened by`() throws {
    symlink("store", folder.path + "/link")
    symlink(folder.path + "/link", folder.path + "/second")
    try write(0, to: PageStore.open(path))
    var number: Int64 = 0
    for opened in ["link", "store", "second"] {
      for reopened in ["store", "link", "second"] {
        number += 1
        var store: PageStore? = try PageStore.open(folder.path + "/" + opened)
        try write(number, to: store)
        #expect(folder.names == ["link", "second", "store", "store-log", "store-owner"])
        store = nil
        #expect(try count(at: folder.path + "/" + reopened) == Int(number) + 1)
        #expect(folder.names == ["link", "second", "store"])
      }
    }
  }

  @Test func `a store is created where a link leads, and a loop of links is an error`() throws {
    symlink("store", folder.path + "/link")
    try write(1, to: PageStore.open(folder.path + "/link"))
    #expect(try count(at: path) == 1)
    symlink("b", folder.path + "/a")
    symlink("a", folder.path + "/b")
    #expect(throws: StorageError.self) { try PageStore.open(folder.path + "/a") }
  }

  // Opening a named pipe waited for somebody to write into it: `quire check` of one never ended.
  @Test func `a named pipe is no store, and nobody waits for it`() throws {
    mkfifo(path, 0o600)
    for isReadOnly in [true, false] {
      var options = PageStoreOptions()
      options.isReadOnly = isReadOnly
      #expect(throws: StorageError.notAStore(path: path, reason: "it is not a file")) {
        try PageStore.open(path, options: options)
      }
    }
  }

  // A writer died and left its note; then a process read the store. The next writer was told that
  // the dead one has the store.
  @Test func `a writer that readers keep out is not told of one that died`() throws {
    var store: PageStore? = try PageStore.open(path)
    try write(1, to: store)
    store = nil
    #expect(folder.names.contains("store-owner"))
    let reader = try DiskFileSystem().open(path, .read)
    #expect(try reader.lock(.shared))
    #expect(throws: StorageError.locked(.readers)) { try PageStore.open(path) }
    #expect("\(StorageError.locked(.readers))" == "the store is in use by a process that reads it")
  }

  // `quire stat` opens read-only, and said of every log that it has 0 bytes.
  @Test func `a reader says how much of the store is in the log`() throws {
    var store: PageStore? = try PageStore.open(path)
    try write(1, to: store)
    try write(2, to: store)
    let written = try #require(store?.statistics.logByteCount)
    #expect(written > 0)
    store = nil
    var options = PageStoreOptions()
    options.isReadOnly = true
    let reader = try PageStore.open(path, options: options)
    #expect(reader.statistics.logByteCount == written)
    try reader.close()
    let writer = try PageStore.open(path)
    #expect(writer.statistics.logByteCount == 0)
    try writer.close()
  }
}
