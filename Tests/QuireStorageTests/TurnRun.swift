import QuireSimulation
import QuireStorage

/// Processes that write one store in turn, look at it, close it, and die. While one of them writes,
/// the others act between any two of its changes to the disk, and while one reads, between any two
/// of its reads.
///
/// One thing is asserted: what is shown is the newest commit, or the one that is being made; and
/// what was shown, or has returned, is there from then on.
///
/// `@unchecked Sendable`: all of it happens on one thread.
final class TurnRun: @unchecked Sendable {
  typealias Content = [Int64: [UInt8]]

  private final class Member {
    let disk: OtherProcess
    var store: PageStore?
    /// What snapshots showed that are still held.
    var held: [(snapshot: Snapshot, content: Content)] = []
    let number: UInt64

    init(_ disk: OtherProcess, _ number: UInt64) {
      self.disk = disk
      self.number = number
    }
  }

  private let disk = SimulatedDisk()
  private var members: [Member] = []
  private var memberCount: UInt64 = 0
  private var generator: SeededGenerator
  private let options: PageStoreOptions
  /// The states of the store so far; the last one is the newest.
  private var states: [Content] = [[:]]
  private var newest: Content {
    get { states[states.count - 1] }
    set { if newValue != newest { states.append(newValue) } }
  }
  /// The commit that is being made, or in whose middle a process has died.
  private var next: Content?
  /// The number of the process that makes it.
  private var maker: UInt64?
  /// The process that acts.
  private var actor: Member?
  private var isBetween = false
  private var failure: (any Error)?
  private(set) var counts = (commits: 0, refused: 0, deaths: 0, looks: 0, late: 0)

  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    var options = PageStoreOptions()
    options.isShared = true
    options.turnWaitLimit = .zero
    options.turnKeepInterval = .zero
    options.checkpointsInBackground = false
    options.pageSize = 512
    options.identity = StoreIdentity(high: 1, low: seed)
    options.durability = [.full, .full, .ordered][Int(seed % 3)]
    options.cacheByteLimit = seed % 2 == 0 ? 0 : 64 << 10
    options.checkpointByteLimit = 16 << 10
    options.imageByteLimit = 4 << 10
    options.transactionByteLimit = seed % 5 == 0 ? 12 << 10 : 1 << 20
    options.reserveByteLimit = 0
    self.options = options
    for _ in 0..<3 { addMember() }
  }

  private func addMember() {
    memberCount += 1
    let member = Member(OtherProcess(disk, number: memberCount), memberCount)
    let number = memberCount
    member.disk.beforeEachChange { [unowned self] in between(number) }
    member.disk.beforeEachRead { [unowned self] in between(number) }
    members.append(member)
  }

  func play(_ count: Int) throws {
    defer {
      for member in members {
        member.disk.beforeEachRead(nil)
        member.disk.beforeEachChange(nil)
      }
    }
    for _ in 0..<count {
      try act(members[generator.below(members.count)])
      if let failure { throw failure }
    }
    // At rest, everything can be read and written, and is sound.
    for member in members {
      member.disk.beforeEachRead(nil)
      member.disk.beforeEachChange(nil)
      member.disk.die(after: .max / 2)
    }
    for member in members {
      try open(member)
      try write(member)
      try look(member)
      if let report = try member.store?.check(), !report.isSound {
        throw Violation(description: "to a process it is not sound: \(report)")
      }
    }
    for member in members {
      member.held = []
      try member.store?.close()
    }
    let names = try disk.paths(beginningWith: "")
    guard names == ["store"] else { throw Violation(description: "closed, there is \(names)") }
  }

  private func note(_ text: @autoclosure () -> String) {
    if environmentValue("QUIRE_TALK") != nil { print(text()) }
  }

  // MARK: Acting

  private func act(_ member: Member) throws {
    actor = member
    defer { actor = nil }
    note("process \(member.number)")
    if generator.below(9) == 0 { member.disk.die(after: generator.below(14)) }
    do {
      try open(member)
      let action = generator.below(100)
      note("  action \(action)")
      switch action {
      case ..<62: try write(member)
      case ..<70: try member.store?.checkpoint()
      case ..<74: try member.store?.removeLog()
      case ..<77: try member.store?.compact()
      case ..<82:
        member.held = []
        try member.store?.close()
        member.store = nil
      default: try look(member)
      }
    } catch {
      note("  \(error)")
      guard member.disk.isDead else { throw error }
    }
    for member in members where member.disk.isDead { bury(member) }
  }

  private func bury(_ member: Member) {
    counts.deaths += 1
    member.held = []
    member.store = nil
    members.removeAll { $0 === member }
    addMember()
  }

  /// Another process acts in the middle of what one does.
  private func between(_ number: UInt64) {
    guard !isBetween, failure == nil, number == actor?.number, generator.below(7) == 0,
      let other = members.randomElement(using: &generator), other !== actor, other.store != nil,
      !other.disk.isDead
    else { return }
    isBetween = true
    defer { isBetween = false }
    do {
      if generator.below(3) == 0 { try write(other) } else { try look(other) }
    } catch {
      // It is buried later: this one may be opening or closing the store.
      if !other.disk.isDead { failure = error }
    }
  }

  private func open(_ member: Member) throws {
    guard member.store == nil else { return }
    member.store = try PageStore.open("store", options: options, in: member.disk)
  }

  // MARK: Looking

  private func content(of reader: some TreeReader) throws -> Content {
    var content: Content = [:]
    guard var cursor = try reader.recordTree("t")?.cursor() else { return content }
    while try cursor.next() { content[try cursor.key] = [UInt8](try cursor.valueBytes) }
    return content
  }

  private func look(_ member: Member) throws {
    guard let store = member.store else { return }
    do {
      let first = states.count - 1
      let snapshot = try store.snapshot()
      let shown = try content(of: snapshot)
      counts.looks += 1
      note("  \(member.number) is shown \(snapshot.commitNumber) \(isBetween ? "between" : "")")
      if shown == next {
        // That of a process which has died may be shown by one and not by another, until the next
        // one has its turn.
        if maker == actor?.number {
          newest = shown
          next = nil
        }
      } else if !states[first...].contains(shown) {
        throw Violation(
          description: "shown is \(brief(shown)); newest is \(brief(newest)), "
            + "next \(next.map(brief) ?? "none"), it was shown before as "
            + "\(states.lastIndex(of: shown).map { "state \($0) of \(states.count)" } ?? "nothing")"
        )
      }
      for (snapshot, content) in member.held {
        do {
          guard try self.content(of: snapshot) == content else {
            throw Violation(description: "a snapshot shows something else than before")
          }
        } catch StorageError.snapshotTooOld {
          counts.late += 1
        } catch StorageError.snapshotExpired {}
      }
      if generator.below(2) == 0 { member.held.append((snapshot, shown)) }
      if member.held.count > 3 { member.held.removeFirst() }
    } catch StorageError.snapshotTooOld {
      counts.late += 1
    }
  }

  private func brief(_ content: Content) -> String {
    "\(content.count) rows #\(UInt16(truncatingIfNeeded: content.hashValue))"
  }

  // MARK: Writing

  private func write(_ member: Member) throws {
    do {
      guard let transaction = try member.store?.beginWrite() else { return }
      defer { transaction.abort() }
      try write(transaction, member)
    } catch StorageError.locked(let owner) {
      guard isBetween else { throw StorageError.locked(owner) }
      counts.refused += 1
    }
  }

  private func write(_ transaction: WriteTransaction, _ member: Member) throws {
    let base = try content(of: transaction)
    if base == next {
      newest = base
    } else if base != newest {
      throw Violation(
        description: "a turn begins with \(brief(base)); newest is \(brief(newest)), "
          + "next \(next.map(brief) ?? "none")")
    }
    next = nil
    var changed = base
    let tree = try transaction.mutableRecordTree("t") ?? transaction.createRecordTree("t")
    let isLarge = generator.below(12) == 0
    for _ in 0...generator.below(isLarge ? 90 : 8) {
      let key = Int64(generator.below(200))
      if generator.below(3) == 0 {
        if changed.removeValue(forKey: key) != nil { _ = try tree.remove(key) }
      } else {
        let bytes = generator.bytes(generator.below(isLarge ? 900 : 120))
        changed[key] = bytes
        try tree.put(bytes, for: key)
      }
    }
    guard generator.below(8) > 0 else { return }
    next = changed
    maker = member.number
    try transaction.commit()
    // Died before it could tell anybody, in something whose failure does not matter.
    if member.disk.isDead { return }
    newest = changed
    next = nil
    counts.commits += 1
    note("  commit \(transaction.commitNumber) \(isBetween ? "between" : "")")
  }
}
