import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// The orders that the engine keeps, looked at in the one moment that shows each. Every test here
/// was red when its order was turned round (`Tests/Mutants`).
@Suite("Proofs of order")
struct OrderProofTests {
  private let disk = HookedDisk()

  private func open(_ change: (inout PageStoreOptions) -> Void = { _ in }) throws -> PageStore {
    var options = Proof.options
    change(&options)
    return try PageStore.open("store", options: options, in: disk)
  }

  @Test func `no snapshot shows a commit that is not on disk`() throws {
    let store = try open()
    try Proof.put(store, 0..<1, 1)
    let seen = Mutex<UInt64?>(nil)
    disk.before(.commit) {
      let snapshot = try? store.snapshot()
      seen.withLock { $0 = snapshot?.commitNumber.rawValue }
    }
    try Proof.put(store, 0..<1, 2)
    #expect(seen.withLock { $0 } == 1)
    #expect(try store.snapshot().commitNumber.rawValue == 2)
  }

  /// A log that was begun lies beside a closed store, and no meta page says so. That of the closed
  /// store is the only one that leads anywhere: it may not be written over before what the log has
  /// is in the pages.
  @Test func `the only meta page that leads anywhere is not written over`() throws {
    let files = try filesWithBegunLog()
    #expect(files["store-log"] != nil)

    try expectKept([UInt8](repeating: 2, count: 40), whenNextIsCommittedTo: files)
  }

  /// What lies there when a log was begun beside a closed store, and nothing of that was synced.
  private func filesWithBegunLog() throws -> [String: [UInt8]] {
    let store = try open()
    try Proof.put(store, 0..<40, 1)
    try store.close()
    let disk = disk
    let left = Mutex<[String: [UInt8]]>([:])
    disk.before(.logCreation) { left.withLock { $0 = disk.disk.files } }
    try Proof.put(try open(), 0..<40, 2)
    return left.withLock { $0 }
  }

