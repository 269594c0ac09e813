import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// The protocol between processes, small and exhaustive: writers and readers of a few pages, on the
/// engine's own code, in all orders with few switches from one to another (``Interleaving``).
///
/// One thing is asserted: whatever is shown is one commit; it had begun, no later one had returned
/// before, and it is there in the end.
@Suite struct `The protocol of processes` {
  /// A store with one number, in each of its values: each commit makes it one more.
  private final class World: Sendable {
    let disk = SimulatedDisk()
    private struct State {
      /// The highest numbers of a commit that has begun, has returned, and was shown.
      var (begun, returned, shown) = (0, 0, 0)
      var problem: String?
      var refusals = 0
      var looks = 0
    }
    private let state = Mutex(State())
    let durability: Durability
    let isShared: Bool

    init(_ durability: Durability, isShared: Bool) throws {
      self.durability = durability
      self.isShared = isShared
      let store = try PageStore.open("store", options: options, in: process(99))
      try commit(to: store)
      try store.close()
    }

    func process(_ number: UInt64) -> OtherProcess { OtherProcess(disk, number: number) }

    var options: PageStoreOptions {
      var options = PageStoreOptions()
      options.pageSize = 512
      options.identity = StoreIdentity(high: 3, low: 3)
      options.durability = durability
      options.isShared = isShared
      options.turnWaitLimit = .zero
      options.turnKeepInterval = .zero
      options.checkpointsInBackground = false
      options.cacheByteLimit = 0
      options.imageByteLimit = 1024
      options.reserveByteLimit = 0
      return options
    }

    private func note(_ problem: String) {
      state.withLock { if $0.problem == nil { $0.problem = problem } }
    }

    /// Runs what a process does, which may be told to come again or to die.
    func member(
      _ number: UInt64, dyingAfter end: Int? = nil,
      _ body: @escaping @Sendable (World, OtherProcess) throws -> Void
    ) -> Interleaving.Member {
      let process = process(number)
      if let end { process.die(after: end) }
      return Interleaving.Member(process) { [self] in
        do {
          try body(self, process)
        } catch StorageError.locked {
          state.withLock { $0.refusals += 1 }
        } catch StorageError.snapshotTooOld {
          state.withLock { $0.refusals += 1 }
        } catch {
          if !process.isDead { note("process \(number): \(error)") }
        }
      }
    }

    // MARK: What processes do

    private static let keys: Range<Int64> = 0..<12

    /// - Returns: the number in all values; 0 of a store without any.
    private func number(in reader: some TreeReader) throws -> Int {
      guard var cursor = try reader.recordTree("t")?.cursor() else { return 0 }
      var numbers: Set<UInt8> = []
      var count = 0
      while try cursor.next() {
        numbers.formUnion(try cursor.valueBytes)
        count += 1
      }
      guard numbers.count == 1, let number = numbers.first, count == World.keys.count else {
        note("mixed: \(count) values of \(numbers.sorted())")
        return 0
      }
      return Int(number)
    }

    /// - Parameter isLarge: whether a value is written around the log.
    func commit(
      to store: PageStore, by process: OtherProcess? = nil, isLarge: Bool = false
    ) throws {
      let transaction = try store.beginWrite()
      defer { transaction.abort() }
      let base = try number(in: transaction)
      state.withLock { state in
        if base < max(state.returned, state.shown), state.problem == nil {
          state.problem =
            "a turn begins with \(base), after \(state.returned) had returned and "
            + "\(state.shown) was shown"
        }
        state.begun = max(state.begun, base + 1)
      }
      let tree = try transaction.mutableRecordTree("t") ?? transaction.createRecordTree("t")
      for key in World.keys {
        let count = isLarge && key == 3 ? 3_000 : 60
        try tree.put([UInt8](repeating: UInt8(base + 1), count: count), for: key)
      }
      try transaction.commit()
      // It died before it could tell anybody, in something whose failure does not matter.
      if process?.isDead == true { return }
      state.withLock { $0.returned = max($0.returned, base + 1) }
    }

    /// Looks at the newest commit, and then once more at the same one.
    func look(at store: PageStore) throws {
      let least = state.withLock { max($0.returned, $0.shown) }
      let snapshot = try store.snapshot()
      for _ in 0..<2 {
        let number = try number(in: snapshot)
        state.withLock { state in
          state.looks += 1
          if state.problem == nil, number < least || number > state.begun {
            state.problem =
              "shown is \(number), at least \(least) and at most \(state.begun) may be; "
              + "\(state.returned) has returned, \(state.shown) was shown"
          }
          state.shown = max(state.shown, number)
        }
      }
    }

