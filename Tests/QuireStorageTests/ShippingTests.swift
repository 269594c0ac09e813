import QuireSimulation
import QuireStorage
import Testing

/// Commits shipped to a folder.
@Suite struct Shipping {
  private let disk = SimulatedDisk()
  private var options: CommitShipper.Options {
    var options = CommitShipper.Options()
    options.temporaryPath = "temporary/copy"
    return options
  }

  @Test(arguments: Seeds.upTo(Amount.of(debug: 12, release: 300)))
  func `what is in the folder is what the store was`(seed: UInt64) throws {
    let run = ShippingRun(seed: seed)
    try run.play(80)
    #expect(run.counts.commits > 5)
  }

  // MARK: One store, and its folder

  private func opened(_ durability: Durability = .full, on disk: SimulatedDisk? = nil) throws
    -> PageStore
  {
    var options = Proof.options
    options.durability = durability
    return try PageStore.open(
      "store", options: options, in: OtherProcess(disk ?? self.disk, number: 1))
  }

  private func shipper(
    _ options: CommitShipper.Options? = nil, on disk: (any FileSystem)? = nil, number: UInt64 = 2,
    time: @escaping () -> Int64 = { 1_000 },
    notice: @escaping (ShippingNotice) -> Void = { _ in }
  ) -> CommitShipper {
    CommitShipper(
      of: "store", to: "folder", in: OtherProcess(disk ?? self.disk, number: number),
      options: options ?? self.options, now: time, notice: notice)
  }

  /// The commit that a restoration shows, and the first byte of its values.
  private func restored(
    _ moment: ShippedMoment = .newest, on disk: SimulatedDisk? = nil
  ) throws -> (commit: UInt64, values: Set<UInt8>) {
    let disk = disk ?? self.disk
    let path = "restored/store"
    try disk.remove(path)
    try ShippedRestoring(from: "folder", in: disk).restore(moment, to: path, durability: .none)
    let store = try PageStore.open(path, options: Proof.options, in: disk)
    defer { try? store.close() }
    let report = try store.check()
    #expect(report.isSound, "\(report)")
    let snapshot = try store.snapshot()
    return (snapshot.commitNumber.rawValue, Set(try Proof.values(snapshot)))
  }

  /// Ships a base, and then a segment for each number from 2 on.
  private func ship(through last: UInt8, _ options: CommitShipper.Options? = nil) throws {
    let (store, shipper) = (try opened(), shipper(options))
    for number in 1...last {
      try Proof.put(store, 0..<40, number)
      try shipper.ship()
    }
    try store.close()
  }

  // MARK: Moments

