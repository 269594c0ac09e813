import Dispatch
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// A store keeps some room on the disk, for what must be possible when that is full.
@Suite("A reserve on the disk")
struct DiskReserveTests {
  private let disk = SimulatedDisk()
  private var options = PageStoreOptions()

  init() {
    disk.reservesRoom = true
    options.pageSize = 1024
    options.checkpointsInBackground = false
  }

  private func open() throws -> PageStore {
    try PageStore.open("store", options: options, in: disk)
  }

  private func put(_ keys: Range<Int64>, in store: PageStore, byteCount: Int = 100) throws {
    try store.write { transaction in
      let tree =
        try transaction.mutableRecordTree("a") ?? transaction.createRecordTree("a")
      for key in keys { try tree.put([UInt8](repeating: 7, count: byteCount), for: key) }
    }
  }

  private func remove(_ keys: Range<Int64>, from store: PageStore) throws {
    try store.write { transaction in
      let tree = try #require(try transaction.mutableRecordTree("a"))
      for key in keys { try tree.remove(key) }
    }
  }

  private func keys(_ store: PageStore) throws -> [Int64] {
    var cursor = try #require(try store.snapshot().recordTree("a")).cursor()
    var keys: [Int64] = []
    while try cursor.next() { keys.append(try cursor.key) }
    return keys
  }

  /// A store of 2,000 entries.
  private func fill() throws -> PageStore {
    let store = try open()
    try put(0..<2000, in: store)
    return store
  }

  /// From now on there is no room for one byte more.
  private func fillDisk() { disk.limit(to: disk.byteCount) }

  @Test func `lets a closed store be opened on a full disk, and something be removed`() throws {
    try fill().close()
    fillDisk()
    for round in 0..<4 {
      let store = try open()
      let start = Int64(round) * 100
      try remove(start..<(start + 50), from: store)
      try store.close()
    }
    let store = try open()
    let expected = (0..<2000).filter { $0 >= 400 || $0 % 100 >= 50 }.map { Int64($0) }
    #expect(try keys(store) == expected)
    #expect(try store.check().isSound)
    // What was removed has left room for as much.
    try put(0..<50, in: store)
    try store.close()
  }

