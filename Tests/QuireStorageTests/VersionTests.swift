import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

@Suite("Versions, the cache and the log")
struct VersionTests {
  private func options(
    pageSize: Int = 512, _ change: (inout PageStoreOptions) -> Void = { _ in }
  ) -> PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    change(&options)
    return options
  }

  private func put(_ store: PageStore, _ keys: some Sequence<Int64>, _ byte: UInt8) throws {
    try store.write { transaction in
      let tree =
        try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
      for key in keys { try tree.put([UInt8](repeating: byte, count: 60), for: key) }
    }
  }

  private func sum(_ snapshot: Snapshot) throws -> Int {
    var cursor = try #require(try snapshot.recordTree("records")).cursor()
    var sum = 0
    while try cursor.next() { sum += Int(try cursor.storedValue().array[0]) }
    return sum
  }

  @Test(arguments: [true, false])
  func `a snapshot that keeps too much expires, and the error names its holder`(
    isFile: Bool
  ) throws {
    let store =
      isFile
      ? try PageStore.open(
        "store", options: options { $0.retainedByteLimit = 100_000 }, in: MemoryFileSystem())
      : PageStore.inMemory(pageSize: 512)
    try put(store, 0..<2000, 1)
    let held = try store.snapshot()
    #expect(try sum(held) == 2000)
    var expired = false
    for round in 0..<20 {
      try put(store, 0..<2000, UInt8(round))
      // A snapshot of now is never in danger.
      #expect(try sum(try store.snapshot()) == 2000 * round)
      do {
        #expect(try sum(held) == 2000)
      } catch StorageError.snapshotExpired(let holder, let commit, _, let limit) {
        #expect(holder.contains("VersionTests.swift:"))
        #expect(commit == held.commitNumber)
        #expect(limit == 100_000)
        expired = true
      }
    }
    // In memory the default limit holds, which is not reached here.
    #expect(expired == isFile)
    if isFile { #expect(store.statistics.retainedByteCount <= 100_000) }
    #expect(try store.check().isSound)
  }

  @Test func `one snapshot keeps at most one version of each page`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    try put(store, 0..<2000, 1)
    let held = try store.snapshot()
    try put(store, 0..<2000, 2)
    let once = store.statistics.retainedByteCount
    for round in 3..<10 as Range<UInt8> { try put(store, 0..<2000, round) }
    #expect(store.statistics.retainedByteCount <= once + once / 4)
    #expect(try sum(held) == 2000)
  }

  /// Of 8,000 keys, a checkpoint overwrote pages that lie before the map of their group without
  /// putting them aside for the held snapshot: their map was not in memory, and was put aside after
  /// them. The snapshot then found "page 709 is damaged: it carries commit 17, the store is at 16".
  @Test(arguments: Amount.of(debug: [8_000], release: [8_000, 20_000] as [Int64]))
  func `a store larger than the cache is read and changed within it`(count: Int64) throws {
    let fileSystem = MemoryFileSystem()
    let limit = 128 * 512
    let store = try PageStore.open(
      "store", options: options { $0.cacheByteLimit = limit }, in: fileSystem)
    for start in stride(from: 0, to: count, by: 500) {
      try put(store, start..<(start + 500), 3)
    }
    let held = try store.snapshot()
    #expect(store.statistics.pageCount > Int(count) / 10)
    var generator = SeededGenerator(seed: 5)
    var changed: Set<Int64> = []
    for _ in 0..<40 {
      let keys = (0..<20).map { _ in Int64(generator.below(Int(count))) }
      changed.formUnion(keys)
      try put(store, keys, 5)
      let key = Int64(generator.below(Int(count)))
      let value = try store.snapshot().recordTree("records")?.value(for: key)
      #expect(value?.array.first == (changed.contains(key) ? 5 : 3))
      let statistics = store.statistics
      #expect(statistics.cachedByteCount <= limit)
    }
    // What the checkpoints overwrote, this one sees still.
    #expect(try sum(held) == 3 * Int(count))
    #expect(try sum(try store.snapshot()) == 3 * Int(count) + 2 * changed.count)
    #expect(try store.check().isSound)
    try store.close()
    let reopened = try PageStore.open("store", in: fileSystem)
    #expect(try sum(try reopened.snapshot()) == 3 * Int(count) + 2 * changed.count)
  }

  /// What commits have done while a checkpoint is held up.
  private final class Progress: Sendable {
    let commitCount = Atomic(0)
    let most = Atomic(0)
  }

  /// Commits are faster than a checkpoint that the disk holds up.
  @Test func `commits wait for a checkpoint rather than fill the memory`() throws {
    let disk = HookedDisk()
    let limit = 128 * 512
    let store = try PageStore.open(
      "store",
      options: options {
        $0.cacheByteLimit = limit
        $0.durability = .ordered
        $0.checkpointByteLimit = 16 << 20
        $0.checkpointsInBackground = true
      }, in: disk)
    try put(store, 0..<5_000, 3)
    try store.checkpoint()
    // The disk holds the checkpoint up until half of what is allowed has been changed, and then
    // for as long as commits return.
    let progress = Progress()
    disk.before(.checkpointPages) {
      var (last, quiet, rounds) = (0, 0, 0)
      while quiet < 40 && rounds < 10_000 {
        rounds += 1
        usleep(1_000)
        let count = progress.commitCount.load(ordering: .relaxed)
        let isEnough = progress.most.load(ordering: .relaxed) > limit / 2
        quiet = isEnough && count == last ? quiet + 1 : 0
        last = count
      }
    }
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<60 {
      try put(store, (0..<20).map { _ in Int64(generator.below(5_000)) }, 5)
      progress.most.max(store.statistics.changedByteCount, ordering: .relaxed)
      progress.commitCount.add(1, ordering: .relaxed)
    }
    let most = progress.most.load(ordering: .relaxed)
    #expect(!disk.isWaiting)
    // Beyond the limit by what one commit changes: 20 leaves, and what leads to them.
    #expect(most > limit / 2 && most <= limit + 60 * 512)
    try store.close()
    #expect(try PageStore.open("store", in: disk).check().isSound)
  }

  /// A page was free in a newer snapshot and in use in an older one, and not in memory, when a
  /// checkpoint overwrote it: it was put aside for neither, since only the newer one's map was
  /// asked whether it is worth it. The older one then found "it carries commit 37, the store is at
  /// 26".
  @Test func `an older snapshot keeps a page that a newer one has free, whoever overwrites it`()
    throws
  {
    let fileSystem = MemoryFileSystem()
    let options = options { $0.cacheByteLimit = 64 * 512 }
    func fill(_ store: PageStore, _ name: String, _ byte: UInt8) throws {
      try store.write { transaction in
        let tree = try transaction.createRecordTree(name)
        for key in 0..<900 as Range<Int64> {
          try tree.put([UInt8](repeating: byte, count: 60), for: key)
        }
      }
    }
    func sum(_ snapshot: Snapshot, _ name: String) throws -> Int {
      var cursor = try #require(try snapshot.recordTree(name)).cursor()
      var sum = 0
      while try cursor.next() { sum += Int(try cursor.storedValue().array[0]) }
      return sum
    }
    do {
      let store = try PageStore.open("store", options: options, in: fileSystem)
      try fill(store, "dropped", 1)
      // The store must not end with what is dropped, or its pages would not be free but gone.
      try fill(store, "last", 2)
      try store.close()
    }
    let store = try PageStore.open("store", options: options, in: fileSystem)
    let older = try store.snapshot()
    try store.write { try $0.dropTree("dropped") }
    // From here on nothing in memory says that the pages are free but their maps.
    try store.checkpoint()
    let newer = try store.snapshot()
    // Dropping has read all pages; now others are in the cache.
    #expect(try sum(newer, "last") == 1800)
    try fill(store, "again", 3)
    try store.checkpoint()
    #expect(try sum(older, "dropped") == 900)
    #expect(try newer.treeNames().map(\.name) == ["last"])
    #expect(try sum(try store.snapshot(), "again") == 2700)
    #expect(try store.check().isSound)
  }

  // Roots stay in memory: of so many trees they take more than there is.
  @Test func `a transaction that cannot keep within its limit is refused with the numbers`() throws
  {
    let store = try PageStore.open(
      "store", options: options { $0.transactionByteLimit = 50_000 }, in: MemoryFileSystem())
    try put(store, 0..<100, 1)
    do {
      try store.write { transaction in
        for number in 0..<200 { try transaction.createRecordTree("tree \(number)") }
      }
      Issue.record("it was accepted")
    } catch StorageError.transactionTooLarge(let byteCount, let limit) {
      #expect(limit == 50_000)
      #expect(byteCount > 50_000)
    }
    #expect(try sum(try store.snapshot()) == 100)
    try put(store, 0..<100, 2)
  }

  /// A gigabyte in one transaction, on a disk, with the default options.
  @Test(.enabled(if: isExhaustive))
  func `a gigabyte is put, and built, in little memory`() throws {
    let folder = try TemporaryFolder()
    let store = try PageStore.open(folder.path + "/store")
    let value = [UInt8](repeating: 7, count: 1000)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("put")
      for key in 0..<1_000_000 as Range<Int64> { try tree.put(value, for: key &* 7919 % 1_000_000) }
    }
    #expect(store.statistics.changedByteCount < 256 << 20)
    try store.write { transaction in
      try transaction.buildRecordTree("built") { builder in
        for key in 0..<1_000_000 as Range<Int64> { try builder.append(value, for: key) }
      }
    }
    #expect(store.statistics.changedByteCount < 8 << 20)
    for name in ["put", "built"] {
      let tree = try #require(try store.snapshot().recordTree(name))
      #expect(tree.count == 1_000_000)
      #expect(try tree.value(for: 999_999)?.array == value)
    }
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test func `the log goes round, and what it holds is recovered`() throws {
    let disk = SimulatedDisk()
    var options = options {
      $0.checkpointByteLimit = 12 << 10
      $0.checkpointsInBackground = false
    }
    options.identity = StoreIdentity(high: 1, low: 2)
    let store = try PageStore.open("store", options: options, in: disk)
    var largest = 0
    for round in 0..<300 {
      try put(store, [Int64(round % 50)], UInt8(round & 0xFF))
      largest = max(largest, disk.files["store-log"]?.count ?? 0)
      if round % 29 == 0 {
        let copy = SimulatedDisk(disk.files)
        let recovered = try PageStore.open("store", options: options, in: copy)
        #expect(
          try recovered.snapshot().recordTree("records")?.value(for: Int64(round % 50))?.array.first
            == UInt8(round & 0xFF))
        #expect(try recovered.check().isSound)
      }
    }
    #expect(largest < 80 << 10)
  }

  /// The log had no room for a transaction that had grown beyond a chunk of the overlay and shrunk
  /// again: it went on from the checkpoint's version with a directory too small for its chunks.
  @Test func `a transaction that grew and shrank goes on from a checkpoint`() throws {
    // So many commits before that the log has no room at one of them.
    for count in 0..<32 as Range<UInt8> {
      let store = try PageStore.open(
        "store",
        options: options {
          $0.checkpointByteLimit = 12 << 10
          $0.checkpointsInBackground = false
        }, in: MemoryFileSystem())
      try put(store, 0..<40, 100)
      // From here on the log gives nothing back, until a commit needs room and writes it.
      try store.beginCheckpoint()
      for round in 0..<count { try put(store, 0..<40, round) }
      try store.write { transaction in
        let tree = try transaction.createRecordTree("passing")
        for key in 0..<300 as Range<Int64> {
          try tree.put([UInt8](repeating: 7, count: 600), for: key)
        }
        try transaction.dropTree("passing")
        let records = try transaction.mutableRecordTree("records")
        for key in 0..<40 as Range<Int64> { try records?.put([200], for: key) }
      }
      #expect(try sum(try store.snapshot()) == 40 * 200)
      #expect(try store.check().isSound)
      #expect(store.statistics.pageCount < 256)
    }
  }

  @Test(arguments: [Durability.full, .ordered, .none])
  func `threads commit together, and each finds its commit when it returns`(
    durability: Durability
  ) throws {
    let folder = try TemporaryFolder()
    let options = options(pageSize: 4096) {
      $0.durability = durability
      $0.checkpointByteLimit = 64 << 10
    }
    let store = try PageStore.open("\(folder.path)/store", options: options)
    try store.write { _ = try $0.createRecordTree("records") }
    let failures = Mutex<[String]>([])
    runOnThreads(8) { thread in
      do {
        for round in 0..<40 {
          let key = Int64(thread * 1000 + round)
          try store.write { transaction in
            try transaction.mutableRecordTree("records")?.put([UInt8(thread)], for: key)
          }
          let found = try store.snapshot().recordTree("records")?.contains(key)
          if found != true { failures.withLock { $0.append("key \(key) is not there") } }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try store.snapshot().recordTree("records")?.count == 320)
    #expect(try store.check().isSound)
    try store.close()
    let reopened = try PageStore.open("\(folder.path)/store")
    #expect(try reopened.snapshot().recordTree("records")?.count == 320)
    #expect(try reopened.check().isSound)
  }

  /// A container that finds the schema there, and so writes none, reads it right afterwards.
  @Test func `a transaction that changes nothing returns when what it saw can be read`() throws {
    let disk = HookedDisk()
    let store = try PageStore.open("store", options: options(), in: disk)
    try put(store, [1], 1)
    let outcome = Mutex<[String]>([])
    let group = DispatchGroup()
    disk.before(.commit) {
      group.enter()
      Thread {
        do {
          let seen = try store.write { try $0.recordTree("records")?.contains(2) ?? false }
          let read = try store.snapshot().recordTree("records")?.contains(2) ?? false
          outcome.withLock { $0.append("seen \(seen), read \(read)") }
        } catch {
          outcome.withLock { $0.append("\(error)") }
        }
        group.leave()
      }.start()
      // It waits for the very sync that is about to happen, and so cannot be waited for here.
      Thread.sleep(forTimeInterval: 0.1)
    }
    try put(store, [2], 2)
    group.wait()
    #expect(outcome.withLock { $0 } == ["seen true, read true"])
  }
}