  @Test func `each commit is there, by its number and by its time`() throws {
    let store = try opened()
    var time: Int64 = 0
    let shipper = shipper(time: { time })
    for number: UInt8 in 1...9 {
      time = Int64(number) * 100
      try Proof.put(store, 0..<40, number)
      if number % 3 == 0 { try store.checkpoint() }
      try shipper.ship()
    }
    for number: UInt8 in 1...9 {
      let byNumber = try restored(.commit(CommitNumber(rawValue: UInt64(number))))
      #expect(byNumber.values == [number])
      #expect(byNumber.commit == UInt64(number))
      for moment in [Int64(number) * 100, Int64(number) * 100 + 99] {
        #expect(try restored(.time(moment)).values == [number])
      }
    }
    #expect(throws: StorageError.self) { try restored(.time(99)) }
    #expect(throws: StorageError.self) { try restored(.commit(CommitNumber(rawValue: 10))) }
    #expect(throws: StorageError.alreadyExists(path: "store")) {
      try ShippedRestoring(from: "folder", in: disk).restore(.newest, to: "store")
    }
    try store.close()
  }

  @Test func `what is written around the log is taken from the file`() throws {
    let (store, shipper) = (try opened(), shipper())
    try shipper.ship()
    try Proof.build(store, "records", 1)
    try shipper.ship()
    #expect(try restored().values == [1])
    try Proof.put(store, 0..<40, 1, in: "other")
    try shipper.ship()
    #expect(try restored(.commit(CommitNumber(rawValue: 1))).values == [1])
    try store.close()
  }

  @Test func `commits that were overwritten before they were read are one`() throws {
    var notices: [ShippingNotice] = []
    let store = try opened()
    let shipper = shipper(notice: { notices.append($0) })
    try Proof.put(store, 0..<40, 1)
    try shipper.ship()
    for number: UInt8 in 2...9 {
      try Proof.put(store, 0..<40, number)
      try store.checkpoint()
      try store.removeLog()
    }
    try shipper.ship()
    let (first, last) = (CommitNumber(rawValue: 1), CommitNumber(rawValue: 9))
    // The next one still was in the log that has no name any more.
    let second = CommitNumber(rawValue: 2)
    #expect(
      notices == [
        .began(generation: 1, commit: first, reason: .first), .jumped(from: second, to: last),
      ])
    #expect(try restored(.commit(second)).values == [2])
    #expect(try restored().values == [9])
    #expect(try restored(.commit(first)).values == [1])
    #expect(throws: StorageError.self) { try restored(.commit(CommitNumber(rawValue: 5))) }
    try store.close()
  }

  // MARK: Other histories

  /// A power failure takes commits that were shipped, or somebody puts an earlier copy there.
  @Test(arguments: [false, true])
  func `a store that has lost commits begins anew`(isOpenAgain: Bool) throws {
    let store = try opened(.ordered)
    for number: UInt8 in 1...5 { try Proof.put(store, 0..<40, number) }
    try store.checkpoint()
    let early = disk.files
    try shipper().ship()
    for number: UInt8 in 6...10 { try Proof.put(store, 0..<40, number) }
    try shipper().ship()
    #expect(try restored().values == [10])
    let folder = disk.files.filter { $0.key.hasPrefix("folder/") }
    let other = SimulatedDisk(
      early.filter { !$0.key.hasPrefix("folder/") }.merging(folder) { first, _ in first })
    let again = try opened(.ordered, on: other)
    // As many commits as were lost, of as many pages, with other content.
    for number: UInt8 in 106...112 { try Proof.put(again, 0..<40, number) }
    if !isOpenAgain { try again.close() }
    var notices: [ShippingNotice] = []
    try shipper(on: other, notice: { notices.append($0) }).ship()
    #expect(notices.count == 1)
    #expect(try restored(on: other).values == [112])
    // What it was is still there, by its time.
    #expect(try restored(.time(1_000), on: other).values == [5])
    #expect(try restored(.time(1_005), on: other).values == [10])
    withExtendedLifetime((store, again)) {}
  }

  @Test func `a store of its own is refused`() throws {
    try ship(through: 3)
    try disk.remove("store")
    var options = Proof.options
    options.identity = StoreIdentity(high: 7, low: 7)
    try PageStore.open("store", options: options, in: disk).close()
    #expect(throws: StorageError.self) { try shipper().ship() }
    #expect(try restored().values == [3])
  }

  @Test func `two that ship to one folder find out`() throws {
    let store = try opened()
    let (one, other) = (shipper(number: 2), shipper(number: 3))
    try Proof.put(store, 0..<40, 1)
    try one.ship()
    try other.ship()
    try Proof.put(store, 0..<40, 2)
    try one.ship()
    #expect(throws: StorageError.alreadyExists(path: "folder/00000001-00000001.segment")) {
      try other.ship()
    }
    try other.ship()
    try Proof.put(store, 0..<40, 3)
    try other.ship()
    #expect(try restored().values == [3])
    try store.close()
  }

  @Test func `what a dead process has left is removed, and nothing else`() throws {
    try ship(through: 2)
    let end = "-new-01234567-89AB-CDEF-FEDC-BA9876543210"
    let left = ["00000001-00000009.segment", "00000002-base.quire"].map { "folder/\($0)\(end)" }
    let others = ["folder/my-new-file", "folder/letter\(end)", "folder/00000007.segment"]
    for path in left + others { _ = try disk.open(path, .create) }
    try shipper().ship()
    for path in left { #expect(try disk.identifier(of: path) == nil, "\(path)") }
    for path in others { #expect(try disk.identifier(of: path) != nil, "\(path)") }
    #expect(try restored().values == [2])
  }

  // MARK: Damaged folders

  private var shipped: [String] {
    get throws { try disk.paths(beginningWith: "folder/").sorted() }
  }

  /// Restores each commit from a folder that is not as it was: right, or with an error that names
  /// one of the files that are not.
  private func probe(
    _ files: [String: [UInt8]], not changed: Set<String>, _ comment: String
  ) throws {
    let other = SimulatedDisk(files)
    var moments: [ShippedMoment] = (1...9).map { .commit(CommitNumber(rawValue: $0)) }
    moments.append(.newest)
    for moment in moments {
      do {
        let restored = try restored(moment, on: other)
        #expect(restored.values == [UInt8(restored.commit)], "\(comment)")
        if case .commit(let wanted) = moment { #expect(restored.commit == wanted.rawValue) }
      } catch StorageError.shipmentDamaged(let path, _) {
        // Of several in one, the first is named when that is missing.
        let start = path.replacing(".segment", with: "")
        #expect(changed.contains { $0.hasPrefix(start) }, "\(comment): it names \(path)")
      } catch StorageError.invalidArgument {
        // The end of it is gone without a trace.
        #expect(moment != .newest || changed.count > 1, "\(comment)")
      }
    }
  }

  @Test func `what is dropped, cut, exchanged or changed is named`() throws {
    var options = options
    options.mergeCount = 3
    try ship(through: 9, options)
    let files = disk.files.filter { $0.key.hasPrefix("folder/") }
    #expect(try shipped.count == 6)
    var generator = SeededGenerator(seed: 5)
    for path in try shipped {
      var others = files
      others[path] = nil
      try probe(others, not: [path], "dropped \(path)")
      let bytes = try #require(files[path])
      for _ in 0..<Amount.of(debug: 4, release: 40) {
        others[path] = Array(bytes.prefix(generator.below(bytes.count)))
        try probe(others, not: [path, "folder"], "cut \(path)")
        var changed = bytes
        changed[generator.below(bytes.count)] ^= UInt8(1 << generator.below(8))
        others[path] = changed
        // In the base all bytes count but the first pages, which are written anew.
        try probe(others, not: [path, "folder"], "changed \(path)")
      }
      for second in try shipped where second > path {
        others = files
        (others[path], others[second]) = (files[second], files[path])
        try probe(others, not: [path, second], "exchanged \(path) and \(second)")
      }
    }
  }

  @Test func `a base that is cut short is told, and begun anew`() throws {
    try ship(through: 3)
    let base = try disk.open("folder/00000001-base.quire", .write)
    try base.truncate(to: 1_600)
    // Not one of ours, which no number could follow.
    _ = try disk.open("folder/4294967295-base.quire", .create)
    try shipper().ship()
    #expect(try restored().values == [3])
  }

  @Test func `a base with a damaged page map is told, and begun anew`() throws {
    let store = try opened()
    // More than one map has.
    try Proof.put(store, 0..<3_000, 1)
    let shipper = shipper()
    try shipper.ship()
    try Proof.put(store, 0..<3_000, 2)
    try shipper.ship()
    let path = "folder/00000001-base.quire"
    // The second map: with pages of 512 bytes the first one speaks for 118.
    disk.alter { $0.spoil(path, at: 121 * 512 + 40) }
    var notices: [ShippingNotice] = []
    try self.shipper(notice: { notices.append($0) }).ship()
    guard case .began(2, _, .damaged(.shipmentDamaged(path, _)))? = notices.first else {
      Issue.record("\(notices)")
      return
    }
    #expect(try restored().values == [2])
  }

  @Test func `a folder that is damaged is told, and begun anew`() throws {
    try ship(through: 5)
    let path = "folder/00000001-00000003.segment"
    try disk.remove(path)
    var notices: [ShippingNotice] = []
    try shipper(notice: { notices.append($0) }).ship()
    guard
      case .began(2, CommitNumber(rawValue: 5), .damaged(.shipmentDamaged(path, _)))? =
        notices.first
    else {
      Issue.record("\(notices)")
      return
    }
    #expect(try restored().values == [5])
    #expect(try restored(.commit(CommitNumber(rawValue: 3))).values == [3])
    #expect(throws: StorageError.self) { try restored(.commit(CommitNumber(rawValue: 4))) }
  }

  // MARK: Disks that fail

  @Test(arguments: SimulatedDisk.Fault.allCases)
  func `whatever fails, the next time goes on`(fault: SimulatedDisk.Fault) throws {
    var options = options
    options.mergeCount = 2
    options.leastByteCount = 6_000
    for number: UInt8 in 2...5 {
      var operation = 1
      while try isHit(fault, at: operation, of: number, options) { operation += 1 }
      #expect(operation > 3)
    }
  }

  /// - Returns: whether there was such an operation.
  private func isHit(
    _ fault: SimulatedDisk.Fault, at operation: Int, of failing: UInt8,
    _ options: CommitShipper.Options
  ) throws -> Bool {
    let disk = SimulatedDisk()
    let (store, shipper) = (try opened(on: disk), shipper(options, on: disk))
    var hasFailed = false
    for number: UInt8 in 1...5 {
      try Proof.put(store, 0..<40, number)
      if number == failing { disk.fail(at: disk.operationCount + operation, with: fault) }
      do {
        try shipper.ship()
      } catch {
        hasFailed = true
      }
      disk.heal()
    }
    try shipper.ship()
    #expect(try restored(on: disk).values == [5])
    try store.close()
    return hasFailed
  }

  /// What has been shipped stays, whatever a power failure takes.
  @Test func `a segment is on disk when it was shipped`() throws {
    let store = try opened()
    let shipper = shipper()
    for number: UInt8 in 1...4 {
      try Proof.put(store, 0..<40, number)
      try shipper.ship()
      for files in disk.crashImages() {
        let restored = try restored(on: SimulatedDisk(files))
        #expect(restored.commit == UInt64(number))
        #expect(restored.values == [number])
      }
    }
    try store.close()
  }
}