  /// Once that is done the log begins anew, and has room. Random workloads cannot show it, as they
  /// have both on one thread.
  @Test func `lets a commit wait for the checkpoint that another thread writes`() throws {
    let store = try fill()
    let (began, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (isWritten, isChanged) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Mutex(true)
    disk.interpose {
      guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
      began.signal()
      mayGoOn.wait()
    }
    runOnThread {
      try store.checkpoint()
      isWritten.signal()
    }
    began.wait()
    fillDisk()
    let failure = Mutex<(any Error)?>(nil)
    runOnThread {
      do {
        // More than the log has room for by now.
        for byte in 8..<28 as Range<UInt8> {
          try store.write { transaction in
            let tree = try #require(try transaction.mutableRecordTree("a"))
            for key in 0..<2_000 as Range<Int64> {
              try tree.put([UInt8](repeating: byte, count: 100), for: key)
            }
          }
        }
      } catch {
        failure.withLock { $0 = error }
      }
      isChanged.signal()
    }
    let isDoneAtOnce = isChanged.wait(timeout: .now() + .milliseconds(300)) == .success
    #expect(!isDoneAtOnce)
    mayGoOn.signal()
    if !isDoneAtOnce { isChanged.wait() }
    isWritten.wait()
    #expect(failure.withLock { $0 } == nil)
    let tree = try #require(try store.snapshot().recordTree("a"))
    #expect(try tree.value(for: 1_999)?.array == [UInt8](repeating: 27, count: 100))
    #expect(try keys(store) == Array(0..<2_000))
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test func `lets a store be opened after a crash on a full disk, and something be removed`()
    throws
  {
    for round in 0..<4 {
      let disk = SimulatedDisk()
      disk.reservesRoom = true
      let options = options
      do {
        let store = try PageStore.open("store", options: options, in: disk)
        try put(0..<2000, in: store)
        try store.checkpoint()
        // Some pages have no whole image in the log, and some are not in the file.
        try put(1000..<Int64(2000 + 40 * round), in: store, byteCount: 90)
        disk.limit(to: disk.byteCount)
        disk.crash(after: 0)
      }
      disk.revive()
      let store = try PageStore.open("store", options: options, in: disk)
      try remove(0..<500, from: store)
      #expect(try keys(store) == (500..<Int64(2000 + 40 * round)).map { $0 })
      #expect(try store.check().isSound)
      try store.close()
    }
  }

  @Test func `leaves room for recovery when a log has taken what it may`() throws {
    try fill().close()
    fillDisk()
    do {
      let store = try open()
      var count: Int64 = 100
      #expect(throws: StorageError.noSpaceLeft(path: "store-log")) {
        while true {
          try put(0..<count, in: store)
          count += 100
        }
      }
      #expect(count > 500)
      disk.crash(after: 0)
    }
    disk.revive()
    let store = try open()
    #expect(try keys(store).count == 2000)
    try remove(0..<100, from: store)
    try store.close()
  }

  /// Whatever was done before, and however it ended.
  @Test(arguments: Seeds.upTo(Amount.of(debug: 40, release: 200, exhaustive: 4_000)))
  func `is always there`(seed: UInt64) throws {
    let disk = SimulatedDisk()
    disk.reservesRoom = true
    let run = ScenarioRun(.random(seed: seed), on: disk)
    try run.run()
    if seed % 2 == 0 { try run.perform(.commit) } else { try run.perform(.reopen) }
    disk.limit(to: disk.byteCount)
    if seed % 4 < 2 { try run.perform(.die) } else { try run.perform(.reopen) }
    for step: Step in [.remove(.records, keys: 0..<9), .remove(.index, keys: 3..<12), .reopen] {
      try run.perform(step)
    }
    try run.verify()
  }

  @Test func `is not for what makes the store larger`() throws {
    let store = try fill()
    fillDisk()
    // Up to where it was prepared for more, each commit goes on; then none does.
    var count = Int64(2000)
    var refusal: StorageError?
    while refusal == nil, count < 20_000 {
      do {
        try put(count..<(count + 20), in: store)
        count += 20
      } catch let error as StorageError {
        refusal = error
      }
    }
    #expect(refusal == .noSpaceLeft(path: "store") || refusal == .noSpaceLeft(path: "store-log"))
    #expect(try keys(store) == (0..<count).map { $0 })
    // What is refused are new pages alone.
    try put(0..<20, in: store)
    try remove(100..<200, from: store)
    try store.checkpoint()
    try put(100..<150, in: store)
    try store.close()
    // Nor does the next process have it.
    fillDisk()
    let again = try open()
    #expect(throws: StorageError.self) { try put(30_000..<31_000, in: again) }
    #expect(try keys(again).count == Int(count) - 50)
    try again.close()
    disk.heal()
    let later = try open()
    try put(30_000..<31_000, in: later)
    #expect(try later.check().isSound)
    try later.close()
  }

  @Test func `is there for new pages of a transaction that removes`() throws {
    let store = try fill()
    try store.close()
    fillDisk()
    let again = try open()
    func note(isForRemoval: Bool) throws {
      try again.write { transaction in
        transaction.isForRemoval = isForRemoval
        let notes =
          try transaction.mutableRecordTree("notes") ?? transaction.createRecordTree("notes")
        for key in 0..<20 { try notes.put([UInt8](repeating: 1, count: 200), for: Int64(key)) }
        let tree = try #require(try transaction.mutableRecordTree("a"))
        for key in 0..<3 { try tree.remove(Int64(key)) }
      }
    }
    #expect(throws: StorageError.self) { try note(isForRemoval: false) }
    try note(isForRemoval: true)
    #expect(try keys(again).count == 1997)
    try again.close()
  }

  @Test func `is kept again when there is room`() throws {
    try fill().close()
    let before = disk.byteCount
    fillDisk()
    let store = try open()
    try remove(0..<10, from: store)
    #expect(disk.byteCount <= before)
    try store.close()
    #expect(disk.files.keys.sorted() == ["store"])
    let fileByteCount = try #require(disk.files["store"]?.count)
    #expect(disk.byteCount - fileByteCount == 256 << 10)
  }

  /// Else the end that is cut off might be one that was just written.
  @Test func `is not given up while the file becomes longer`() throws {
    let file = try disk.open("file", .create)
    let reserve = DiskReserve(file, pagesByteCount: 0, limit: 1 << 20)
    try reserve.duringGrowth { () throws(StorageError) in #expect(!reserve.giveUp()) }
    #expect(reserve.giveUp())
    #expect(!reserve.giveUp())
  }

  @Test func `is not given to a log that is longer than itself`() throws {
    let reserve = DiskReserve(
      try disk.open("file", .create), pagesByteCount: 0, limit: 1 << 20)
    #expect(!reserve.giveUp(forLogOf: 2 << 20))
    #expect(reserve.giveUp(forLogOf: 100_000))
    #expect(!reserve.giveUp(forLogOf: 100_000))
    #expect(reserve.giveUp())
  }

  @Test func `is none where the limit is nothing`() throws {
    var options = options
    options.reserveByteLimit = 0
    let store = try PageStore.open("store", options: options, in: disk)
    try put(0..<2000, in: store)
    try store.close()
    #expect(disk.byteCount == disk.files["store"]?.count)
    fillDisk()
    let again = try PageStore.open("store", options: options, in: disk)
    #expect(throws: StorageError.noSpaceLeft(path: "store-log")) { try remove(0..<10, from: again) }
    try again.close()
  }
}
