import QuireSimulation
import QuireStorage
import Synchronization
import Testing

// An open store was renamed, another process made one under its name, and the first one compacted:
// the other store was gone.

/// A store whose name somebody takes away, at any moment, and gives to another store.
@Suite struct `Names taken away` {
  /// Lets the name be taken once, at one of the moments at which the disk is asked for something.
  ///
  /// Right after the name was asked for it is not taken: no system can ask and act in one step.
  private final class Taking: Sendable {
    let disk: SimulatedDisk
    let others: [String: [UInt8]]
    private struct State {
      var moment: Int
      var count = 0
      var isTaken = false
      var isBusy = false
      var wasNameAskedFor = false
      /// The other store is in use.
      var lock: (any File)?
    }
    private let state: Mutex<State>

    init(_ disk: SimulatedDisk, at moment: Int, by others: [String: [UInt8]]) {
      self.disk = disk
      self.others = others
      state = Mutex(State(moment: moment))
      disk.interpose { [unowned self] in advance(asking: nil, isOperation: true) }
      disk.interposeQueries { [unowned self] in advance(asking: $0, isOperation: false) }
    }

    var count: Int { state.withLock { $0.count } }
    var isTaken: Bool { state.withLock { $0.isTaken } }

    private func advance(asking name: String?, isOperation: Bool) {
      let isNow = state.withLock { state in
        guard !state.isBusy, !state.isTaken else { return false }
        let isWindow = isOperation && state.wasNameAskedFor
        state.wasNameAskedFor = name == "store"
        if isWindow { return false }
        state.count += 1
        guard state.count > state.moment else { return false }
        (state.isTaken, state.isBusy) = (true, true)
        return true
      }
      guard isNow else { return }
      disk.alter { disk in
        disk.move("store", to: "moved")
        for (name, bytes) in others { disk.put(bytes, at: name) }
      }
      let lock = try? disk.open("store", .write)
      _ = try? lock?.lock(.exclusive)
      state.withLock { ($0.isBusy, $0.lock) = (false, lock) }
    }

    /// - Throws: a ``Violation`` if anything of the other store is not as it was.
    func verify(_ what: String) throws {
      disk.interpose(nil)
      disk.interposeQueries(nil)
      guard isTaken else { return }
      let found = disk.files.filter { $0.key.hasPrefix("store") }
      for (name, bytes) in others where found[name] != bytes {
        throw Violation("\(what): the other store's \(name) is not as it was")
      }
      for name in found.keys where others[name] == nil {
        throw Violation("\(what): \(name) was left beside the other store")
      }
    }
  }

  private static var options: PageStoreOptions {
    var options = Proof.options
    options.imageByteLimit = 0
    return options
  }

  /// The files of another store, as a process that has it open leaves them beside each other.
  private static func others() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    var options = options
    options.identity = StoreIdentity(high: 5, low: 5)
    let store = try PageStore.open("store", options: options, in: disk)
    for byte in 1...3 as ClosedRange<UInt8> {
      try Proof.put(store, 0..<40, byte)
      try store.checkpoint()
    }
    try Proof.put(store, 0..<40, 4)
    return disk.files
  }

  /// A store that a process left open when it died.
  private static func left() throws -> DiskState {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 0..<60, 1)
    try store.checkpoint()
    try Proof.put(store, 0..<60, 2)
    return disk.state
  }

  private static func closed() throws -> DiskState {
    let disk = SimulatedDisk(try left())
    try PageStore.open("store", options: options, in: disk).close()
    return disk.state
  }

  /// Takes the name at every moment of what `body` does, or at some of them.
  private func takeAtEachMoment(
    of state: DiskState, _ what: String, step: Int = 1, _ body: (SimulatedDisk) throws -> Void
  ) throws -> Int {
    let others = try Self.others()
    var moment = 0
    while true {
      let disk = SimulatedDisk(state)
      let taking = Taking(disk, at: moment, by: others)
      do {
        try body(disk)
        if taking.isTaken { try verifyMoved(disk) }
      } catch is StorageError {
        guard taking.isTaken else { throw Violation("\(what): an error for no reason") }
      }
      try taking.verify("\(what), moment \(moment)")
      guard taking.isTaken else { return moment }
      moment += step
    }
  }

  /// The store that was moved away is whole, where it is.
  private func verifyMoved(_ disk: SimulatedDisk) throws {
    guard disk.files["moved"] != nil else { return }
    let store = try PageStore.open("moved", options: Self.options, in: disk)
    guard try store.check().isSound else { throw Violation("the store is not sound any more") }
    try store.close()
  }

  @Test func `an open store leaves alone what has its name now`() throws {
    let step = Amount.of(debug: 3, release: 1)
    let count = try takeAtEachMoment(of: Self.left(), "an open store", step: step) { disk in
      let store = try PageStore.open("store", options: Self.options, in: disk)
      // Each goes on after the others were refused.
      let steps: [() throws -> Void] = [
        { try Proof.put(store, 0..<60, 3) },
        { try store.checkpoint() },
        { try Proof.put(store, 0..<60, 4) },
        { try store.checkpoint() },
        { try store.removeLog() },
        { try Proof.put(store, 0..<60, 5) },
        { try store.compact() },
        { try Proof.put(store, 0..<60, 6) },
        { try store.backUp(to: "backup", in: disk) },
        { try store.compact() },
        { try Proof.put(store, 0..<60, 7) },
      ]
      for step in steps { do { try step() } catch is StorageError {} }
      do { try store.close() } catch is StorageError {}
    }
    #expect(count > 60)
  }

  @Test func `a copy is not put in the place of a store that came meanwhile`() throws {
    let copy = PageStore.inMemory(pageSize: 512, identity: Self.options.identity)
    try Proof.put(copy, 0..<60, 9)
    let bodies: [(String, (SimulatedDisk) throws -> Void)] = [
      ("replacing", { try copy.replace("store", in: $0) }),
      ("restoring", { try copy.restore(to: "store", in: $0) }),
      ("backing up again", { try copy.backUp(replacing: "store", in: $0) }),
      ("destroying", { try PageStore.destroy("store", isForced: true, in: $0) }),
      ("removing", { try PageStore.remove("store", in: $0) }),
    ]
    for (what, body) in bodies {
      #expect(try takeAtEachMoment(of: Self.closed(), what, body) > 3)
      #expect(try takeAtEachMoment(of: Self.left(), what, body) > 3)
    }
  }

  @Test func `a copy is not put where a store came meanwhile`() throws {
    let copy = PageStore.inMemory(pageSize: 512, identity: Self.options.identity)
    try Proof.put(copy, 0..<60, 9)
    for (what, body) in [
      ("backing up", { try copy.backUp(to: "store", in: $0) }),
      ("replacing", { try copy.replace("store", in: $0) }),
      ("making", { _ = try PageStore.open("store", options: Self.options, in: $0) }),
    ] as [(String, (SimulatedDisk) throws -> Void)] {
      _ = try takeAtEachMoment(of: SimulatedDisk().state, what, body)
    }
  }
}
