import QuireSimulation
import QuireStorage
import Testing

/// Flipped bits, lost ends, foreign bytes: an error or the right data, never anything else.
@Suite struct `Damage` {
  private func options(readOnly: Bool = false) -> PageStoreOptions {
    var options = Workload.options
    options.isReadOnly = readOnly
    return options
  }

  /// A closed store, and one whose process died with commits in the log.
  private func files(closed: Bool) throws -> (files: [String: [UInt8]], [Workload.Contents]) {
    let workload = try Workload([.commit(0), .checkpoint, .commit(1), .commit(2)])
    let disk = SimulatedDisk()
    var store: PageStore? = try .open("store", options: options(), in: disk)
    for number in 0..<3 {
      try store?.write { try Workload.change($0, number) }
      if number == 0 { try store?.checkpoint() }
    }
    if closed { try store?.close() }
    store = nil
    return (disk.files, workload.states)
  }

  /// What is read is one of the states, or an error is thrown; in a tree, entries before a damaged
  /// page may be read, and must be right.
  private func expectErrorOrTruth(
    _ files: [String: [UInt8]], _ states: [Workload.Contents], _ what: String
  ) {
    do {
      let store = try PageStore.open(
        "store", options: options(readOnly: true), in: SimulatedDisk(files))
      let report = try store.check()
      do {
        let contents = try Workload.contents(of: store)
        #expect(states.contains(contents), "\(what): wrong content")
      } catch {
        #expect(!report.isSound, "\(what): unreadable, but sound")
      }
      try store.close()
    } catch {
      // The error's type is StorageError, as the compiler knows; nothing trapped.
    }
  }

  @Test func `any flipped byte of a closed store gives an error or the last commit`() throws {
    let (files, states) = try files(closed: true)
    let bytes = try #require(files["store"])
    let last = try #require(states.last)
    for position in positions(bytes.count, seed: 1) {
      for mask in [0x01, 0x80, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[position] ^= mask
        expectErrorOrTruth(["store": damaged], [last], "byte \(position) ^ \(mask)")
      }
    }
  }

  @Test func `any flipped byte of the log gives an error or a whole commit`() throws {
    let (files, states) = try files(closed: false)
    let bytes = try #require(files["store-log"])
    let used = try #require(bytes.lastIndex { $0 != 0 }) + 1
    for position in positions(used, seed: 2) {
      var damaged = files
      damaged["store-log"]?[position] ^= 0x10
      expectErrorOrTruth(damaged, [states[2], states[3]], "log byte \(position)")
    }
  }

  @Test func `a store or a log cut short gives an error or a whole commit`() throws {
    for closed in [true, false] {
      let (files, states) = try files(closed: closed)
      for (path, bytes) in files where path != "store-owner" {
        for length in stride(from: 0, to: bytes.count, by: 512) {
          var damaged = files
          damaged[path] = [UInt8](bytes[..<length])
          // A log cut short may have lost any of its commits: a torn end looks the same.
          expectErrorOrTruth(
            damaged, closed ? [states[3]] : Array(states[1...]), "\(path) cut to \(length)")
        }
      }
    }
  }

  @Test func `an inspection tells a file that was cut, and writing in its first page`() throws {
    let whole = try #require(try files(closed: true).files["store"])
    func findings(_ bytes: [UInt8]) throws -> [String] {
      let disk = SimulatedDisk(["store": bytes])
      return try PageStore.open("store", options: options(readOnly: true), in: disk)
        .check().findings.map(\.message)
    }
    #expect(try findings(whole).isEmpty)
    #expect(try findings(Array(whole.dropLast())).first?.contains("ends after") == true)
    var written = whole
    written[100] = 1
    #expect(try findings(written).count == 1)
  }

  @Test func `a page in another's place is damaged`() throws {
    let (files, states) = try files(closed: true)
    let bytes = try #require(files["store"])
    for page in 5..<(bytes.count / 512) {
      var damaged = bytes
      let other = page == 5 ? 6 : 5
      damaged.replaceSubrange(
        page * 512..<(page + 1) * 512, with: bytes[other * 512..<(other + 1) * 512])
      expectErrorOrTruth(["store": damaged], [states[3]], "page \(page)")
    }
  }

