#if canImport(Glibc)
  import Foundation
  import Glibc
  import QuireSimulation
  import QuireStorage
  import Synchronization
  import Testing

  // The simulated disk sees which syncs the engine asks for. Here the calls of the system are
  // recorded that come of them: without those, nothing that was committed survives a power cut.
  //
  // The two functions below have the names of the C library's. The linker takes them in their
  // place, in the engine too; they record the call and make it.

  @_cdecl("fdatasync")
  func recordedDataSync(_ descriptor: Int32) -> Int32 {
    SystemSyncs.record("fdatasync", descriptor)
    return SystemSyncs.dataSync(descriptor)
  }

  @_cdecl("fsync")
  func recordedSync(_ descriptor: Int32) -> Int32 {
    SystemSyncs.record("fsync", descriptor)
    return SystemSyncs.sync(descriptor)
  }

  /// The syncs that the system was asked for.
  enum SystemSyncs {
    typealias Function = @convention(c) (Int32) -> Int32

    static let dataSync = function("fdatasync")
    static let sync = function("fsync")
    private static let isRecording = Atomic(false)
    private static let calls = Mutex<[(function: String, path: String)]>([])

    /// The C library's own function.
    private static func function(_ name: String) -> Function {
      guard let symbol = dlsym(dlopen("libc.so.6", RTLD_NOW), name) else {
        preconditionFailure("the C library has no \(name)")
      }
      return unsafeBitCast(symbol, to: Function.self)
    }

    static func record(_ function: String, _ descriptor: Int32) {
      guard isRecording.load(ordering: .relaxed) else { return }
      var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = bytes.withUnsafeMutableBytes { buffer in
        readlink(
          "/proc/self/fd/\(descriptor)",
          buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      }
      let path = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
      calls.withLock { $0.append((function, path)) }
    }

    /// The calls that `body` makes for a folder and what is in it; tests that run meanwhile have
    /// their own folders.
    static func during(_ folder: TemporaryFolder, _ body: () throws -> Void) rethrows -> [String] {
      isRecording.store(true, ordering: .relaxed)
      try body()
      let name = folder.path.split(separator: "/").last ?? ""
      return calls.withLock { calls in
        let own = calls.filter { $0.path.contains("/\(name)") }
        calls.removeAll { $0.path.contains("/\(name)") }
        return own.map { call in
          let last = call.path.split(separator: "/").last ?? ""
          return "\(call.function) \(last == name ? "the folder" : last)"
        }
      }
    }
  }

  @Suite struct SystemSyncTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/store" }

    init() throws { folder = try TemporaryFolder() }

    private func options(_ durability: Durability) -> PageStoreOptions {
      var options = PageStoreOptions()
      options.durability = durability
      options.checkpointsInBackground = false
      return options
    }

    private func put(_ store: PageStore, _ byte: UInt8) throws {
      try store.write { transaction in
        let tree =
          try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
        try tree.put([byte], for: 1)
      }
    }

    /// The names of new files without what makes them unlike any other.
    private static func plain(_ calls: [String]) -> [String] {
      calls.map { call in
        guard let end = call.range(of: "-new-") else { return call }
        return String(call[..<end.lowerBound]) + "-new"
      }
    }

    @Test func `each step of a store's life syncs files and folder as it should`() throws {
      func expect(_ wanted: [String], _ what: String, _ body: () throws -> Void) rethrows {
        let found = Self.plain(try SystemSyncs.during(folder, body))
        #expect(found == wanted, "\(what)")
      }
      // The file must be whole before its name is there, and the name must last.
      var made: PageStore?
      try expect(["fdatasync store-new", "fsync the folder"], "creation") {
        made = try PageStore.open(path, options: options(.full))
      }
      let store = try #require(made)
      try expect(
        ["fdatasync store", "fsync the folder", "fdatasync store-log"], "a commit that begins a log"
      ) { try put(store, 1) }
      try expect(["fdatasync store-log"], "a commit") { try put(store, 2) }
      // The pages before the meta page that leads to them.
      try expect(["fdatasync store", "fdatasync store"], "a checkpoint") { try store.checkpoint() }
      try expect(["fdatasync store-log"], "a commit after it") { try put(store, 3) }
      try expect(["fdatasync store-copy-new", "fsync the folder"], "a copy") {
        try store.backUp(to: path + "-copy")
      }
      try expect(
        ["fdatasync store", "fdatasync store", "fdatasync store-new", "fsync the folder"],
        "a compaction"
      ) { try store.compact() }
      try expect([], "closing what is clean") { try store.close() }
    }
  }
#endif
