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

/// A log of 16 MB lay beside a store of 8 MB for as long as the program ran, though nobody wrote.
@Suite struct IdleLogTests {
  let folder: TemporaryFolder
  var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  private static func put(_ number: Int64, byteCount: Int = 1, in store: PageStore) throws {
    try store.write {
      try ($0.mutableRecordTree("a") ?? $0.createRecordTree("a"))
        .put([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount), for: number)
    }
  }

  private func keys(in store: PageStore) throws -> Int? {
    try store.read { try $0.recordTree("a")?.count }
  }

  private var isOneFile: Bool {
    folder.names.allSatisfy { !$0.contains("-log") && !$0.contains("-pages") }
  }

  /// Waits until the store is one file and says so, a minute at most: on a busy machine another
  /// thread may come between the two.
  private func settles(_ store: PageStore) -> Bool {
    for _ in 0..<6000 {
      let figures = store.statistics
      if isOneFile, figures.logByteCount == 0, figures.changedByteCount == 0 { return true }
      usleep(10_000)
    }
    return false
  }

  @Test func `a store that nobody writes to is one file, and goes on`() throws {
    var options = PageStoreOptions()
    options.idleLogLimit = .milliseconds(40)
    let store = try PageStore.open(path, options: options)
    for number in 0..<3 as Range<Int64> {
      let before = try store.snapshot()
      for key in 0..<20 as Range<Int64> {
        try Self.put(number * 20 + key, byteCount: 60_000, in: store)
      }
      #expect(settles(store), "\(folder.names) \(store.statistics)")
      #expect(try keys(in: store) == Int(number + 1) * 20)
      #expect(try before.recordTree("a")?.count ?? 0 == Int(number) * 20)
      #expect(try store.check().findings.isEmpty)
    }
    try store.close()
    #expect(folder.names == ["store"])
    let again = try PageStore.open(path)
    #expect(try keys(in: again) == 60)
    try again.close()
  }

  @Test func `a log that is written to stays, and one of a store without a limit`() throws {
    var options = PageStoreOptions()
    options.idleLogLimit = .milliseconds(200)
    let store = try PageStore.open(path, options: options)
    for key in 0..<12 as Range<Int64> {
      let start = ContinuousClock.now
      try Self.put(key, in: store)
      usleep(25_000)
      let isThere = folder.names.contains("store-log")
      // A busy machine may have had better things to do than to write.
      #expect(isThere || ContinuousClock.now - start >= .milliseconds(200))
    }
    try store.close()
    let patient = try PageStore.open(path)
    try Self.put(99, in: patient)
    usleep(250_000)
    #expect(folder.names.contains("store-log"))
    try patient.removeLog()
    #expect(isOneFile)
    try patient.removeLog()
    try Self.put(100, in: patient)
    #expect(folder.names.contains("store-log"))
    try patient.close()
  }

  @Test func `threads that write while the log comes and goes lose nothing`() throws {
    var options = PageStoreOptions()
    options.idleLogLimit = .milliseconds(1)
    let store = try PageStore.open(path, options: options)
    runOnThreads(3) { thread in
      #expect(throws: Never.self) {
        for key in 0..<60 as Range<Int64> {
          try Self.put(Int64(thread) * 1000 + key, byteCount: 500, in: store)
          if key % 7 == 0 { usleep(3_000) }
          if key % 20 == 0 { try store.removeLog() }
        }
      }
    }
    #expect(try keys(in: store) == 180)
    #expect(try store.check().findings.isEmpty)
    try store.close()
    #expect(folder.names == ["store"])
  }
}
