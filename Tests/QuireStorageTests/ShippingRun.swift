import QuireSimulation
import QuireStorage

/// A process that writes a store, another that ships it, and the folder. While one of them is at
/// work the other acts between any two of its reads or changes; each dies now and then.
///
/// What is asserted: the last commit in the folder restores to what the store showed when it was
/// shipped; and every other one to what it was, or there is none of that number.
///
/// `@unchecked Sendable`: all of it happens on one thread.
final class ShippingRun: @unchecked Sendable {
  typealias Content = [Int64: [UInt8]]

  let disk = SimulatedDisk()
  private var writer: OtherProcess
  private var shipping: OtherProcess
  private var processCount: UInt64 = 2
  private var store: PageStore?
  private var shipper: CommitShipper?
  private var generator: SeededGenerator
  private let options: PageStoreOptions
  /// What each commit has shown, as the store has it now.
  private var history: [UInt64: Content] = [0: [:]]
  private var newest: Content = [:]
  /// The commit in whose middle the writer has died, or which is being made.
  private var next: Content?
  private var isBetween = false
  /// How often that was in this action: else what one reads would never end.
  private var betweenCount = 0
  private var isShipping = false
  private var failure: (any Error)?
  private var time: Int64 = 1_000
  /// When each commit was shipped.
  private var times: [(commit: UInt64, time: Int64)] = []
  private(set) var notices: [ShippingNotice] = []
  private(set) var counts = (commits: 0, shipped: 0, deaths: 0, restored: 0, absent: 0)

  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    var options = PageStoreOptions()
    options.checkpointsInBackground = false
    options.pageSize = 512
    options.identity = StoreIdentity(high: 2, low: seed)
    options.durability = [.full, .full, .ordered, .none][Int(seed % 4)]
    options.cacheByteLimit = 16 << 10
    options.checkpointByteLimit = [8, 16, 64][Int(seed % 3)] << 10
    options.imageByteLimit = 4 << 10
    options.transactionByteLimit = seed % 5 == 0 ? 12 << 10 : 1 << 20
    options.reserveByteLimit = 0
    self.options = options
    writer = OtherProcess(disk, number: 1)
    shipping = OtherProcess(disk, number: 2)
    hook()
  }

  private func hook() {
    writer.beforeEachChange { [unowned self] in between(isShipping: false) }
    shipping.beforeEachRead { [unowned self] in between(isShipping: true) }
    shipping.beforeEachChange { [unowned self] in between(isShipping: true) }
  }

  func play(_ count: Int) throws {
    defer {
      for process in [writer, shipping] {
        process.beforeEachRead(nil)
        process.beforeEachChange(nil)
      }
    }
    try open()
    for _ in 0..<count {
      try act()
      if let failure { throw failure }
    }
    writer.die(after: .max / 2)
    shipping.die(after: .max / 2)
    try open()
    try look()
    try write()
    try ship()
    for commit in history.keys.sorted() { try restore(commit) }
  }

  private func note(_ text: @autoclosure () -> String) {
    if environmentValue("QUIRE_TALK") != nil { print(text()) }
  }

  // MARK: Acting

  private func act() throws {
    let action = generator.below(100)
    betweenCount = 0
    note("action \(action)")
    if generator.below(12) == 0 { writer.die(after: generator.below(14)) }
    if generator.below(12) == 0 { shipping.die(after: generator.below(14)) }
    isShipping = action >= 62
    do {
      switch action {
      case ..<46: try write()
      case ..<50: try store?.checkpoint()
      case ..<53: try store?.removeLog()
      case ..<55: try compact()
      case ..<58: try close()
      case ..<60: try build()
      case ..<62: time += Int64(generator.below(1_000))
      case ..<90: try ship()
      case ..<93: shipper = nil
      default: try restore(UInt64(generator.below(Int(history.keys.max() ?? 0) + 2)))
      }
    } catch {
      note("  \(error)")
      guard writer.isDead || shipping.isDead else { throw error }
    }
    isShipping = false
    if writer.isDead {
      counts.deaths += 1
      processCount += 1
      writer = OtherProcess(disk, number: processCount)
      store = nil
      hook()
      try open()
      try look()
    }
    if shipping.isDead {
      counts.deaths += 1
      processCount += 1
      shipping = OtherProcess(disk, number: processCount)
      shipper = nil
      hook()
    }
    if store == nil { try open() }
  }

  private func between(isShipping: Bool) {
    guard !isBetween, failure == nil, isShipping == self.isShipping, betweenCount < 12,
      generator.below(9) == 0
    else { return }
    isBetween = true
    betweenCount += 1
    defer { isBetween = false }
    do {
      if isShipping {
        guard !writer.isDead, store != nil else { return }
        switch generator.below(8) {
        case 0: try store?.checkpoint()
        case 1: try store?.removeLog()
        default: try write()
        }
      } else {
        guard !shipping.isDead, let shipper else { return }
        try shipper.collect()
        if generator.below(3) == 0 { try shipper.publish() }
      }
    } catch StorageError.snapshotTooOld {
    } catch {
      if !(isShipping ? writer : shipping).isDead { failure = error }
    }
  }

  private func open() throws {
    guard store == nil else { return }
    isBetween = true
    defer { isBetween = false }
    store = try PageStore.open("store", options: options, in: writer)
  }

  private func close() throws {
    try store?.close()
    store = nil
  }

  private func content(of reader: some TreeReader) throws -> Content {
    var content: Content = [:]
    guard var cursor = try reader.recordTree("t")?.cursor() else { return content }
    while try cursor.next() { content[try cursor.key] = [UInt8](try cursor.valueBytes) }
    return content
  }

  /// Which of the two a death has left.
  private func look() throws {
    guard let snapshot = try store?.snapshot() else { return }
    let shown = try content(of: snapshot)
    guard shown == newest || shown == next else {
      throw Violation(description: "the writer has lost commits, or has others")
    }
    newest = shown
    next = nil
    let commit = snapshot.commitNumber.rawValue
    history = history.filter { $0.key <= commit }
    history[commit] = shown
  }

  // MARK: Writing

  private func write() throws {
    guard let transaction = try store?.beginWrite() else { return }
    defer { transaction.abort() }
    var changed = newest
    let tree = try transaction.mutableRecordTree("t") ?? transaction.createRecordTree("t")
    let isLarge = generator.below(12) == 0
    for _ in 0...generator.below(isLarge ? 90 : 8) {
      let key = Int64(generator.below(200))
      if generator.below(3) == 0 {
        if changed.removeValue(forKey: key) != nil { _ = try tree.remove(key) }
      } else {
        let bytes = generator.bytes(generator.below(isLarge ? 4_000 : 120))
        changed[key] = bytes
        try tree.put(bytes, for: key)
      }
    }
    guard generator.below(8) > 0 else { return }
    try commit(transaction, changed)
  }

  /// A tree of many pages, which are written around the log.
  private func build() throws {
    guard let transaction = try store?.beginWrite() else { return }
    defer { transaction.abort() }
    var built: Content = [:]
    _ = try? transaction.dropTree("t")
    try transaction.buildRecordTree("t") { builder in
      for key in 0..<Int64(generator.below(200)) {
        let bytes = generator.bytes(generator.below(400))
        built[key] = bytes
        try builder.append(bytes, for: key)
      }
    }
    try commit(transaction, built)
  }

  private func commit(_ transaction: WriteTransaction, _ content: Content) throws {
    next = content
    let number = transaction.commitNumber.rawValue
    // It may be shown before it returns.
    history[number] = content
    try transaction.commit()
    if writer.isDead { return }
    newest = content
    next = nil
    counts.commits += 1
    note("  commit \(number)\(isBetween ? " between" : "")")
  }

  private func compact() throws {
    try store?.compact()
    guard let snapshot = try store?.snapshot() else { return }
    history[snapshot.commitNumber.rawValue] = newest
  }

  // MARK: Shipping

  private func ship() throws {
    if shipper == nil {
      var options = CommitShipper.Options()
      options.leastByteCount = generator.below(3) == 0 ? 10_000 : 1 << 20
      options.mergeCount = 2 + generator.below(6)
      options.retention = generator.below(3) == 0 ? 2_000 : nil
      options.baseInterval = 5_000
      options.temporaryPath = "temporary/copy"
      shipper = CommitShipper(
        of: "store", to: "folder", in: shipping, options: options,
        now: { [unowned self] in time },
        notice: { [unowned self] notice in
          note("  \(notice)")
          notices.append(notice)
        })
    }
    time += 10
    do {
      let shipped = try shipper?.ship()
      guard let shipped else { return }
      counts.shipped += 1
      note("  shipped \(shipped.commit)")
      times.append((shipped.commit.rawValue, time))
    } catch StorageError.snapshotTooOld {
      return
    }
    isBetween = true
    defer { isBetween = false }
    // Again, with nobody at work: all is there.
    guard let shipped = try shipper?.ship(), let store else { return }
    let snapshot = try store.snapshot()
    let restored = try restored(.newest)
    guard restored.commit == shipped.commit.rawValue else {
      throw Violation(
        description: "shipped \(shipped.commit), the folder has \(restored.commit)")
    }
    guard snapshot.commitNumber == shipped.commit, restored.content == newest else {
      throw Violation(
        description: "the store shows \(snapshot.commitNumber), the folder \(restored.commit), "
          + (restored.content == newest ? "with the same content" : "with another content"))
    }
    history[restored.commit] = newest
  }

  private func restored(_ moment: ShippedMoment) throws -> (commit: UInt64, content: Content) {
    let path = "restored/store"
    try disk.remove(path)
    defer { try? disk.remove(path) }
    let shown = try ShippedRestoring(from: "folder", in: disk)
      .restore(moment, to: path, durability: .none)
    var options = PageStoreOptions()
    options.isReadOnly = true
    let store = try PageStore.open(path, options: options, in: disk)
    defer { try? store.close() }
    guard try store.check().isSound else { throw Violation(description: "restored unsound") }
    let snapshot = try store.snapshot()
    guard snapshot.commitNumber == shown.commit else {
      throw Violation(
        description: "restored to \(shown.commit), it shows \(snapshot.commitNumber)")
    }
    return (shown.commit.rawValue, try content(of: snapshot))
  }

  private func restore(_ commit: UInt64) throws {
    do {
      let restored = try restored(.commit(CommitNumber(rawValue: commit)))
      guard restored.commit == commit else {
        throw Violation(description: "asked for commit \(commit), got \(restored.commit)")
      }
      // One that the store has not shown is of a process that died.
      if let content = history[commit], content != restored.content {
        throw Violation(description: "commit \(commit) is restored to something else")
      }
      counts.restored += 1
    } catch StorageError.invalidArgument {
      counts.absent += 1
    }
  }
}
