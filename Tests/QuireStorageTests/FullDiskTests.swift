import QuireSimulation
import QuireStorage
import Testing

/// A disk that is full while something is done that no commit depends on: that fails, and the store
/// goes on as it was.
@Suite("Full disks")
struct FullDiskTests {
  enum Action: CaseIterable {
    case checkpoint, removeLog, compact, compactWithSnapshot, backUp

    func perform(on store: PageStore, _ disk: SimulatedDisk, attempt: Int) throws {
      switch self {
      case .checkpoint: try store.checkpoint()
      case .removeLog: try store.removeLog()
      case .compact: try store.compact()
      case .compactWithSnapshot:
        let snapshot = try store.snapshot()
        try withExtendedLifetime(snapshot) { try store.compact() }
      case .backUp: try store.backUp(to: "backup-\(attempt)", in: disk)
      }
    }
  }

  private func content(_ store: PageStore) throws -> ContentDigest {
    try ContentDigest(of: try store.snapshot())
  }

  /// A store of some pages, with changes of old pages and with new ones in its log.
  private func filledStore(
    _ disk: SimulatedDisk, imageByteLimit: Int
  ) throws -> (store: PageStore, model: StoreModel) {
    var options = Proof.options
    options.imageByteLimit = imageByteLimit
    options.checkpointByteLimit = 1 << 20
    let store = try PageStore.open("store", options: options, in: disk)
    var model = StoreModel()
    for steps: [Step] in [
      [.put(.records, keys: 0..<60, byteCount: 30, version: 1)],
      [
        .put(.records, keys: 20..<30, byteCount: 30, version: 2),
        .put(.index, keys: 0..<20, byteCount: 700, version: 2),
      ],
    ] {
      try store.write { transaction in for step in steps { try step.perform(in: transaction) } }
      for step in steps { model.apply(step) }
      if steps.count == 1 { try store.checkpoint() }
    }
    return (store, model)
  }

  /// The bytes of whole pages in a log, and whether files can reserve room.
  struct Disk {
    var imageByteLimit: Int
    var reservesRoom: Bool

    static let all = [0, 1 << 20].flatMap { limit in
      [false, true].map { Disk(imageByteLimit: limit, reservesRoom: $0) }
    }
  }

  @Test(arguments: Action.allCases, Disk.all)
  func `leave the store usable, whatever was being done`(action: Action, kind: Disk) throws {
    var failures = 0
    var room = 0
    while true {
      let disk = SimulatedDisk()
      disk.reservesRoom = kind.reservesRoom
      var (store, model) = try filledStore(disk, imageByteLimit: kind.imageByteLimit)
      let what = "\(action) with room for \(room) bytes"
      disk.limit(to: disk.state.byteCount + room)
      var isDone = false
      do {
        try action.perform(on: store, disk, attempt: 1)
        isDone = true
      } catch StorageError.noSpaceLeft {
        failures += 1
      }
      #expect(try content(store) == model.digest, "\(what)")
      #expect(!disk.files.keys.contains { $0.contains("-new") }, "\(what)")
      // What needs no more room than there is, or a disk that has room again.
      if room % Amount.of(debug: 7_168, release: 1_024) == 0 { disk.heal() }
      let next = Step.put(.records, keys: 3..<9, byteCount: 20, version: 3)
      do {
        try store.write { transaction in try next.perform(in: transaction) }
        model.apply(next)
      } catch StorageError.noSpaceLeft {
        disk.heal()
        try store.write { transaction in try next.perform(in: transaction) }
        model.apply(next)
      }
      disk.heal()
      try action.perform(on: store, disk, attempt: 2)
      #expect(try content(store) == model.digest, "\(what)")
      #expect(try store.check().isSound, "\(what)")
      try store.close()
      store = try PageStore.open("store", options: Proof.options, in: disk)
      #expect(try content(store) == model.digest, "\(what)")
      if isDone { break }
      room += Amount.of(debug: 3_584, release: 512, exhaustive: 64)
    }
    // With a reserve there is room for all that is no copy beside the store.
    #expect(kind.reservesRoom && action != .backUp ? failures == 0 : failures > 5, "\(failures)")
  }
}
