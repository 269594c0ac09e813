import QuireSimulation
import QuireStorage
import Testing

// A network file system accepted every write, and its sync said that there was no space. The error
// was that of a full disk: nothing is in the store, try again. The commit was in the log, and after
// reopening it was in the store; a program that followed the advice had it twice.

/// A disk that takes writes, and has no space for them when they are synced.
@Suite struct `Syncs without space` {
  /// What a program does; together they make every kind of sync.
  private enum Action: CaseIterable {
    case create, commit, commitAfterOldLog, commitToFormat1, commitAgain, build, checkpoint,
      orderedCheckpoint
    case close, recover, backUp, compact, restore, destroy

    private var options: PageStoreOptions {
      var options = Proof.options
      // Images of their own, unless a log must be whole without them.
      if self != .commitAfterOldLog { options.imageByteLimit = 0 }
      if self == .orderedCheckpoint { options.durability = .ordered }
      return options
    }

    /// Makes what must be there before.
    ///
    /// - Returns: the store to be used, if one is open.
    func prepare(_ disk: SimulatedDisk) throws -> PageStore? {
      if self == .create { return nil }
      let store = try PageStore.open("store", options: options, in: disk)
      try Proof.put(store, 0..<40, 1)
      try store.checkpoint()
      try Proof.put(store, 0..<40, 2)
      switch self {
      case .commit, .commitAfterOldLog, .commitToFormat1:
        let log = disk.files["store-log"] ?? []
        try store.close()
        if self == .commitToFormat1, let old = disk.files["store"].flatMap(StoreForgery.inFormat1) {
          disk.alter { $0.put(old, at: "store") }
        }
        if self == .commitAfterOldLog { disk.alter { $0.put(log, at: "store-log") } }
        return try PageStore.open("store", options: options, in: disk)
      case .restore:
        try store.backUp(to: "copy", in: disk)
        try store.close()
        return try PageStore.open("copy", options: options, in: disk)
      case .destroy:
        try store.close()
        return nil
      // The process ends without closing it.
      case .recover: return nil
      default: return store
      }
    }

    func perform(_ store: PageStore?, _ disk: SimulatedDisk) throws {
      switch self {
      case .create, .recover: _ = try PageStore.open("store", options: options, in: disk)
      case .commit, .commitAfterOldLog, .commitToFormat1, .commitAgain:
        try store.map { try Proof.put($0, 0..<40, 3) }
      case .build: try store.map { try Proof.build($0, "large", 3) }
      case .checkpoint, .orderedCheckpoint: try store?.checkpoint()
      case .close: try store?.close()
      case .backUp: try store?.backUp(to: "backup", in: disk)
      case .compact: try store?.compact()
      case .restore: try store?.restore(to: "store", in: disk)
      case .destroy: try PageStore.destroy("store", isForced: false, in: disk)
      }
    }
  }

  /// Lets each sync of an action fail in turn.
  private func failEachSync(
    of action: Action, _ body: (PageStore?, SimulatedDisk, any Error) throws -> Void
  ) throws {
    let dry = SimulatedDisk()
    let dryStore = try action.prepare(dry)
    let count = dry.syncOperations.count
    try action.perform(dryStore, dry)
    for operation in dry.syncOperations[count...] {
      let disk = SimulatedDisk()
      let store = try action.prepare(disk)
      disk.fail(SimulatedDisk.FaultPlan(operation: operation, .noSpace, onlySyncs: true))
      do {
        try action.perform(store, disk)
        Issue.record("\(action): a failed sync of \(disk.failedSyncs) is not told")
      } catch {
        try body(store, disk, error)
      }
    }
  }

  @Test func `are never told as a disk that is full, of which nothing is in the store`() throws {
    var failed: Set<SyncReason> = []
    for action in Action.allCases {
      try failEachSync(of: action) { _, disk, error in
        failed.formUnion(disk.failedSyncs)
        let what = "\(action), \(disk.failedSyncs): \(error)"
        guard let error = error as? StorageError else {
          Issue.record("\(what)")
          return
        }
        // Images count only when they are on disk, and are written again: nothing has happened.
        guard disk.failedSyncs.allSatisfy({ ![.pageImages, .pageImagesFolder].contains($0) }) else {
          return
        }
        if case .noSpaceLeft = error { Issue.record("\(what)") }
        #expect(!"\(error)".contains("try again"), "\(what)")
        #expect("\(error)".contains("no space left on the disk"), "\(what)")
      }
    }
    #expect(failed == Set(SyncReason.allCases))
  }

  @Test func `leave open whether the commit is in the store, and say how to find out`() throws {
    for action in [Action.commit, .commitAfterOldLog, .commitAgain] {
      var unknown = 0
      try failEachSync(of: action) { store, disk, error in
        // The commit was written, and the disk forgot nothing: it is there, or the error said that
        // it is not.
        disk.heal()
        try store?.close()
        let again = try PageStore.open("store", options: Proof.options, in: disk)
        let isThere = try Proof.values(again.snapshot())[0] == 3
        if case .outcomeUnknown(let cause) = error as? StorageError {
          unknown += 1
          #expect("\(error)".contains("unknown") && "\(error)".contains("open the store again"))
          #expect("\(error)".contains("store-log"), "\(cause)")
        } else {
          #expect(!isThere, "\(error)")
        }
        try again.close()
      }
      #expect(unknown == 1, "\(action)")
    }
  }

  /// The store went on, and each checkpoint after it failed as the first one had: the file's syncs
  /// are no longer relied on, and the advice to free space was no use.
  @Test func `of pages end writing, as no later sync can prove anything`() throws {
    try failEachSync(of: .checkpoint) { store, disk, _ in
      guard disk.failedSyncs.contains(.checkpointPages) else { return }
      disk.heal()
      let store = try #require(store)
      #expect(throws: StorageError.self) { try Proof.put(store, 0..<40, 4) }
      #expect(try Proof.values(store.snapshot()) == [UInt8](repeating: 2, count: 40))
      try store.close()
      let again = try PageStore.open("store", options: Proof.options, in: disk)
      #expect(try Proof.values(again.snapshot()) == [UInt8](repeating: 2, count: 40))
      try Proof.put(again, 0..<40, 5)
      try again.close()
    }
  }
}