  @Test func `a damaged page is named, and the other trees stay readable`() throws {
    let disk = SimulatedDisk()
    var options = options()
    let store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      try transaction.createRecordTree("good").put([1], for: 1)
      try transaction.createRecordTree("bad").put([2], for: 2)
    }
    try store.close()
    var files = disk.files
    // Page 5 is the first tree's root, page 6 the second's.
    files["store"]?[6 * 512 + 100] ^= 1
    options.isReadOnly = true
    let damaged = try PageStore.open("store", options: options, in: SimulatedDisk(files))
    try damaged.read { snapshot in
      #expect(try snapshot.recordTree("good")?.value(for: 1)?.array == [1])
      let bad = try #require(try snapshot.recordTree("bad"))
      do throws(StorageError) {
        _ = try bad.value(for: 2)
        Issue.record("a damaged page was read")
      } catch .damaged(let page, _) {
        #expect(page.rawValue == 6)
      } catch {
        Issue.record("\(error)")
      }
    }
    #expect(try damaged.check().findings.contains { $0.page?.rawValue == 6 })
    try damaged.close()
  }

  @Test func `a durable commit lost from the middle of the log is told, not dropped`() throws {
    let (files, _) = try files(closed: false)
    let magic = [UInt8]("Qcommit1".utf8)
    var damaged = files
    let bytes = try #require(files["store-log"])
    let first = try #require(
      (4096..<bytes.count).first { Array(bytes[$0..<($0 + 8)]) == magic })
    damaged["store-log"]?[first + 200] ^= 1
    #expect(
      throws: StorageError.logDamaged(
        path: "store-log", firstLost: CommitNumber(rawValue: 2),
        lastLost: CommitNumber(rawValue: 2))
    ) {
      try PageStore.open("store", options: options(), in: SimulatedDisk(damaged))
    }
  }

  @Test func `a torn tail is dropped`() throws {
    let (files, states) = try files(closed: false)
    var damaged = files
    let used = try #require(files["store-log"]?.lastIndex { $0 != 0 })
    damaged["store-log"]?[used] ^= 1
    let store = try PageStore.open("store", options: options(), in: SimulatedDisk(damaged))
    #expect(try Workload.contents(of: store) == states[2])
    #expect(try store.check().isSound)
    try store.close()
  }

  /// Content that no checksum can catch: each page is changed at random and sealed again.
  @Test func `nonsense under a right checksum neither traps nor hangs`() throws {
    let (files, _) = try files(closed: true)
    let bytes = try #require(files["store"])
    let identity = Workload.options.identity ?? .random()
    var generator = SeededGenerator(seed: 77)
    for _ in 0..<(isExhaustive ? 20_000 : 600) {
      var damaged = bytes
      let page = 3 + generator.below(bytes.count / 512 - 3)
      for _ in 0...generator.below(3) {
        // The header and the slots after it are where numbers are trusted.
        let position = page * 512 + 8 + generator.below(generator.below(2) == 0 ? 60 : 504)
        damaged[position] = UInt8(truncatingIfNeeded: generator.next())
      }
      PageSealing.seal(&damaged, page: page, pageSize: 512, identity: identity)
      exercise(["store": damaged])
    }
  }

  /// The same for a deep index tree: a node that lies about its prefix, its heads or its cells, or
  /// two nodes that disagree about a bound.
  @Test func `nonsense in index nodes neither traps nor hangs`() throws {
    let seed: UInt64 = 78
    print("index nonsense: seed \(seed)")
    func key(_ number: Int) -> [UInt8] {
      Array("node/\(number % 3 == 0 ? "longer/and/longer/still/" : "")\(number * 37 % 1000)".utf8)
    }
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: options(), in: disk)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for number in 0..<250 { try tree.put([1, 2, 3], for: key(number)) }
    }
    try store.close()
    let bytes = try #require(disk.files["store"])
    let identity = Workload.options.identity ?? .random()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<(isExhaustive ? 20_000 : 400) {
      var damaged = bytes
      let page = 5 + generator.below(bytes.count / 512 - 5)
      for _ in 0...generator.below(2) {
        let position = page * 512 + 16 + generator.below(generator.below(2) == 0 ? 60 : 496)
        damaged[position] =
          generator.below(3) == 0
          ? UInt8(truncatingIfNeeded: generator.next())
          : damaged[position] &+ [1, 2, 0xFF, 0xFE][generator.below(4)]
      }
      PageSealing.seal(&damaged, page: page, pageSize: 512, identity: identity)
      let store = try PageStore.open(
        "store", options: options(), in: SimulatedDisk(["store": damaged]))
      for _ in 0..<4 {
        try? store.write { transaction in
          guard let tree = try transaction.mutableIndexTree("index") else { return }
          for _ in 0..<25 { try tree.put([4, 5], for: key(generator.below(2000))) }
          for _ in 0..<50 { try tree.remove(key(generator.below(250))) }
          var cursor = tree.cursor()
          while try cursor.previous() { _ = try cursor.key }
        }
      }
      try? store.close()
    }
  }

  /// Opens for writing and does everything to it; only errors are allowed.
  private func exercise(_ files: [String: [UInt8]]) {
    do {
      let store = try PageStore.open("store", options: options(), in: SimulatedDisk(files))
      _ = try store.check()
      _ = try? Workload.contents(of: store)
      for number in 3..<6 { try? store.write { try Workload.change($0, number) } }
      try? store.write { transaction in
        try transaction.mutableRecordTree("records")?.removeAll()
        try transaction.dropTree("index")
      }
      try store.close()
    } catch {
      // An error is an answer; a trap or a loop without end is what this looks for.
    }
  }

  private func positions(_ count: Int, seed: UInt64) -> [Int] {
    guard !isExhaustive else { return Array(0..<count) }
    var generator = SeededGenerator(seed: seed)
    print("positions: seed \(seed)")
    return Array(0..<120) + (0..<250).map { _ in generator.below(count) }
  }
}
