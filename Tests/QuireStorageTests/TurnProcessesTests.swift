import QuireSimulation
import QuireStorage
import Testing

/// Real processes that write one store in turn.
@Suite struct `Processes in turn` {
  /// What each process does: it counts its commits in the store, together with those of all.
  private enum Counting {
    static let all: Int64 = 100

    static func options(_ durability: Durability) -> PageStoreOptions {
      var options = PageStoreOptions()
      options.isShared = true
      options.durability = durability
      options.checkpointByteLimit = 64 << 10
      return options
    }

    static func count(of key: Int64, in reader: some TreeReader) throws -> Int64 {
      guard let value = try reader.recordTree("counts")?.value(for: key)?.array else { return 0 }
      return value.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
    }

    static func check(_ reader: some TreeReader, _ processes: Range<Int64>) throws {
      let sum = try processes.reduce(0) { try $0 + count(of: $1, in: reader) }
      let total = try count(of: all, in: reader)
      guard sum == total else { throw Violation("\(sum) of each, \(total) of all") }
    }

    static func commit(_ process: Int64, to store: PageStore) throws -> Int64 {
      try store.write { transaction in
        try check(transaction, 0..<4)
        let tree =
          try transaction.mutableRecordTree("counts") ?? transaction.createRecordTree("counts")
        let count = try count(of: process, in: transaction) + 1
        for (key, value) in [
          (process, count), (all, try Counting.count(of: all, in: transaction) + 1),
        ] {
          try tree.put(withUnsafeBytes(of: value) { Array($0) }, for: key)
        }
        // Something for the checkpoints.
        for key in 0..<20 as Range<Int64> {
          try tree.put(
            [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 50), for: 1_000 + key)
        }
        return count
      }
    }

    /// Four processes write, and are killed.
    static func killing(_ durability: Durability) throws {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let options = Counting.options(durability)
      let fileSystem = DiskFileSystem()
      func notePath(_ process: Int64) -> String { "\(folder.path)/returned-\(process)" }
      for process in 0..<4 as Range<Int64> { _ = try fileSystem.open(notePath(process), .create) }
      func run(_ process: Int64) throws {
        let note = try fileSystem.open(notePath(process), .write)
        let store = try PageStore.open(path, options: options)
        while true {
          let count = try Counting.commit(process, to: store)
          try withUnsafeBytes(of: count) { try note.write($0, at: 0) }
          if count % 200 == 199 { try store.compact() }
          if count % 70 == 69 { try store.removeLog() }
        }
      }
      var children = try (0..<4 as Range<Int64>).map { process in
        try ChildProcess { try run(process) }
      }
      var generator = SeededGenerator(seed: 1)
      for _ in 0..<Amount.of(debug: 30, release: 100, exhaustive: 1_000) as Range<Int> {
        PageStore.pause(milliseconds: UInt32(5 + generator.below(60)))
        let victim = generator.below(4)
        children[victim].kill()
        children[victim] = try ChildProcess { try run(Int64(victim)) }
      }
      for child in children { child.kill() }
      let store = try PageStore.open(path, options: options)
      try store.read { try Counting.check($0, 0..<4) }
      var total: Int64 = 0
      for process in 0..<4 as Range<Int64> {
        let note = try fileSystem.open(notePath(process), .read)
        var returned: Int64 = 0
        _ = try withUnsafeMutableBytes(of: &returned) { try note.read(at: 0, into: $0) }
        let count = try store.read { try Counting.count(of: process, in: $0) }
        guard count == returned || count == returned + 1 else {
          throw Violation("process \(process) was told of \(returned) commits, \(count) are there")
        }
        guard returned > 0 else { throw Violation("process \(process) had no turn") }
        total += count
      }
      guard try store.check().isSound else { throw Violation("it is not sound") }
      _ = try Counting.commit(0, to: store)
      try store.close()
      let names = folder.names.filter { !$0.hasPrefix("returned") }
      guard names == ["store"] else { throw Violation("left: \(names)") }
      print("turns of four processes: \(total) commits")
    }
  }

  @Test func `of four that are killed at random no commit is lost that returned`() async {
    await #expect(processExitsWith: .success) { try Counting.killing(.full) }
    await #expect(processExitsWith: .success) { try Counting.killing(.ordered) }
  }

  @Test func `of two that write without a pause both have their turns`() async {
    await #expect(processExitsWith: .success) {
      for durability in [Durability.full, .ordered] {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store"
        let children = try (0..<2 as Range<Int64>).map { process in
          try ChildProcess {
            let store = try PageStore.open(path, options: Counting.options(durability))
            let end = ContinuousClock.now + .seconds(2)
            while ContinuousClock.now < end { _ = try Counting.commit(process, to: store) }
            try store.close()
          }
        }
        for child in children { try child.wait() }
        let store = try PageStore.open(path)
        let counts = try store.read { snapshot in
          try (0..<2).map { try Counting.count(of: $0, in: snapshot) }
        }
        print("turns of two processes, \(durability): \(counts)")
        let share = Double(counts.min() ?? 0) / Double(counts.reduce(0, +))
        guard share > 0.3 else { throw Violation("their shares are \(counts)") }
      }
    }
  }

  /// Programs of their own, which have all the threads of the engine: turns are kept for a while,
  /// and checkpoints run in the background.
  @Test func `programs of several threads write in turn`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    async let one: Void = Self.program(0, path)
    async let two: Void = Self.program(2, path)
    _ = await (one, two)
    let store = try PageStore.open(path)
    try store.read { snapshot in
      try Counting.check(snapshot, 0..<4)
      for process in 0..<4 as Range<Int64> {
        #expect(try Counting.count(of: process, in: snapshot) > 0)
      }
    }
    #expect(try store.check().isSound)
    try store.close()
    #expect(folder.names == ["store"])
  }

  private static func program(_ number: Int64, _ path: String) async {
    await #expect(processExitsWith: .success) { [number = number as Int64, path = path as String] in
      let store = try PageStore.open(
        path, options: Counting.options(number == 0 ? .full : .ordered))
      let end = ContinuousClock.now + .seconds(2)
      runOnThreads(2) { thread in
        do {
          while ContinuousClock.now < end {
            _ = try Counting.commit(number + Int64(thread), to: store)
          }
        } catch {
          fatalError("\(error)")
        }
      }
      try store.close()
    }
  }
}
