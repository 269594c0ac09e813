import QuireSimulation
import QuireStorage
import Testing

/// Pages that another process changes, and that are made when somebody reads them.
@Suite("Deferred pages") struct DeferredPages {
  private struct Pair {
    let disk = SimulatedDisk()
    let other: OtherProcess
    let writer: PageStore

    init(isShared: Bool = false) throws {
      other = OtherProcess(disk)
      writer = try PageStore.open("store", options: Pair.options(isShared), in: disk)
    }

    static func options(_ isShared: Bool) -> PageStoreOptions {
      var options = Proof.options
      options.isShared = isShared
      options.turnKeepInterval = .zero
      return options
    }

    func reader() throws -> PageStore {
      var options = Pair.options(false)
      options.isReadOnly = true
      return try PageStore.open("store", options: options, in: other)
    }
  }

  private static func values(_ store: PageStore) throws -> [UInt8] {
    try store.read { try Proof.values($0) }
  }

  /// What a reader reads of the disk for a commit does not grow with the pages that it changes.
  @Test func `a commit costs no page that nobody reads`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<2_000, 1)
    try pair.writer.checkpoint()
    let reader = try pair.reader()
    _ = try reader.snapshot()
    var counts: [Int] = []
    for (number, keys) in [(2, 0..<1), (3, 0..<1), (4, 0..<2_000)] as [(UInt8, Range<Int64>)] {
      try Proof.put(pair.writer, keys, number)
      let before = pair.other.readCount
      _ = try reader.snapshot()
      counts.append(pair.other.readCount - before)
    }
    // The maps are read, two or three.
    #expect(counts[2] <= counts[1] + 8, "\(counts)")
    #expect(try Set(Self.values(reader)) == [4])
    #expect(try reader.check().isSound)
  }

  /// However long it was not read, and however long the differences are.
  @Test(arguments: [1, 40, 300] as [Int64])
  func `a page is what all commits have made of it`(width: Int64) throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<300, 1)
    try pair.writer.checkpoint()
    let readers = try (0..<4).map { _ in try pair.reader() }
    _ = try Self.values(readers[0])
    var expected = [UInt8](repeating: 1, count: 300)
    var snapshots: [(Snapshot, [UInt8])] = []
    for number in 2...200 as ClosedRange<UInt8> {
      let first = Int64(number) * 7 % (301 - width)
      try Proof.put(pair.writer, first..<(first + width), number)
      for key in first..<(first + width) { expected[Int(key)] = number }
      for (index, reader) in readers.enumerated() {
        let snapshot = try reader.snapshot()
        // The last one looks at the end alone.
        if index < 3, Int(number) % [3, 50, 90][index] == 0 {
          #expect(try Proof.values(snapshot) == expected)
        }
        if number % 60 == 0 { snapshots.append((snapshot, expected)) }
      }
    }
    for reader in readers {
      #expect(try Self.values(reader) == expected)
      #expect(try reader.check().isSound)
    }
    for (snapshot, expected) in snapshots { #expect(try Proof.values(snapshot) == expected) }
  }

  @Test func `threads that read the same pages for the first time read the same`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<600, 1)
    try pair.writer.checkpoint()
    let reader = try pair.reader()
    for number in 2...40 as ClosedRange<UInt8> {
      try Proof.put(pair.writer, 0..<600, number)
      try Proof.put(pair.writer, 0..<300, number)
      let snapshot = try reader.snapshot()
      runOnThreads(4) { _ in #expect((try? Set(Proof.values(snapshot))) == [number]) }
    }
  }

  /// What it has not read is made before it overwrites what that is made of.
  @Test func `a process that writes in turn overtakes none of its own snapshots`() throws {
    let pair = try Pair(isShared: true)
    let other = try PageStore.open("store", options: Pair.options(true), in: pair.other)
    try Proof.put(pair.writer, 0..<600, 1)
    try pair.writer.checkpoint()
    var snapshots: [(Snapshot, UInt8)] = []
    for number in 2...5 as ClosedRange<UInt8> {
      try Proof.put(pair.writer, 0..<600, number)
      snapshots.append((try other.snapshot(), number))
    }
    try Proof.put(other, 0..<600, 6)
    try other.checkpoint()
    for (snapshot, number) in snapshots { #expect(try Set(Proof.values(snapshot)) == [number]) }
    for store in [pair.writer, other] { #expect(try Set(Self.values(store)) == [6]) }
  }

  @Test func `what the log changes of a damaged page is damage for whoever reads it`() throws {
    let pair = try Pair()
    try Proof.put(pair.writer, 0..<600, 1)
    try Proof.put(pair.writer, 0..<10, 1, in: "others")
    try pair.writer.checkpoint()
    let reader = try pair.reader()
    #expect(try Set(reader.read { try Proof.values($0, in: "others") }) == [1])
    try Proof.put(pair.writer, 0..<600, 2)
    // All that the reader has not read.
    let pages = try 12..<(#require(pair.disk.files["store"]).count / 512)
    func spoil() {
      pair.disk.alter { disk in
        for page in pages { disk.spoil("store", at: page * 512 + 100) }
      }
    }
    spoil()
    do {
      _ = try Self.values(reader)
      Issue.record("damage was read")
    } catch let error as StorageError {
      switch error {
      case .damaged, .snapshotTooOld: break
      default: throw error
      }
    }
    spoil()
    #expect(try Set(Self.values(reader)) == [2])
  }
}
