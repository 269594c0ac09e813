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

/// The most memory that the process has had so far, in bytes.
private func mostMemory() -> Int {
  var usage = rusage()
  // 0 is the process; Glibc has an enumeration for the constant and an integer for the parameter.
  getrusage(0, &usage)
  #if canImport(Darwin)
    return usage.ru_maxrss
  #else
    return 1024 * Int(usage.ru_maxrss)
  #endif
}

/// What `Tests/Fuzzing` found, each as small as it could be made.
@Suite struct `Finds of the fuzzers` {
  /// A meta page with a right checksum said that the store has 4,294,967,295 pages; the file had
  /// seven. Opening looked for each of them, and inspecting did so again: minutes, for a file of
  /// four kilobytes. Claims may not cost more than what is there.
  @Test func `a store that claims more pages than it has is answered at once`() throws {
    let fileSystem = try fileSystem { $0.replaceSubrange(32..<36, with: [255, 255, 255, 255]) }
    var options = PageStoreOptions()
    options.isReadOnly = true
    do throws(StorageError) {
      let store = try PageStore.open("store", options: options, in: fileSystem)
      #expect(try !store.check().isSound)
      try store.close()
    } catch {
      // To refuse it is as good.
    }
  }

  /// The same, and a log of eleven kilobytes, had 128 MB made and searched for pages that a version
  /// may have in memory, each time.
  @Test func `a claim of pages takes no memory`() async {
    await #expect(processExitsWith: .success) {
      func byteCount(of pageCount: UInt32) throws -> Int {
        let fileSystem = try `Finds of the fuzzers`().fileSystem {
          $0.setNumber(UInt64(pageCount), at: 32, byteCount: 4)
        }
        var options = PageStoreOptions()
        options.isReadOnly = true
        let store = try PageStore.open("store", options: options, in: fileSystem)
        _ = try store.check()
        let most = mostMemory()
        try store.close()
        return most
      }
      let few = try byteCount(of: 9)
      let many = try byteCount(of: 4_294_000_000)
      guard many - few < 32 << 20 else { throw Violation("\(many - few) bytes more") }
    }
  }

  /// A meta page with a right checksum had the highest sequence number there is. The next
  /// checkpoint added one to it, and trapped; the log's epoch is counted the same way.
  @Test(arguments: [8, 16])
  func `the highest sequence and epoch do not trap`(offset: Int) throws {
    let fileSystem = try fileSystem { meta in
      // Odd sequence numbers belong to the first meta page.
      meta.replaceSubrange(offset..<offset + 8, with: [UInt8](repeating: 255, count: 8))
    }
    do {
      let store = try PageStore.open("store", in: fileSystem)
      try store.write { _ = try $0.createRecordTree("a") }
      try store.checkpoint()
      try store.close()
    } catch is StorageError {
      // To refuse it is as good.
    }
  }

  /// The catalog, under a right checksum, said that a tree with entries had none. Removing them
  /// counted down from there, and writing a count below zero into the catalog trapped; so does
  /// counting on from the highest number.
  @Test(arguments: [[UInt8](repeating: 0, count: 8), [UInt8](repeating: 255, count: 7) + [127]])
  func `a wrong count in the catalog does not trap`(count: [UInt8]) throws {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = 512
    let identity = StoreIdentity(high: 1, low: 2)
    options.identity = identity
    let whole = try PageStore.open("store", options: options, in: fileSystem)
    try whole.write { transaction in
      let tree = try transaction.createRecordTree("a")
      for key in 1...3 { try tree.put([7], for: Int64(key)) }
    }
    try whole.close()
    var bytes = try #require(fileSystem.bytes(of: "store"))
    // Kind, root page and count, as the catalog's page has them.
    let entry: [UInt8] = [1, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
    let place = try #require(
      (4 * 512...5 * 512 - 16).first { Array(bytes[$0..<$0 + 16]) == entry })
    bytes.replaceSubrange(place + 8..<place + 16, with: count)
    PageSealing.seal(&bytes, page: 4, pageSize: 512, identity: identity)
    fileSystem.setBytes(bytes, of: "store")
    let store = try PageStore.open("store", in: fileSystem)
    #expect(try !store.check().isSound)
    do {
      try store.write { try $0.mutableRecordTree("a")?.put([8], for: 9) }
      try store.write { transaction in
        for key in 1...3 { try transaction.mutableRecordTree("a")?.remove(Int64(key)) }
      }
    } catch is StorageError {
      // To refuse it is as good.
    }
    try store.close()
  }

  /// An empty store whose two meta pages were changed, with right checksums.
  private func fileSystem(changing change: (inout [UInt8]) -> Void) throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = 512
    let identity = StoreIdentity(high: 1, low: 2)
    options.identity = identity
    try PageStore.open("store", options: options, in: fileSystem).close()
    var bytes = try #require(fileSystem.bytes(of: "store"))
    for page in 1...2 {
      var meta = [UInt8](bytes[page * 512..<(page + 1) * 512])
      change(&meta)
      bytes.replaceSubrange(page * 512..<(page + 1) * 512, with: meta)
      PageSealing.seal(&bytes, page: page, pageSize: 512, identity: identity)
    }
    fileSystem.setBytes(bytes, of: "store")
    return fileSystem
  }
}