    func opened(_ process: OtherProcess, isReadOnly: Bool = false) throws -> PageStore {
      var options = options
      options.isReadOnly = isReadOnly
      return try PageStore.open("store", options: options, in: process)
    }

    // MARK: The end

    /// Looks at what is left, as whoever comes next.
    func finish() throws {
      if let problem = state.withLock({ $0.problem }) { throw Violation(problem) }
      let store = try opened(process(98))
      try look(at: store)
      try commit(to: store)
      guard try store.check().isSound else { throw Violation("it is not sound") }
      try store.close()
      if let problem = state.withLock({ $0.problem }) { throw Violation("in the end, \(problem)") }
    }

    var lookCount: Int { state.withLock { $0.looks } }
  }

  /// How many switches there are at most: of the orders with so many, one in some is tried unless
  /// all are asked for.
  private static let switches = 2
  private static let stride = Amount.of(debug: 160, release: 40, exhaustive: 1)

  @discardableResult
  private func explore(
    _ durability: Durability, isShared: Bool = false, stride: Int = Self.stride,
    death: Int? = nil, _ members: @escaping (World) -> [Interleaving.Member]
  ) throws -> Int {
    var lookCount = 0
    let count = try Interleaving.explore(switches: Self.switches, stride: stride) { switches in
      if environmentValue("QUIRE_TALK") != nil { print(death ?? -1, switches) }
      let world = try World(durability, isShared: isShared)
      let trace = Interleaving.play(members(world), switches)
      try world.finish()
      lookCount += world.lookCount
      return trace
    }
    #expect(lookCount > count && count > 2)
    return count
  }

  @Test(arguments: [Durability.full, .ordered])
  func `a writer with checkpoints and values around the log, beside a reader`(
    durability: Durability
  ) throws {
    try explore(durability) { world in
      [
        world.member(1) { world, process in
          let store = try world.opened(process)
          try world.commit(to: store)
          try world.commit(to: store, isLarge: true)
          try store.checkpoint()
          try world.commit(to: store)
          try store.removeLog()
          try world.commit(to: store)
          try store.close()
        },
        world.member(2) { world, process in
          let store = try world.opened(process, isReadOnly: true)
          for _ in 0..<3 { try world.look(at: store) }
        },
      ]
    }
  }

  @Test func `a writer beside two readers`() throws {
    try explore(.full) { world in
      [
        world.member(1) { world, process in
          let store = try world.opened(process)
          for _ in 0..<2 {
            try world.commit(to: store)
            try store.checkpoint()
          }
        }
      ]
        + [2, 3].map {
          world.member($0) { world, process in
            let store = try world.opened(process, isReadOnly: true)
            for _ in 0..<2 { try world.look(at: store) }
          }
        }
    }
  }

  @Test(arguments: [Durability.full, .ordered])
  func `two writers in turn beside a reader`(durability: Durability) throws {
    try explore(durability, isShared: true) { world in
      [1, 2].map {
        world.member($0) { world, process in
          let store = try world.opened(process)
          for _ in 0..<2 {
            try world.commit(to: store)
            try world.look(at: store)
          }
          try store.checkpoint()
          try store.close()
        }
      } + [
        world.member(3) { world, process in
          let store = try world.opened(process, isReadOnly: true)
          for _ in 0..<2 { try world.look(at: store) }
        }
      ]
    }
  }

  /// The death is at each change in turn; switches are fewer.
  @Test(arguments: [false, true])
  func `a writer that dies anywhere, and one that comes after it, beside a reader`(
    isShared: Bool
  ) throws {
    for end in Amount.some(of: Array(0..<28), oneIn: 9, at: 0) {
      try explore(.full, isShared: isShared, stride: 2 * Self.stride, death: end) { world in
        [
          world.member(1, dyingAfter: end) { world, process in
            let store = try world.opened(process)
            try world.commit(to: store, by: process)
            try store.checkpoint()
            try world.commit(to: store, by: process)
            try store.close()
          },
          world.member(2) { world, process in
            let store = try world.opened(process)
            try world.commit(to: store)
            try store.close()
          },
          world.member(3) { world, process in
            let store = try world.opened(process, isReadOnly: true)
            for _ in 0..<2 { try world.look(at: store) }
          },
        ]
      }
    }
  }
}