  /// Opens what was left, commits, and crashes before each sync on the way to that commit.
  private func expectKept(
    _ expected: [UInt8], whenNextIsCommittedTo files: [String: [UInt8]]
  ) throws {
    let disk = HookedDisk(SimulatedDisk(files))
    let states = Mutex<[DiskState]>([])
    for reason in [SyncReason.settledMeta, .recoveredLog, .checkpointPages, .logCreation] {
      disk.before(reason) { states.withLock { $0.append(disk.disk.state) } }
    }
    try Proof.put(try PageStore.open("store", options: Proof.options, in: disk), 0..<40, 3)
    #expect(states.withLock { !$0.isEmpty })
    // Once it is written, the commit may be there.
    let next = [UInt8](repeating: 3, count: 40)
    for state in states.withLock({ $0 }) {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(values == expected || values == next, "\(image)")
      }
    }
  }

  /// A closing removed the log and then the images, and a crash kept the second removal alone. The
  /// older meta page and the log lead to the newest commit, but not to its pages, which the closing
  /// had changed in the file: the meta page that says "closed" may not be written over.
  @Test func `the meta page of a closed store is not written over without the images`() throws {
    // Nothing is in the log whole.
    let store = try open { $0.imageByteLimit = 0 }
    try Proof.put(store, 0..<40, 1)
    try store.checkpoint()
    try Proof.put(store, 10..<11, 2)
    let log = Mutex<[UInt8]?>(nil)
    let disk = disk
    disk.before(.checkpointMeta) { log.withLock { $0 = disk.disk.files["store-log"] } }
    try store.close()
    var files = disk.disk.files
    #expect(files["store-log"] == nil && files["store-pages"] == nil)
    let left: [UInt8] = try #require(log.withLock { $0 })
    files["store-log"] = left

    try expectKept((0..<40).map { $0 == 10 ? 2 : 1 }, whenNextIsCommittedTo: files)
  }

  @Test func `commits during a checkpoint leave the log that a crash would need`() throws {
    let store = try open()
    try Proof.put(store, 0..<40, 1)
    try Proof.put(store, 20..<40, 2)
    let states = Mutex<[DiskState]>([])
    let disk = disk
    disk.before(.checkpointPages) {
      for byte in 3..<6 as Range<UInt8> { try? Proof.put(store, 30..<40, byte) }
      states.withLock { $0.append(disk.disk.state) }
    }
    try store.checkpoint()
    #expect(!disk.isWaiting)
    states.withLock { $0.append(disk.disk.state) }
    for state in states.withLock({ $0 }) {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(
          values == [UInt8](repeating: 1, count: 20) + [UInt8](repeating: 2, count: 10)
            + [UInt8](repeating: 5, count: 10), "\(image)")
      }
    }
  }

  /// A page is logged whole for the second time while the first is in the log still: what the
  /// second does not mention is zero, not what the first had there.
  @Test func `a page that the log has whole twice is what it was last`() throws {
    let store = try open()
    try Proof.put(store, 0..<10, 0xFF)
    let state = Mutex<DiskState?>(nil)
    let disk = disk
    disk.before(.checkpointPages) {
      try? Proof.put(store, 0..<10, 0)
      state.withLock { $0 = disk.disk.state }
    }
    try store.checkpoint()
    try Proof.afterCrashes(of: try #require(state.withLock { $0 })) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [UInt8](repeating: 0, count: 10), "\(image)")
    }
  }

  @Test func `pages around the log are on disk before anything refers to them`() throws {
    let store = try open()
    try Proof.put(store, 0..<3, 1)
    let state = Mutex<DiskState?>(nil)
    let disk = disk
    disk.before(.directPages) { state.withLock { $0 = disk.disk.state } }
    try Proof.build(store, "large", 7)
    try Proof.afterCrashes(of: try #require(state.withLock { $0 })) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [1, 1, 1], "\(image)")
    }
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot(), in: "large")
      #expect(values == [UInt8](repeating: 7, count: Int(Proof.largeCount)), "\(image)")
    }
  }

  /// Pages are logged, freed, and taken again around the log: replaying the log must not bring the
  /// old ones back.
  @Test func `pages around the log lie where the log brings nothing back`() throws {
    let store = try open()
    try Proof.put(store, 0..<Proof.largeCount, 1, in: "old")
    try store.write { try $0.dropTree("old") }
    try Proof.build(store, "large", 7)
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot(), in: "large")
      #expect(values == [UInt8](repeating: 7, count: Int(Proof.largeCount)), "\(image)")
    }
  }

  /// The snapshot's pages are in the file alone, and free in the newest version.
  @Test func `pages around the log, and the file's end, leave what a snapshot shows`() throws {
    let store = try open { $0.cacheByteLimit = 64 * 512 }
    try Proof.put(store, 0..<Proof.largeCount, 1, in: "old")
    try store.checkpoint()
    let held = try store.snapshot()
    let old = [UInt8](repeating: 1, count: Int(Proof.largeCount))
    try store.write { try $0.dropTree("old") }
    try store.checkpoint()
    try Proof.put(store, 0..<3, 2)
    try store.checkpoint()
    #expect(try Proof.values(held, in: "old") == old)
    try Proof.build(store, "large", 7)
    #expect(try Proof.values(held, in: "old") == old)
    #expect(
      try Proof.values(try store.snapshot(), in: "large")
        == [UInt8](repeating: 7, count: Int(Proof.largeCount)))
    #expect(try store.check().isSound)
  }

  /// The system tells of a failed sync once, and here it tells a transaction that writes around the
  /// log while a checkpoint is about to sync the same file. What the checkpoint wrote is lost, and
  /// its own sync succeeds.
  @Test func `a checkpoint does not believe a sync that comes after a failed one`() throws {
    let store = try open()
    try Proof.put(store, 0..<40, 1)
    let disk = disk
    disk.before(.checkpointPages) {
      disk.disk.fail(
        .init(operation: 1, .ioError, isForGood: true, onlySyncs: true), syncs: .ext4)
      #expect(throws: StorageError.self) { try Proof.build(store, "large", 7) }
      disk.disk.heal()
    }
    #expect(throws: StorageError.self) { try store.checkpoint() }
    #expect(disk.disk.failedSyncs == [.directPages])
    #expect(throws: StorageError.self) { try Proof.put(store, 0..<1, 2) }
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [UInt8](repeating: 1, count: 40), "\(image)")
    }
  }

  /// As above, but it is the log: the system tells a commit that its sync failed, while a
  /// checkpoint is about to sync that commit's record. What the record has is lost, and the sync
  /// succeeds.
  @Test func `a checkpoint does not believe a sync of the log that comes after a failed one`()
    throws
  {
    let store = try open()
    try Proof.put(store, 0..<40, 1)
    try store.checkpoint()
    let disk = disk
    let (isRunning, isThere) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (mayGoOn, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let hasThrown = Mutex<Bool?>(nil)
    let states = Mutex<[DiskState]>([])
    disk.before(.checkpointPages) { states.withLock { $0.append(disk.disk.state) } }
    disk.before(.commit) {
      disk.before(.checkpointLog) {
        isThere.signal()
        mayGoOn.wait()
      }
      Thread {
        isRunning.signal()
        let result = Result { try store.checkpoint() }
        hasThrown.withLock { $0 = if case .failure = result { true } else { false } }
        ended.signal()
      }.start()
      isRunning.wait()
      // Or it waits for this very sync, as it should: then the time runs out.
      _ = isThere.wait(timeout: .now() + 0.1)
      disk.disk.fail(
        .init(operation: disk.disk.operationCount + 1, .ioError, onlySyncs: true), syncs: .ext4)
    }
    #expect(throws: StorageError.self) { try Proof.put(store, 0..<40, 2) }
    disk.disk.heal()
    mayGoOn.signal()
    ended.wait()
    #expect(hasThrown.withLock { $0 } == true)
    for state in states.withLock({ $0 }) + [disk.disk.state] {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(values == [UInt8](repeating: 1, count: 40), "\(image)")
      }
    }
  }

  /// A write may have written all there is before the system finds that it must refuse it.
  @Test func `a commit that was refused for want of space does not come back`() throws {
    let store = try open()
    try Proof.put(store, 0..<3, 1)
    // It is tried again after a checkpoint; between the two, the first is spoilt.
    disk.refuseLogWrites([0, 2])
    #expect {
      try Proof.put(store, 0..<3, 2)
    } throws: { error in
      if case .noSpaceLeft = error as? StorageError { true } else { false }
    }
    let dead = try PageStore.open(
      "store", options: Proof.options, in: SimulatedDisk(disk.disk.files))
    #expect(try Proof.values(try dead.snapshot()) == [1, 1, 1])
    try Proof.put(store, 0..<3, 3)
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [3, 3, 3], "\(image)")
    }
  }

  /// The same of the first record after opening, which is written with the log's header, or after
  /// it when it is a large one.
  @Test(arguments: [1, 2], [false, true])
  func `a first commit that was refused for want of space does not come back`(
    version: UInt8, isLarge: Bool
  ) throws {
    var store = try open()
    if version == 2 {
      try Proof.put(store, 0..<3, 1)
      try store.close()
      store = try open()
    }
    let before = try Proof.values(try store.snapshot())
    disk.refuseLogWrites([isLarge ? 1 : 0])
    #expect {
      try Proof.put(store, 0..<(isLarge ? 20_000 : 3), version)
    } throws: { error in
      if case .noSpaceLeft = error as? StorageError { true } else { false }
    }
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == before, "\(image)")
    }
    try Proof.put(store, 0..<3, 3)
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [3, 3, 3], "\(image)")
    }
  }

  /// A process dies that has begun a log and synced nothing. The next one must not say that the log
  /// counts before it is on disk.
  @Test func `a log that was begun is on disk before a meta page says so`() throws {
    let store = try open()
    let disk = disk
    let states = Mutex<[DiskState]>([])
    disk.before(.logCreation) { states.withLock { $0.append(disk.disk.state) } }
    try Proof.put(store, 0..<3, 1)
    let left = SimulatedDisk(try #require(states.withLock { $0.first }))
    let next = HookedDisk(left)
    states.withLock { $0 = [] }
    for reason in [SyncReason.settledMeta, .recoveredLog, .logFolder, .checkpointPages] {
      next.before(reason) { states.withLock { $0.append(left.state) } }
    }
    _ = try PageStore.open("store", options: Proof.options, in: next)
    states.withLock { $0.append(left.state) }
    for state in states.withLock({ $0 }) {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(values == [] || values == [1, 1, 1], "\(image)")
      }
    }
  }

  /// A log was begun, and of that a crash left all but the header. What is begun next must not be
  /// the header of the record that lies there.
  @Test func `a log is not begun over what is left of another`() throws {
    var files = try filesWithBegunLog()
    var log = try #require(files["store-log"])
    for index in 0..<512 { log[index] = 0 }
    files["store-log"] = log
    // The crash left no note of the owner either: so nobody looks for leftovers and takes the log.
    files["store-owner"] = nil

    let next = HookedDisk(SimulatedDisk(files))
    let states = Mutex<[DiskState]>([])
    for reason in [SyncReason.logFolder, .logCreation] {
      next.before(reason) { states.withLock { $0.append(next.disk.state) } }
    }
    try Proof.put(try PageStore.open("store", options: Proof.options, in: next), 0..<40, 3)
    #expect(states.withLock { $0.count } == 2)
    for state in states.withLock({ $0 }) {
      try Proof.afterCrashes(of: state, limit: 400) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        let (former, new) = ([UInt8](repeating: 1, count: 40), [UInt8](repeating: 3, count: 40))
        #expect(values == former || values == new, "\(image)")
      }
    }
  }

  /// Of a meta page that the disk has spoiled, the next one written in its place might leave a part
  /// in a crash, which makes it whole again as it was meant.
  @Test func `a damaged meta page is cleared on disk before anything else is written`() throws {
    var store = try open()
    try Proof.put(store, 0..<40, 1)
    try store.close()
    store = try open()
    try Proof.put(store, 0..<40, 2)
    try store.close()
    let files = disk.disk.files
    let pageSize = Proof.options.pageSize
    var openedCount = 0
    for page in [1, 2] {
      let place = page * pageSize..<(page + 1) * pageSize
      var bytes = try #require(files["store"])
      bytes[place.lowerBound + 40] ^= 1
      let spoiled = SimulatedDisk(files.merging(["store": bytes]) { $1 })
      let next = HookedDisk(spoiled)
      let seen = Mutex<[(reason: SyncReason, store: [UInt8])]>([])
      for reason in [SyncReason.settledMeta, .logFolder, .logCreation, .checkpointPages] {
        next.before(reason) {
          let store = spoiled.files["store"] ?? []
          seen.withLock { $0.append((reason, store)) }
        }
      }
      // Without the newest nobody knows what the store was: that is an error.
      guard let store = try? PageStore.open("store", options: Proof.options, in: next)
      else { continue }
      openedCount += 1
      #expect(try Proof.values(try store.snapshot()) == [UInt8](repeating: 2, count: 40))
      try Proof.put(store, 0..<40, 3)
      let first = try #require(seen.withLock { $0.first })
      #expect(first.reason == .settledMeta)
      bytes.replaceSubrange(place, with: repeatElement(0, count: pageSize))
      let isAllElseAsItWas = first.store == bytes
      #expect(isAllElseAsItWas)
    }
    #expect(openedCount == 1)
  }

  /// A process dies that has compacted the store and not synced the new file's name. What the next
  /// one commits must not seem to go on from the old file, which a crash may bring back.
  @Test func `a log is not begun before the store's name is on disk`() throws {
    let store = try open()
    try Proof.put(store, 0..<40, 1)
    let disk = disk
    let states = Mutex<[DiskState]>([])
    disk.before(.replacementFolder) { states.withLock { $0.append(disk.disk.state) } }
    try store.compact()
    let left = SimulatedDisk(try #require(states.withLock { $0.first }))
    let next = HookedDisk(left)
    states.withLock { $0 = [] }
    for reason in [SyncReason.logFolder, .logCreation] {
      next.before(reason) { states.withLock { $0.append(left.state) } }
    }
    try Proof.put(try PageStore.open("store", options: Proof.options, in: next), 0..<3, 2)
    #expect(states.withLock { $0.count } == 2)
    let old = [UInt8](repeating: 1, count: 40)
    for state in states.withLock({ $0 }) {
      try Proof.afterCrashes(of: state) { recovered, image in
        let values = try Proof.values(try recovered.snapshot())
        #expect(values == old || values == [2, 2, 2] + old.dropFirst(3), "\(image)")
      }
    }
  }

  /// Two threads wait for one sync, and it fails. The next one would succeed, and say nothing about
  /// what was lost.
  @Test func `a failed sync fails every commit that waits for it`() throws {
    let store = try open()
    try Proof.put(store, 0..<3, 1)
    let disk = disk
    let ended = DispatchSemaphore(value: 0)
    let hasThrown = Mutex<Bool?>(nil)
    disk.before(.commit) {
      let before = disk.disk.operationCount
      Thread {
        let result = Result { try Proof.put(store, 3..<6, 3) }
        hasThrown.withLock { $0 = if case .failure = result { true } else { false } }
        ended.signal()
      }.start()
      // Until the other one's record is written; it then waits for this sync.
      while disk.disk.operationCount == before { Thread.sleep(forTimeInterval: 0.001) }
      disk.disk.fail(
        .init(operation: disk.disk.operationCount + 1, .ioError, onlySyncs: true), syncs: .ext4)
    }
    #expect(throws: StorageError.self) { try Proof.put(store, 0..<3, 2) }
    ended.wait()
    #expect(hasThrown.withLock { $0 } == true)
    disk.disk.heal()
    try Proof.afterCrashes(of: disk.disk.state) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect([[1, 1, 1], [2, 2, 2], [2, 2, 2, 3, 3, 3]].contains(values), "\(image)")
    }
  }

  /// The file of images is used again, so that a torn image is half of this time and half of last
  /// time. Nothing was overwritten yet when that happens.
  @Test func `images that are not whole are passed over`() throws {
    let store = try open {
      $0.pageSize = 4096
      $0.imageByteLimit = 0
    }
    for byte in 1...3 as ClosedRange<UInt8> {
      try Proof.put(store, 0..<200, byte)
      try store.checkpoint()
    }
    try Proof.put(store, 0..<200, 4)
    let state = Mutex<DiskState?>(nil)
    let disk = disk
    disk.before(.pageImages) { state.withLock { $0 = disk.disk.state } }
    try store.checkpoint()
    let found = try #require(state.withLock { $0 })
    let limit = Amount.of(debug: 50, release: 200)
    try Proof.afterCrashes(of: found, limit: limit) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [UInt8](repeating: 4, count: 200), "\(image)")
    }
  }

  /// A checkpoint runs out of space, before or while it overwrites pages, of which the log has
  /// differences alone: until the images of the next one and their name are on disk, its own are
  /// what brings those back.
  @Test(arguments: ImageCase.all)
  func `images stay until those of the next checkpoint are on disk`(_ example: ImageCase) throws {
    var cutShortCount = 0
    while true {
      let disk = SimulatedDisk()
      var options = Proof.options
      options.imageByteLimit = example.imageByteLimit
      var store = try PageStore.open("store", options: options, in: disk)
      try Proof.put(store, 0..<60, 1)
      try Proof.put(store, 0..<20, 1, in: "other")
      try store.close()
      store = try PageStore.open("store", options: options, in: disk)
      // Leaves that are no neighbours, so that one may be written and another not.
      for key in [5, 25, 45] as [Int64] { try Proof.put(store, key..<(key + 2), 2) }
      disk.fail(at: disk.operationCount + cutShortCount + 1, with: example.fault)
      #expect {
        try store.checkpoint()
      } throws: { error in
        if case .noSpaceLeft = error as? StorageError { return true }
        return disk.failedSyncs.contains(.checkpointPages)
      }
      // After that there is no other attempt.
      if disk.failedSyncs.contains(.checkpointPages) { break }
      cutShortCount += 1
      disk.heal()
      var expected = [UInt8](repeating: 1, count: 60)
      for key in [5, 6, 25, 26, 45, 46] { expected[key] = 2 }
      if example.goesOn {
        try Proof.put(store, 5..<6, 3)
        try Proof.put(store, 58..<60, 3)
        for key in [5, 58, 59] { expected[key] = 3 }
        try store.write { try $0.dropTree("other") }
      }
      let states = Mutex<[DiskState]>([])
      disk.observe { state, _ in states.withLock { $0.append(state) } }
      try store.checkpoint()
      disk.observe(nil)
      // In debug after some of the operations, others each time.
      let step = Amount.of(debug: 7, release: 1)
      for (number, state) in (states.withLock { $0 } + [disk.state]).enumerated()
      where number % step == cutShortCount % step {
        try Proof.afterCrashes(of: state, limit: Amount.of(debug: 3, release: 6, exhaustive: 300)) {
          recovered, image in
          let values = try Proof.values(try recovered.snapshot())
          #expect(
            values == expected,
            "operation \(cutShortCount) failed, then a crash after \(number), \(image)")
        }
      }
    }
    // Images, their file's name, pages.
    #expect(cutShortCount > 7)
  }

  struct ImageCase: Sendable {
    /// What the log has whole; the rest is in the images.
    var imageByteLimit: Int
    var fault: SimulatedDisk.Fault
    /// Whether there are commits between the two checkpoints.
    var goesOn: Bool

    static let all = Amount.of(sampled: [0], exhaustive: [0, 300]).flatMap { limit in
      [SimulatedDisk.Fault.noSpace, .shortWriteNoSpace].flatMap { fault in
        [false, true].map { ImageCase(imageByteLimit: limit, fault: fault, goesOn: $0) }
      }
    }
  }

  /// What was logged whole before a checkpoint began is history when that one is complete, whether
  /// the page was changed before it began or while it ran.
  @Test(arguments: [false, true])
  func `a page that a checkpoint leaves half-written is brought back`(whileRunning: Bool) throws {
    let store = try open { $0.pageSize = 4096 }
    let disk = disk
    try Proof.put(store, 0..<200, 1)
    if whileRunning {
      disk.before(.checkpointPages) { try? Proof.put(store, 0..<200, 2) }
    }
    try store.checkpoint()
    try Proof.put(store, 0..<200, 3)
    let state = Mutex<DiskState?>(nil)
    disk.before(.checkpointPages) { state.withLock { $0 = disk.disk.state } }
    try store.checkpoint()
    let found = try #require(state.withLock { $0 })
    let limit = Amount.of(debug: 25, release: 200)
    try Proof.afterCrashes(of: found, limit: limit) { recovered, image in
      let values = try Proof.values(try recovered.snapshot())
      #expect(values == [UInt8](repeating: 3, count: 200), "\(image)")
    }
  }
}
